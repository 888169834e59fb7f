import HearthCore
import HearthRuntime
import Logging
import TestSupport
import Testing

@Suite("Signing in", .timeLimit(.minutes(1)))
struct SignInServiceTests {
  let clock = ManualClock()
  let store = MemoryCredentialStore(.nothing)
  let tokens = ScriptedTokenEndpoint()
  let provider = ScriptedSignInEndpoint()
  let redirects = ScriptedRedirects()
  let sessions = SessionDirectory()
  let signIns: SignInService
  let entry: SessionDirectory.Entry

  init() {
    signIns = SignInService(sessions: sessions, redirects: redirects, clock: clock)
    let service = SessionService(
      account: .sample, settings: .obeyingEveryLock, store: store, endpoint: tokens, clock: clock,
      logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }), seed: 1, publish: { _, _ in })
    entry = SessionDirectory.Entry(service: service, signIn: provider, place: "place")
  }

  /// Runs session and sign-ins meanwhile.
  private func running(_ body: () async throws -> Void) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { [sessions] in await sessions.run() }
      group.addTask { [signIns] in await signIns.run() }
      await sessions.set(entry, for: .sample)
      _ = await entry.service.call(.awaitReading)
      try await body()
      await signIns.stop()
      await sessions.stop(patience: .zero)
    }
  }

  private func begin(_ flow: SignInFlow = .browser) async throws -> BegunAttempt {
    try await signIns.begin(flow, of: entry, replacing: false)
  }

  private static let answer = "/callback?code=x&state=\(ScriptedSignInEndpoint.state.reveal())"

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
      #expect(await address.get(Self.answer, method: "POST").status == 400)
      #expect(await address.get(Self.answer, host: "evil.example:4711").status == 400)
      #expect(await entry.service.snapshot().signIn == begun.progress)
      #expect(provider.codes.isEmpty)
      provider.answer(.success(.sample(8)))
      #expect(await address.get(Self.answer).status == 200)
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
      #expect(page.html.contains("&lt;b&gt;was&lt;/b&gt;") && page.html.contains("hearthctl login"))
      let end = await signIns.outcome(of: begun.id)
      #expect(end == .failure(.notAdopted(.signIn(.failed(message: "The code <b>was</b> used before.")))))
      #expect(await entry.service.snapshot() == before && store.written.isEmpty)
    }
  }

  @Test("a person who takes too long is told so, and nothing is listened on any more")
  func tooLate() async throws {
    try await running {
      let begun = try await begin()
      await clock.waitForSleeper(until: begun.progress.expiresAt)
      clock.advance(by: .seconds(600))
      guard case .failure(.failed(.expired)) = await signIns.outcome(of: begun.id) else {
        Issue.record("it did not expire")
        return
      }
      #expect(await entry.service.snapshot().signIn == nil)
    }
    #expect(redirects.addresses[0].isClosed)
  }

  @Test("a sign-in that is given up leaves the session as it was")
  func cancelled() async throws {
    try await running {
      let begun = try await begin()
      #expect(await signIns.cancel(begun.id))
      #expect(await signIns.outcome(of: begun.id) == .failure(.cancelled))
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
      #expect(await signIns.outcome(of: first.id) == .failure(.superseded))
      #expect(await entry.service.snapshot().signIn == second.progress)
    }
  }

  @Test("a sign-in that cannot begin leaves nothing open")
  func cannotBegin() async throws {
    provider.failToBegin(.unavailable(message: "No connection.", retryAfter: nil))
    try await running {
      await #expect(throws: SignInEnd.failed(.unavailable(message: "No connection.", retryAfter: nil))) {
        try await begin()
      }
      #expect(await entry.service.snapshot().signIn == nil)
    }
    #expect(redirects.addresses[0].isClosed)
  }

  @Test("a sign-out meanwhile ends it")
  func signedOut() async throws {
    try await running {
      let begun = try await begin()
      await signIns.end(allOf: .sample, .signedOut)
      #expect(await signIns.outcome(of: begun.id) == .failure(.signedOut))
    }
  }

  @Test("a session that was locked meanwhile is not replaced, and the code is not redeemed")
  func lockedMeanwhile() async throws {
    store.becomes(.grant(.sample(1, issuedAt: clock.now())))
    try await running {
      let begun = try await begin()
      await entry.service.lock(.user)
      let page = await redirects.addresses[0].get(Self.answer)
      #expect(page.html.contains("You are not signed in"))
      guard case .failure(.notAdopted(.locked)) = await signIns.outcome(of: begun.id) else {
        Issue.record("it was adopted")
        return
      }
      #expect(provider.codes.isEmpty && store.written.isEmpty)
    }
  }

  @Test("a new configuration meanwhile ends it")
  func reconfigured() async throws {
    try await running {
      let begun = try await begin()
      await sessions.set(nil, for: .sample)
      _ = await redirects.addresses[0].get(Self.answer)
      #expect(await signIns.outcome(of: begun.id) == .failure(.reconfigured))
    }
  }

  @Test("a sign-out while the code is on its way to the provider is not undone by it")
  func signedOutBeforeGrant() async throws {
    store.becomes(.grant(.sample(1, issuedAt: clock.now())))
    try await running {
      let begun = try await begin()
      async let page = redirects.addresses[0].get(Self.answer)
      await provider.waitUntilAsked()
      await signIns.end(allOf: .sample, .signedOut)
      _ = await entry.service.call(.signOut(revoke: true))
      provider.answer(.success(.sample(8)))
      #expect(await page.html.contains("You are not signed in"))
      #expect(await signIns.outcome(of: begun.id) == .failure(.signedOut))
      #expect(await entry.service.snapshot().state == .unauthenticated(signedOut: true))
    }
  }

  @Test("what is granted to a sign-in that was given up meanwhile is revoked, and the session stays")
  func cancelledDuringGrant() async throws {
    store.becomes(.grant(.sample(1, issuedAt: clock.now())))
    try await running {
      let begun = try await begin()
      async let page = redirects.addresses[0].get(Self.answer)
      await provider.waitUntilAsked()
      #expect(await signIns.cancel(begun.id))
      provider.answer(.success(.sample(8)))
      #expect(await page.html.contains("You are not signed in"))
      #expect(await signIns.outcome(of: begun.id) == .failure(.cancelled))
      #expect(store.written.isEmpty && tokens.revoked.count == 1)
    }
  }

  @Test("what is granted while the account has been locked is revoked, and the credential stays")
  func lockedDuringGrant() async throws {
    store.becomes(.grant(.sample(1, issuedAt: clock.now())))
    try await running {
      let begun = try await begin()
      async let page = redirects.addresses[0].get(Self.answer)
      await provider.waitUntilAsked()
      await entry.service.lock(.user)
      provider.answer(.success(.sample(8)))
      _ = await page
      guard case .failure(.notAdopted(.locked)) = await signIns.outcome(of: begun.id) else {
        Issue.record("it was adopted")
        return
      }
      #expect(store.written.isEmpty && tokens.revoked.count == 1)
    }
  }

  @Test("a lock during a device's sign-in is waited out")
  func lockedDuringPolls() async throws {
    store.becomes(.grant(.sample(1, issuedAt: clock.now())))
    try await running {
      let begun = try await begin(.device)
      await entry.service.lock(.user)
      await clock.waitForSleeper(until: clock.now() + .seconds(5))
      clock.advance(by: .seconds(5))
      await clock.waitForSleeper(until: clock.now() + .seconds(10))
      #expect(provider.polls == 0)
      try await entry.service.unlock(.user, passphrase: nil)
      provider.answer(.success(.sample(8)))
      clock.advance(by: .seconds(10))
      #expect(try await signIns.outcome(of: begun.id)?.get().state == .authenticated)
    }
  }

  @Test("a sign-in that a caller's refused one comes after is still shown in the status")
  func stillShown() async throws {
    try await running {
      let begun = try await begin()
      await #expect(throws: SignInEnd.self) {
        try await signIns.signIn(username: "a", password: Secret("b"), to: entry, replacing: false)
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
      for (answer, next) in [(SignInFailure.pending(.pending), 5), (.pending(.slowDown), 10)] {
        await clock.waitForSleeper(until: clock.now() + .seconds(5))
        provider.answer(.failure(answer))
        clock.advance(by: .seconds(5))
        await clock.waitForSleeper(until: clock.now() + .seconds(next))
      }
      provider.answer(.success(.sample(8)))
      clock.advance(by: .seconds(10))
      #expect(try await signIns.outcome(of: begun.id)?.get().state == .authenticated)
      #expect(provider.polls == 3 && store.written.count == 1)
    }
  }

  @Test("a poll that is under way when it is given up is heard to its end")
  func cancelledDuringPoll() async throws {
    try await running {
      let begun = try await begin(.device)
      await clock.waitForSleeper(until: clock.now() + .seconds(5))
      clock.advance(by: .seconds(5))
      await provider.waitUntilAsked()
      #expect(await signIns.cancel(begun.id))
      provider.answer(.failure(.pending(.pending)))
      #expect(await signIns.outcome(of: begun.id) == .failure(.cancelled))
    }
  }

  @Test("what cannot be stored is not asked for")
  func noRoom() async throws {
    try await running {
      let begun = try await begin()
      store.cannotBeWritten(.full)
      _ = await redirects.addresses[0].get(Self.answer)
      guard case .failure(.notAdopted(.storage)) = await signIns.outcome(of: begun.id) else {
        Issue.record("it was asked for")
        return
      }
      #expect(provider.codes.isEmpty)
      await #expect(throws: SignInEnd.self, "nobody is sent to sign in for nothing") { try await begin() }
    }
  }

  @Test("stopping ends what waits for a person")
  func stopping() async throws {
    try await running {
      let begun = try await begin()
      async let outcome = signIns.outcome(of: begun.id)
      await signIns.stop()
      #expect(await outcome == .failure(.stopping))
      await #expect(throws: SignInEnd.stopping) { try await begin() }
    }
  }
}
