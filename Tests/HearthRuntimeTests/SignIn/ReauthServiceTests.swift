import HearthCore
import HearthRuntime
import Logging
import TestSupport
import Testing

/// `on_reauth = "browser"`.
@Suite("Signing in again", .timeLimit(.minutes(1)))
struct ReauthServiceTests {
  private let clock = ManualClock()
  private let store = MemoryCredentialStore(.nothing)
  private let tokens = ScriptedTokenEndpoint()
  private let provider = ScriptedSignInEndpoint()
  private let redirects = ScriptedRedirects()
  private let pages = ScriptedPageOpener()
  private let sessions = SessionDirectory()
  private let signIns: SignInService
  private let reauth: ReauthService
  /// Ends when nobody is being prompted any more.
  private let over: AsyncStream<Never>
  private let prompted: AsyncStream<Never>.Continuation
  private let entry: SessionDirectory.Entry

  init() {
    let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
    (over, prompted) = AsyncStream.makeStream()
    signIns = SignInService(redirects: redirects)
    let reauth = ReauthService(sessions: sessions, signIns: signIns, pages: pages, logger: logger)
    self.reauth = reauth
    let service = SessionService(
      account: .sample, settings: SessionSettings(reauthPrompt: .browser), store: store, endpoint: tokens, clock: clock,
      logger: logger, seed: 1,
      publish: { if $0.contains(where: \.isEndOfUse) { reauth.sessionEnded($1.account) } })
    entry = SessionDirectory.Entry(service: service, signIn: provider)
  }

  /// Runs session, sign-ins and prompts meanwhile, from a session in use on.
  private func running(_ body: () async throws -> Void) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { [sessions] in await sessions.run() }
      group.addTask { [signIns] in await signIns.run() }
      group.addTask { [reauth, prompted] in
        await reauth.run()
        prompted.finish()
      }
      await sessions.add(entry)
      _ = await entry.service.call(.awaitReading)
      try await entry.service.adopt(.sample(1, issuedAt: clock.now()), isTried: true)
      try await body()
      reauth.stop()
      await signIns.stop()
      await sessions.stop(timeout: .zero)
    }
  }

  /// The provider rejects the refresh token.
  private func end() async {
    tokens.answer(.failed(.rejected(.refreshToken, message: "invalid_grant")))
    _ = await entry.service.call(.refresh)
  }

  @Test("a session that ends opens the browser once, and the sign-in that it shows works")
  func opens() async throws {
    try await running {
      await end()
      #expect(await pages.nextPage() == "https://id.example.com/authorize")
      #expect(await entry.service.snapshot().signIn?.flow == .browser)
      provider.answer(.success(.sample(8)))
      let page = await redirects.addresses[0].get(
        "/callback?code=x&state=\(ScriptedSignInEndpoint.state.reveal())")
      #expect(page.html.contains("You are signed in"))
      #expect(await entry.service.snapshot().state == .authenticated)
    }
    #expect(pages.count == 1)
  }

  @Test("a person who lets it be is not asked again for the same end")
  func once() async throws {
    try await running {
      await end()
      _ = await pages.nextPage()
      // Another sign-in ends the one in the browser.
      _ = await signIns.cancel(try await signIns.begin(.device, of: entry, replacing: false).id)
      #expect(await entry.service.snapshot().signIn == nil)
      _ = await entry.service.call(.refresh)
      _ = await entry.service.call(.token(minValidity: nil))
    }
    #expect(pages.count == 1 && redirects.addresses.count == 1)
  }

  @Test("what counts is what is configured when the session ends", arguments: [ReauthPrompt.none, .browser])
  func configured(_ prompt: ReauthPrompt) async throws {
    try await running {
      for prompt in [ReauthPrompt.browser, .none, prompt] {
        await entry.service.configured(SessionSettings(reauthPrompt: prompt))
      }
      await end()
      if prompt == .browser { _ = await pages.nextPage() }
      reauth.stop()
      for await _ in over {}
    }
    #expect(pages.count == (prompt == .browser ? 1 : 0))
  }

  @Test("without a display no sign-in begins")
  func noDisplay() async throws {
    pages.set(hasDisplay: false, opens: true)
    try await running {
      await end()
      await pages.nextQuestion()
    }
    #expect(pages.count == 0 && redirects.addresses.isEmpty)
  }

  @Test("a page that cannot be opened gives its sign-in up")
  func notOpened() async throws {
    pages.set(hasDisplay: true, opens: false)
    try await running {
      await end()
      _ = await pages.nextPage()
      // It is listened for until the sign-in is over.
      for await _ in redirects.addresses[0].requests {}
    }
    #expect(redirects.addresses[0].isClosed)
    #expect(await entry.service.snapshot().signIn == nil)
  }

  @Test("a sign-in that the person has begun is not taken over")
  func underWay() async throws {
    try await running {
      await end()
      _ = await pages.nextPage()
      let begun = try await signIns.begin(.device, of: entry, replacing: false)
      reauth.sessionEnded(.sample)
      reauth.stop()
      for await _ in over {}
      #expect(await entry.service.snapshot().signIn == begun.progress)
    }
    #expect(pages.count == 1)
  }
}

@Suite struct EndOfUseTests {
  private static let end = SessionState.reauthRequired(.refreshTokenRejected)

  @Test("the browser is opened for the end of a session in use, and for nothing else")
  func ends() {
    #expect(SessionEvent.changed(from: .authenticated, to: Self.end).isEndOfUse)
    // An end from before this daemon, and one that came while nobody was to be disturbed.
    let others: [SessionEvent] = [
      .changed(from: .hydrating, to: Self.end), .changed(from: .locked(.explicit(.user)), to: Self.end),
      .changed(from: .authenticated, to: .unauthenticated(signedOut: true)),
      .changed(from: .authenticated, to: .locked(.explicit(.user))), .statusChanged, .signedOut(nil),
      .refreshFailed(message: "", failures: 3),
    ]
    for event in others { #expect(!event.isEndOfUse, "\(event)") }
  }
}
