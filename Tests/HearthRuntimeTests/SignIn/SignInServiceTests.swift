import HearthControl
import HearthCore
import Logging
import TestSupport
import Testing

@testable import HearthRuntime

@Suite("Signing in", .timeLimit(.minutes(1)))
struct SignInServiceTests {
  let clock = ManualClock()
  let store = MemoryCredentialStore(.nothing)
  let tokens = ScriptedTokenEndpoint()
  let provider = ScriptedSignInEndpoint()
  let redirects = ScriptedRedirects()
  let sessions = SessionDirectory()
  let leftovers = Leftovers()
  let signIns: SignInService
  let entry: SessionDirectory.Entry

  init() {
    signIns = SignInService(redirects: redirects)
    let service = SessionService(
      account: .sample, settings: .obeyingEveryLock, store: store, endpoint: tokens, clock: clock,
      logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }), seed: 1,
      leave: { [leftovers] in leftovers.add($0) }, publish: { _, _ in })
    entry = SessionDirectory.Entry(service: service, signIn: provider)
  }

  /// Runs session and sign-ins meanwhile.
  func running(_ body: () async throws -> Void) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { [sessions] in await sessions.run() }
      group.addTask { [signIns] in await signIns.run() }
      await sessions.add(entry)
      _ = await entry.service.call(.awaitReading)
      // The session still sleeps until the deadline of that call.
      clock.advance(by: SessionMachine.hydrationTimeout)
      try await body()
      await signIns.stop()
      await sessions.stop(timeout: .zero)
    }
  }

  /// When the session wakes up, because there could be no room for a grant.
  static let roomDeadline = RefreshSettings().requestTimeout * 2 + .seconds(10)
  static let user = (name: "a", password: Secret("b"))

  func begin(_ flow: SignInFlow = .browser) async throws -> SignInHandle {
    try await signIns.begin(flow, as: flow == .password ? Self.user : nil, of: entry, replacing: false)
  }

  static let answer = "/callback?code=x&state=\(ScriptedSignInEndpoint.state.reveal())"

  @Test("the code that the browser brings is redeemed once, and its page says so once the grant is on disk")
  func browser() async throws {
    try await running {
      let begun = try await begin()
      #expect(await entry.service.snapshot().signIn == begun.progress)
      provider.answer(.success(.sample(8)))
      let page = await redirects.addresses[0].get(Self.answer)
      #expect(page.status == 200 && page.html.contains("You are signed in"))
      #expect(store.written.count == 1)
      let status = try #require(await signIns.outcome(of: begun.id)).get()
      #expect(status.state == .authenticated && status.signIn == nil)
      #expect(provider.codes == [Secret("x")])
    }
    #expect(redirects.addresses[0].isClosed)
  }

  @Test("what others ask of the loopback address changes nothing, and the sign-in goes on")
  func foreign() async throws {
    try await running {
      let begun = try await begin()
      let address = redirects.addresses[0]
      for target in ["/", "/callback?code=evil&state=guess", "/callback?error=access_denied"] {
        #expect(await address.get(target).status == 400)
      }
      let told = await address.get("/callback?error=access_denied&error_description=%3Cb%3Enot+today")
      #expect(told.html.contains("The provider says: &lt;b&gt;not today."), "though nobody vouches for it")
      #expect(await address.get(Self.answer, method: "POST").status == 400)
      #expect(await address.get(Self.answer, host: "evil.example:4711").status == 400)
      #expect(await entry.service.snapshot().signIn == begun.progress)
      #expect(provider.codes.isEmpty)
      provider.answer(.success(.sample(8)))
      #expect(await address.get(Self.answer).status == 200)
    }
  }

  @Test(
    "an answer that this user may not have sent is not used: page and status say why, and its pasted address is taken",
    arguments: [(RedirectSender.otherUser, "another user's program"), (.unknown, "cannot tell which user")])
  func untrusted(_ sender: RedirectSender, _ why: String) async throws {
    try await running {
      let begun = try await begin()
      let page = await redirects.addresses[0].get(Self.answer, by: sender)
      let message = try #require(await entry.service.snapshot().signIn?.message)
      #expect(page.status == 403)
      for text in [page.html.replacing("&quot;", with: "\"").replacing("&#39;", with: "'"), message] {
        #expect(text.contains(why) && text.contains("where \"hearthctl login work\" is waiting"))
        #expect(!text.contains("code=") && !text.contains(ScriptedSignInEndpoint.state.reveal()))
      }
      #expect(await redirects.addresses[0].get("/favicon.ico", by: sender).status == 400)
      #expect(provider.codes.isEmpty)
      provider.answer(.success(.sample(8)))
      _ = await signIns.redirected(begun.id, to: "http://127.0.0.1:4711" + Self.answer)
      #expect(try await signIns.outcome(of: begun.id)?.get().state == .authenticated)
      #expect(provider.codes.count == 1)
    }
  }

  @Test("of two browsers that answer, the first counts")
  func twoBrowsers() async throws {
    try await running {
      let begun = try await begin()
      let address = redirects.addresses[0]
      async let first = address.get(Self.answer)
      await provider.waitUntilAsked()
      #expect(await address.get(Self.answer).status == 410)
      provider.answer(.success(.sample(8)))
      #expect(await first.status == 200)
      #expect(try await signIns.outcome(of: begun.id)?.get().state == .authenticated)
      #expect(provider.codes.count == 1)
    }
  }

  @Test("what the provider refuses leaves the session before it, in words for both terminal and browser")
  func refused() async throws {
    store.becomes(.grant(.sample(1, issuedAt: clock.now())))
    try await running {
      let before = await entry.service.snapshot()
      let begun = try await begin()
      provider.answer(.failure(.failed(message: "The code <b>was</b> used before.")))
      let page = await redirects.addresses[0].get(Self.answer)
      #expect(page.status == 400, "a script that plays the browser sees it as well")
      #expect(page.html.contains("&lt;b&gt;was&lt;/b&gt;") && page.html.contains("hearthctl login"))
      let end = await signIns.outcome(of: begun.id)
      #expect(end == .failure(Failure(.signInFailed, "The code <b>was</b> used before.", account: .sample)))
      #expect(await entry.service.snapshot() == before && store.written.isEmpty)
    }
  }

  @Test("a scope that nobody has configured and the provider refuses is left out: the browser goes there again, once")
  func scopeRefused() async throws {
    let refused = "/callback?error=invalid_scope&state=\(ScriptedSignInEndpoint.state.reveal())"
    try await running {
      let begun = try await begin()
      let address = redirects.addresses[0]
      let page = await address.get(refused)
      #expect(page.status == 303 && page.location == ScriptedSignInEndpoint.fallbackURL)
      #expect(await entry.service.snapshot().signIn == begun.progress, "the sign-in goes on")
      #expect(await address.get(refused).status == 400)
      #expect(
        await signIns.outcome(of: begun.id)
          == .failure(Failure(.signInFailed, "The provider rejected the sign-in: invalid_scope.", account: .sample)))
      _ = try await begin()
      provider.answer(.success(.sample(8)))
      let next = redirects.addresses[1]
      #expect(await next.get(refused).status == 303)
      #expect(await next.get(Self.answer).status == 200)
    }
  }

  @Test("a person who takes too long is told so, and nothing is listened on any more")
  func tooLate() async throws {
    try await running {
      let begun = try await begin()
      await clock.waitForSleeper(until: clock.now() + Self.roomDeadline)
      clock.advance(by: .seconds(600))
      #expect(await signIns.outcome(of: begun.id) == .failure(.signInTimedOut(.sample, unanswered: nil)))
      #expect(await entry.service.snapshot().signIn == nil)
    }
    #expect(redirects.addresses[0].isClosed)
  }

  @Test("a sign-in that is given up leaves the session as it was")
  func cancelled() async throws {
    try await running {
      let begun = try await begin()
      #expect(await signIns.cancel(begun.id))
      #expect(await signIns.outcome(of: begun.id) == .failure(.signInCancelled(.sample)))
      #expect(await entry.service.snapshot().signIn == nil)
      #expect(await signIns.cancel("another") == false)
      #expect(await signIns.outcome(of: "another") == nil)
    }
  }

  @Test("the sign-in that began last takes over, and the one before is told")
  func superseded() async throws {
    try await running {
      let first = try await begin()
      let second = try await begin(.device)
      #expect(await signIns.outcome(of: first.id) == .failure(.signInReplaced(.sample)))
      #expect(await entry.service.snapshot().signIn == second.progress)
    }
  }

  @Test("a sign-in that cannot begin leaves nothing open")
  func cannotBegin() async throws {
    provider.failToBegin(.unavailable(message: "No connection.", retryAfter: nil))
    try await running {
      await #expect(throws: Failure(.refreshUnavailable, "No connection.", account: .sample)) {
        try await begin()
      }
      #expect(await entry.service.snapshot().signIn == nil)
    }
    #expect(redirects.addresses[0].isClosed)
  }

  @Test("a grant whose ID token is refused is revoked, and the session stays")
  func unusable() async throws {
    store.becomes(.grant(.sample(1, issuedAt: clock.now())))
    try await running {
      let begun = try await begin()
      provider.answer(.failure(.unusable(.sample(8), message: "The ID token is for another client.")))
      let page = await redirects.addresses[0].get(Self.answer)
      #expect(page.html.contains("The ID token is for another client."))
      #expect(
        await signIns.outcome(of: begun.id)
          == .failure(Failure(.signInFailed, "The ID token is for another client.", account: .sample)))
      await leftovers.wait(for: 1)
      #expect(leftovers.all.map(\.grant.accessToken) == [TokenResponse.sample(8).accessToken])
      #expect(store.written.isEmpty)
    }
  }

  @Test("a sign-in that a caller's refused one comes after is still shown in the status")
  func stillShown() async throws {
    try await running {
      let begun = try await begin()
      await #expect(throws: Failure.self) {
        try await begin(.password)
      }
      #expect(await entry.service.snapshot().signIn == begun.progress)
    }
  }

  @Test("the address that a person has copied counts like the browser itself")
  func copied() async throws {
    try await running {
      let begun = try await begin()
      #expect(await signIns.redirected(begun.id, to: "https://id.example.com/") == nil)
      provider.answer(.success(.sample(8)))
      _ = await signIns.redirected(begun.id, to: "http://127.0.0.1:4711" + Self.answer)
      #expect(try await signIns.outcome(of: begun.id)?.get().state == .authenticated)
    }
  }

  @Test("a device is polled as the provider wants it until the person is done")
  func device() async throws {
    try await running {
      let begun = try await begin(.device)
      #expect(begun.progress.expiresAt == clock.now() + .seconds(900))
      for (answer, next) in [(DevicePolling.Answer.pending, 5), (.slowDown, 10)] {
        await clock.waitForSleeper(until: clock.now() + .seconds(5))
        provider.answer(answer)
        clock.advance(by: .seconds(5))
        await clock.waitForSleeper(until: clock.now() + .seconds(next))
      }
      provider.answer(.success(.sample(8)))
      clock.advance(by: .seconds(10))
      #expect(try await signIns.outcome(of: begun.id)?.get().state == .authenticated)
      #expect(provider.polls == 3 && store.written.count == 1)
    }
  }

  @Test("what cannot be stored is not asked for")
  func noRoom() async throws {
    try await running {
      let begun = try await begin()
      store.cannotBeWritten(.full)
      _ = await redirects.addresses[0].get(Self.answer)
      #expect(await signIns.outcome(of: begun.id) == .failure(Failure(.full, .sample)))
      #expect(provider.codes.isEmpty)
      await #expect(throws: Failure.self, "nobody is sent to sign in for nothing") { try await begin() }
    }
  }

  @Test("a place that cannot be written is told as that before anybody signs in, and not as one that is locked")
  func unwritable() async throws {
    store.cannotBeWritten(AccessFailure(.permissionDenied, detail: "/state/credentials: permission denied"))
    try await running {
      for flow in [SignInFlow.browser, .device, .password] {
        let told = await #expect(throws: Failure.self) {
          try await signIns.begin(flow, as: Self.user, of: entry, replacing: false)
        }
        #expect(told?.kind == .storageUnavailable && told?.isRetryable == true)
        #expect(
          told?.message
            == "The credential file cannot be written (/state/credentials: permission denied), so Hearth did "
            + "not request a token. Fix this, then try again.")
      }
    }
  }

  @Test("a device whose polls got no answer is told that at the end, and not that nobody signed in")
  func silence() async throws {
    try await running {
      let begun = try await begin(.device)
      for _ in 0..<2 {
        provider.answer(.unanswered(message: "No response from https://id.example.com."))
      }
      await clock.waitForSleeper(until: clock.now() + .seconds(5))
      clock.advance(by: .seconds(5))
      await clock.waitForSleeper(until: clock.now() + .seconds(10))
      clock.advance(by: .seconds(895))
      let told = Failure.signInTimedOut(.sample, unanswered: "No response from https://id.example.com.")
      #expect(await signIns.outcome(of: begun.id) == .failure(told))
      #expect(told.kind == .signInExpired && told.message.contains("(No response from https://id.example.com)"))
    }
  }

  @Test("an account that needs a person says so to the client's own flow, and its sign-in goes on")
  func ownGrant() async throws {
    try await running {
      let begun = try await begin()
      let failure = await #expect(throws: Failure.self) { try await begin(.clientCredentials) }
      #expect(failure?.kind == .flowNotSupported)
      #expect(await entry.service.snapshot().signIn == begun.progress)
    }
  }
}
