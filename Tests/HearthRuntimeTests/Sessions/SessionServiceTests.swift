import HearthCore
import HearthRuntime
import Logging
import Synchronization
import TestSupport
import Testing

@Suite("A session's service")
struct SessionServiceTests {
  let clock = ManualClock()
  let store: MemoryCredentialStore
  let endpoint = ScriptedTokenEndpoint()
  let events = EventRecorder()
  let leftovers = Leftovers()
  let service: SessionService

  init() throws {
    store = MemoryCredentialStore(.grant(.sample(1, issuedAt: clock.now())))
    let account = try #require(AccountName("work"))
    service = SessionService(
      account: account, settings: SessionSettings(), store: store, endpoint: endpoint, clock: clock,
      logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }), seed: 1,
      leave: { [leftovers] in leftovers.add($0) }, publish: { [events] published, _ in events.append(published) })
  }

  /// Runs the service around `body`.
  func running(_ body: () async throws -> Void) async throws {
    try await withThrowingTaskGroup { group in
      group.addTask { [service] in await service.run() }
      let result: Result<Void, any Error>
      do { result = .success(try await body()) } catch { result = .failure(error) }
      await service.stop()
      try await group.waitForAll()
      try result.get()
    }
  }

  @Test("gives the token that was read, without asking the provider")
  func givesTheToken() async throws {
    try await running {
      let token = try await service.call(.token(minValidity: nil)).get()
      #expect(token == .sample(.sample(1, issuedAt: clock.now())))
      #expect(endpoint.requests.isEmpty)
    }
  }

  @Test(
    "lets a grant that another program wrote without an expiry expire as its token says, or after an hour if renewable")
  func writtenWithoutExpiry() async throws {
    let named = clock.now() + .seconds(60)
    for (expiry, isRenewable, expected) in [
      (named, true, named), (named, false, named), (nil, true, clock.now() + .seconds(3600)), (nil, false, nil),
    ] as [(Timestamp?, Bool, Timestamp?)] {
      let (store, endpoint) = (MemoryCredentialStore(), ScriptedTokenEndpoint())
      store.becomes(.grant(.sample(7, issuedAt: clock.now(), lifetime: nil, isRenewable: isRenewable)))
      endpoint.tells(expiry: expiry)
      let service = SessionService(
        account: .sample, settings: SessionSettings(), store: store, endpoint: endpoint, clock: clock,
        logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }), publish: { _, _ in })
      try await withThrowingTaskGroup { group in
        group.addTask { await service.run() }
        _ = await service.call(.awaitReading)
        #expect(await service.snapshot().token?.expiresAt == expected)
        await service.stop()
        try await group.waitForAll()
      }
    }
  }

  @Test("ends a session that nothing can renew after a start once the provider's clock agrees that it has run out")
  func asksForTheTime() async throws {
    store.becomes(.grant(.sample(7, issuedAt: clock.now() - .seconds(7200), isRenewable: false)))
    endpoint.tells(time: clock.now() - .seconds(60))
    try await running {
      #expect(await service.call(.token(minValidity: nil)).failure?.kind == .reauthRequired)
      #expect(store.memory.end?.reason == .noRefreshToken)
    }
  }

  @Test("reads no credential before what is remembered, and finds the user's lock when that can be read")
  func recallsFirst() async throws {
    try await store.remember(lockedByUser: true)
    store.cannotRemember(.away)
    try await running {
      _ = await service.call(.awaitReading)
      #expect(await service.snapshot().state == .locked(.accessFailure(.away)))
      #expect(!store.log.contains("read"))
      store.cannotRemember(nil)
      _ = await service.call(.rehydrate)
      #expect(await service.snapshot().state == .locked(.explicit(.user)))
    }
  }

  @Test("has sealed anew what is protected otherwise than configured, once it has answered rehydrate")
  func sealsAnew() async throws {
    try await running {
      _ = await service.call(.awaitReading)
      store.isMisprotected()
      await service.rehydrate()
      #expect(store.written == [.sample(1, issuedAt: clock.now())])
    }
  }

  @Test("does not refresh a grant that another program has replaced unnoticed, but the other one")
  func supersededBefore() async throws {
    try await running {
      _ = await service.call(.awaitReading)
      let other = Credential.sample(7, issuedAt: clock.now())
      store.becomesUnnoticed(.grant(other))
      endpoint.answer(.granted(.sample(8)))
      try await service.call(.refresh).get()
      #expect(endpoint.requests.map(\.grant.refreshToken) == [other.grant.refreshToken])
      #expect(store.disk.grant?.grant.accessToken == .sample(8))
    }
  }

  @Test("writes nothing over a grant that another program has put there while the provider answered")
  func supersededMeanwhile() async throws {
    try await running {
      _ = await service.call(.awaitReading)
      clock.advance(by: .seconds(3600))
      async let asked = service.call(.token(minValidity: nil))
      await endpoint.waitForRequests(1)
      let other = Credential.sample(7, issuedAt: clock.now())
      store.becomesUnnoticed(.grant(other))
      endpoint.answer(.granted(.sample(2)))
      let token = try await asked.get()
      #expect(token == .sample(.sample(7, issuedAt: clock.now())))
      #expect(store.disk.grant == other)
      #expect(store.written.isEmpty)
    }
  }

  @Test("sends one refresh however many callers ask, and answers all of them with its token")
  func singleFlight() async throws {
    try await running {
      _ = await service.call(.awaitReading)
      clock.advance(by: .seconds(3600))
      try await withThrowingTaskGroup(of: Bearer.self) { group in
        for _ in 0..<50 { group.addTask { [service] in try await service.call(.token(minValidity: nil)).get() } }
        await endpoint.waitForRequests(1)
        endpoint.answer(.granted(.sample(2)))
        for try await bearer in group { #expect(bearer.token == .sample(2)) }
      }
      #expect(endpoint.requests.count == 1)
      #expect(endpoint.mostInFlight == 1)
    }
  }

  @Test("has a rotated grant in the store before anybody is given its token")
  func storesBeforeTelling() async throws {
    try await running {
      _ = await service.call(.awaitReading)
      endpoint.answer(.granted(.sample(2)))
      try await service.call(.refresh).get()
      #expect(store.written.map(\.grant.accessToken) == [.sample(2)])
      #expect(store.log.firstIndex(of: "prepare")! < store.log.firstIndex(of: "write")!)
    }
  }

  @Test("asks the provider for nothing when there is no room for the answer")
  func asksNothingWithoutRoom() async throws {
    try await running {
      _ = await service.call(.awaitReading)
      store.cannotBeWritten(AccessFailure(.storageError, detail: "no space left on device"))
      let failure = await service.call(.refresh).failure
      #expect(failure?.kind == .refreshUnavailable && failure?.message.contains("no space left on device") == true)
      #expect(endpoint.requests.isEmpty)
    }
  }

  @Test("refreshes by itself when the time has come")
  func refreshesAhead() async throws {
    try await running {
      _ = await service.call(.awaitReading)
      await clock.waitForSleeper()
      let due = try #require(await service.snapshot().token?.refreshAt)
      clock.advance(by: due - clock.now())
      await endpoint.waitForRequests(1)
      endpoint.answer(.granted(.sample(2)))
      #expect(await events.waitFor { if case .refreshed = $0 { true } else { false } })
    }
  }

  @Test(
    "refreshes at the right moment on a machine whose clock is off by an hour", arguments: [-3600, 3600] as [Int64])
  func refreshesWithSkew(seconds: Int64) async throws {
    let skew = Duration.seconds(seconds)
    try await running {
      _ = await service.call(.awaitReading)
      var response = TokenResponse.sample(2, lifetime: .seconds(1000))
      response.skew = skew
      endpoint.answer(.granted(response))
      try await service.call(.refresh).get()
      let token = try #require(await service.snapshot().token)
      #expect(token.expiresAt == clock.now() + .seconds(1000))
      let due = try #require(token.refreshAt)
      #expect(due > clock.now() + .seconds(700) && due <= clock.now() + .seconds(800))
      clock.advance(by: due - clock.now())
      await endpoint.waitForRequests(2)
      endpoint.answer(.granted(.sample(3)))
      #expect(await events.waitFor { $0.isRefresh(to: .sample(3)) })
    }
  }

  @Test("shifts nothing twice that is planned between a step of the clock and the notice of it")
  func planBetweenStepAndNotice() async throws {
    try await running {
      _ = await service.call(.awaitReading)
      clock.step(by: .seconds(-7200), isTold: false)
      endpoint.answer(.granted(.sample(2)))
      try await service.call(.refresh).get()
      clock.step(by: .zero)
      _ = await service.call(.awaitReading)
      let token = try #require(await service.snapshot().token)
      #expect(token.expiresAt == clock.now() + .seconds(3600))
    }
  }

  @Test("ends no session by a clock that was set forward before the notice of it comes")
  func noEndBetweenStepAndNotice() async throws {
    store.becomes(.nothing)
    try await running {
      let imported = Credential.sample(7, issuedAt: clock.now(), isRenewable: false)
      try await service.adopt(imported, isTried: true)
      clock.step(by: .seconds(7200), isTold: false)
      _ = await service.call(.token(minValidity: nil))
      #expect(await service.snapshot().state == .authenticated)
      #expect(await service.snapshot().token?.expiresAt == clock.now() + .seconds(3600))
    }
  }

  @Test("lets a refresh that is under way land before it stops")
  func landsBeforeStopping() async throws {
    try await withThrowingTaskGroup { group in
      group.addTask { [service] in await service.run() }
      _ = await service.call(.awaitReading)
      group.addTask { [service] in _ = await service.call(.refresh) }
      await endpoint.waitForRequests(1)
      group.addTask { [service] in await service.stop() }
      await clock.waitForSleeper(until: clock.now() + .seconds(35))
      endpoint.answer(.granted(.sample(2)))
      try await group.waitForAll()
    }
    #expect(store.written.map(\.grant.accessToken) == [.sample(2)])
  }

  @Test("wipes the grant on lock, survives a restart locked, and reads it again on unlock")
  func locksAndUnlocks() async throws {
    try await running {
      _ = await service.call(.awaitReading)
      await service.lock(.user)
      #expect(await service.snapshot().state == .locked(.explicit(.user)))
      #expect(store.memory.lockedByUser)
      #expect(await service.call(.token(minValidity: nil)).failure?.kind == .locked)
      try await service.unlock(.user, passphrase: nil)
      #expect(await service.snapshot().state == .authenticated)
      #expect(!store.memory.lockedByUser)
    }
  }

  @Test("has a lock written down that could not be at first, at the latest when it stops")
  func writesTheLockDownAgain() async throws {
    try await running {
      _ = await service.call(.awaitReading)
      store.cannotBeWritten(AccessFailure(.storageError, detail: "no space left on device"))
      await service.lock(.user)
      #expect(!store.memory.lockedByUser)
      store.cannotBeWritten(nil)
    }
    #expect(store.memory.lockedByUser)
  }

  @Test("waits out the ten seconds or less in which no passphrase is taken, and tries then")
  func waitsForTheStore() async throws {
    store.isSealed(with: "sesame", refusing: .tooManyPassphrases(.sample, .seconds(10)))
    try await running {
      _ = await service.call(.awaitReading)
      #expect(await service.needsPassphrase())
      async let unlocked = service.unlock(.user, passphrase: Secret("sesame"))
      await clock.waitForSleeper(until: clock.now() + .seconds(10))
      clock.advance(by: .seconds(10))
      _ = try await unlocked
      #expect(await !service.needsPassphrase())
    }
  }

  @Test("says at once that no passphrase is taken for longer than ten seconds")
  func tooSoon() async throws {
    store.isSealed(with: "sesame", refusing: .tooManyPassphrases(.sample, .seconds(11)))
    try await running {
      await #expect(throws: Failure.tooManyPassphrases(.sample, .seconds(11))) {
        try await service.unlock(.user, passphrase: Secret("sesame"))
      }
    }
  }

  @Test("tries each of many passphrases in its turn, however long those before it take")
  func triesInTurn() async throws {
    store.isSealed(
      with: "sesame", refusing: .tooManyPassphrases(.sample, .seconds(6)), .wrongPassphrase(.sample),
      .tooManyPassphrases(.sample, .seconds(8)))
    try await running {
      _ = await service.call(.awaitReading)
      async let wrong = service.unlock(.user, passphrase: Secret("open"))
      await clock.waitForSleeper(until: clock.now() + .seconds(6))
      async let right = service.unlock(.user, passphrase: Secret("sesame"))
      // Answered in the inbox's order: the other one has asked by then.
      for _ in 0..<3 { _ = await service.call(.awaitReading) }
      clock.advance(by: .seconds(6))
      do {
        _ = try await wrong
        Issue.record("it was taken")
      } catch {
        #expect(error as? Failure == .wrongPassphrase(.sample))
      }
      await clock.waitForSleeper(until: clock.now() + .seconds(8))
      clock.advance(by: .seconds(8))
      _ = try await right
      #expect(await !service.needsPassphrase())
    }
  }

  @Test("waits for no passphrase once it stops")
  func stopsWaiting() async throws {
    store.isSealed(
      with: "sesame", refusing: .tooManyPassphrases(.sample, .seconds(5)), .tooManyPassphrases(.sample, .seconds(5)))
    try await withThrowingTaskGroup { group in
      group.addTask { [service] in await service.run() }
      _ = await service.call(.awaitReading)
      async let unlocked = service.unlock(.user, passphrase: Secret("sesame"))
      await clock.waitForSleeper(until: clock.now() + .seconds(5))
      await service.stop()
      do {
        _ = try await unlocked
        Issue.record("it was unlocked")
      } catch {
        #expect(error as? Failure == .tooManyPassphrases(.sample, .seconds(5)))
      }
      try await group.waitForAll()
    }
  }

  @Test("hands back what is to be revoked on sign-out, after the credential is gone")
  func signsOut() async throws {
    try await running {
      _ = await service.call(.awaitReading)
      let credentials = try await service.call(.signOut(revoke: true)).get().credentials
      #expect(credentials.map(\.grant.accessToken) == [.sample(1)])
      #expect(store.log.contains("remove"))
      #expect(await service.snapshot().state == .unauthenticated(signedOut: true))
    }
  }
}

extension SessionEvent {
  fileprivate func isRefresh(to token: Token) -> Bool {
    if case .refreshed(token.fingerprint, _, _) = self { true } else { false }
  }
}

/// Keeps the events that a service published.
final class EventRecorder: Sendable {
  private struct State {
    var events: [SessionEvent] = []
    var watchers: [AsyncStream<SessionEvent>.Continuation] = []
  }

  private let state = Mutex(State())

  func append(_ events: [SessionEvent]) {
    state.withLock { state in
      state.events += events
      for event in events { state.watchers.forEach { $0.yield(event) } }
    }
  }

  var all: [SessionEvent] { state.withLock(\.events) }

  func waitFor(_ matches: (SessionEvent) -> Bool) async -> Bool {
    let (stream, continuation) = AsyncStream<SessionEvent>.makeStream()
    state.withLock { state in
      state.events.forEach { continuation.yield($0) }
      state.watchers.append(continuation)
    }
    for await event in stream where matches(event) { return true }
    return false
  }
}
