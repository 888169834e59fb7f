import HearthCore
import HearthRuntime
import Logging
import TestSupport
import Testing

@Suite("All sessions")
struct SessionDirectoryTests {
  let clock = ManualClock()
  let sessions = SessionDirectory()

  private func entry(
    _ number: Int, _ endpoint: ScriptedTokenEndpoint, _ store: MemoryCredentialStore? = nil, at place: String = "place"
  ) -> SessionDirectory.Entry {
    let service = SessionService(
      account: .sample, settings: .obeyingEveryLock,
      store: store ?? MemoryCredentialStore(.grant(.sample(number, issuedAt: clock.now()))), endpoint: endpoint,
      clock: clock,
      logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }), seed: 1, publish: { _, _ in })
    return SessionDirectory.Entry(service: service, signIn: ScriptedSignInEndpoint(), place: place)
  }

  @Test(
    "A session that another configuration leaves alive lets its refresh land, and asks the provider that is configured next"
  )
  func goesOn() async throws {
    let (before, after) = (ScriptedTokenEndpoint(), ScriptedTokenEndpoint())
    try await withThrowingTaskGroup { group in
      group.addTask { [sessions] in await sessions.run() }
      var entry = entry(1, before)
      await sessions.set(entry, for: .sample)
      _ = await sessions.ask(.awaitReading, of: .sample)
      async let asked = sessions.ask(.refresh, of: .sample)
      await before.waitForRequests(1)
      entry.offer = TokenOffer(scopes: ["mail"])
      var settings = SessionSettings.obeyingEveryLock
      settings.refresh.margin = .seconds(60)
      await sessions.update(entry, settings, after)
      #expect(await sessions.current(.sample)?.offer == entry.offer, "nobody waits for the provider")
      #expect(await sessions.ask(.token(minValidity: nil), of: .sample)?.answer.response.isToken == true)
      before.answer(.granted(.sample(2)))
      let answer = try #require(await asked).answer
      #expect(answer.response == .done && answer.status.token?.fingerprint == Token.sample(2).fingerprint)
      let refreshAt = try #require(answer.status.token?.refreshAt)
      #expect(refreshAt >= clock.now() + .seconds(3600 - 66), "by the new margin")
      clock.advance(by: .seconds(1))
      async let next = sessions.ask(.refresh, of: .sample)
      await after.waitForRequests(1)
      after.answer(.granted(.sample(3)))
      #expect(await next?.entry.service === entry.service)
      #expect(before.requests.count == 1)
      await sessions.stop(timeout: .zero)
    }
  }

  @Test("A lock of the system reaches a session from when on its account names it")
  func locksOnceNamed() async {
    await withTaskGroup { group in
      group.addTask { [sessions] in await sessions.run() }
      let entry = entry(1, ScriptedTokenEndpoint())
      await sessions.set(entry, for: .sample)
      await sessions.update(entry, SessionSettings(), nil)
      await sessions.change(.screen, isSet: true)
      #expect(await sessions.ask(.awaitReading, of: .sample)?.answer.status.state == .authenticated)
      await sessions.update(entry, .obeyingEveryLock, nil)
      #expect(await sessions.ask(.awaitReading, of: .sample)?.answer.status.state == .locked(.explicit(.screen)))
      await sessions.stop(timeout: .zero)
    }
  }

  @Test("A call that a new configuration interrupts is repeated to the session that follows")
  func repeats() async throws {
    let (before, after) = (ScriptedTokenEndpoint(), ScriptedTokenEndpoint())
    await withTaskGroup { group in
      group.addTask { [sessions] in await sessions.run() }
      await sessions.set(entry(1, before), for: .sample)
      _ = await sessions.ask(.awaitReading, of: .sample)
      async let asked = sessions.ask(.refresh, of: .sample)
      await before.waitForRequests(1)
      let next = entry(1, after)
      async let replaced: Void = sessions.set(next, for: .sample)
      await clock.waitForSleeper(until: clock.now() + .seconds(35))
      #expect(
        await sessions.ask(.token(minValidity: nil), of: .sample)?.answer.response.isToken == true, "nor one that waits"
      )
      #expect(await sessions[.sample] != nil, "an account that is being changed is no unknown one")
      clock.advance(by: .seconds(35))
      await replaced
      before.answer(.failed(.unanswered(message: "cancelled")))
      await after.waitForRequests(1)
      after.answer(.granted(.sample(2)))
      let answer = await asked
      #expect(answer?.answer.response == .done)
      #expect(answer?.entry.service === next.service)
      await sessions.stop(timeout: .zero)
    }
  }

  @Test("A grant that could not be written is handed to the session that follows at its place, and to no other")
  func handsOn() async throws {
    let start = clock.now()
    let store = MemoryCredentialStore(.grant(.sample(1, issuedAt: start)))
    let (before, after) = (ScriptedTokenEndpoint(), ScriptedTokenEndpoint())
    await withTaskGroup { group in
      group.addTask { [sessions] in await sessions.run() }
      await sessions.set(entry(1, before, store), for: .sample)
      _ = await sessions.ask(.awaitReading, of: .sample)
      async let asked = sessions.ask(.refresh, of: .sample)
      await before.waitForRequests(1)
      store.cannotBeWritten(AccessFailure(.storageError, detail: "read-only"))
      before.answer(.granted(.sample(2)))
      #expect(await asked?.answer.response == .done)
      await sessions.set(entry(5, after, at: "elsewhere"), for: .sample)
      _ = await sessions.ask(.awaitReading, of: .sample)
      #expect(
        await sessions.ask(.token(minValidity: nil), of: .sample)?.answer.response
          == .token(.sample(5, issuedAt: start)))
      await sessions.set(nil, for: .sample)
      await sessions.set(entry(1, after, store), for: .sample)
      _ = await sessions.ask(.awaitReading, of: .sample)
      let answer = await sessions.ask(.token(minValidity: nil), of: .sample)?.answer.response
      guard case .token(let bearer) = answer else {
        Issue.record("\(String(describing: answer))")
        return
      }
      #expect(bearer.token == Credential.sample(2, issuedAt: start).grant.accessToken)
      await sessions.stop(timeout: .zero)
    }
  }

  @Test("A lock of the system reaches every session, and those that follow, until it is removed")
  func locksAll() async {
    func state() async -> SessionState? { await sessions.ask(.awaitReading, of: .sample)?.answer.status.state }
    await withTaskGroup { group in
      group.addTask { [sessions] in await sessions.run() }
      await sessions.set(entry(1, ScriptedTokenEndpoint()), for: .sample)
      #expect(await state() == .authenticated)
      await sessions.change(.screen, isSet: true)
      #expect(await state() == .locked(.explicit(.screen)))
      await sessions.set(entry(1, ScriptedTokenEndpoint()), for: .sample)
      #expect(await state() == .locked(.explicit(.screen)), "the session that follows")
      await sessions.change(.screen, isSet: false)
      #expect(await state() == .authenticated)
      await sessions.stop(timeout: .zero)
    }
  }

  @Test(
    "A lock of the system counts at once for a session that is being replaced, and for the one that follows",
    .timeLimit(.minutes(1)))
  func locksWhileReplacing() async {
    let before = ScriptedTokenEndpoint()
    await withTaskGroup { group in
      group.addTask { [sessions] in await sessions.run() }
      await sessions.set(entry(1, before), for: .sample)
      _ = await sessions.ask(.awaitReading, of: .sample)
      async let asked = sessions.ask(.refresh, of: .sample)
      await before.waitForRequests(1)
      let next = entry(1, ScriptedTokenEndpoint())
      async let replaced: Void = sessions.set(next, for: .sample)
      await clock.waitForSleeper(until: clock.now() + .seconds(35))
      async let locked: Void = sessions.change(.screen, isSet: true)
      while await sessions[.sample]?.service.snapshot().state != .locked(.explicit(.screen)) { await Task.yield() }
      #expect(await sessions[.sample]?.service !== next.service)
      before.answer(.failed(.unanswered(message: "cancelled")))
      clock.advance(by: .seconds(35))
      _ = await (replaced, locked, asked)
      #expect(await sessions.ask(.awaitReading, of: .sample)?.answer.status.state == .locked(.explicit(.screen)))
      #expect(await sessions[.sample]?.service === next.service)
      await sessions.stop(timeout: .zero)
    }
  }

  /// Has the session's refresh hang while another one is to take its place.
  private func whileReplacing(
    _ store: MemoryCredentialStore,
    _ body: (_ before: ScriptedTokenEndpoint, _ next: SessionDirectory.Entry) async -> Void
  ) async {
    let before = ScriptedTokenEndpoint()
    await withTaskGroup { group in
      group.addTask { [sessions] in await sessions.run() }
      await sessions.set(entry(1, before, store), for: .sample)
      _ = await sessions.ask(.awaitReading, of: .sample)
      async let asked = sessions.ask(.refresh, of: .sample)
      await before.waitForRequests(1)
      let next = entry(1, ScriptedTokenEndpoint(), store)
      async let replaced: Void = sessions.set(next, for: .sample)
      await clock.waitForSleeper(until: clock.now() + .seconds(35))
      await body(before, next)
      _ = await (replaced, asked)
      await sessions.stop(timeout: .zero)
    }
  }

  @Test("The user's lock acts at once while the session is being replaced, and holds in the one that follows")
  func locksAtOnce() async {
    await whileReplacing(MemoryCredentialStore(.grant(.sample(1, issuedAt: clock.now())))) { before, next in
      await sessions.lock(.sample)
      #expect(await sessions[.sample]?.service !== next.service, "it is not replaced yet")
      #expect(sessions.readyToken(of: .sample, nil) == nil && sessions.heldToken(of: .sample) == nil)
      let answer = await sessions.ask(.token(minValidity: nil), of: .sample)?.answer.response
      #expect(answer == .rejected(.state(.locked(.explicit(.user)))))
      before.answer(.granted(.sample(2)))
      #expect(await sessions.current(.sample)?.service === next.service)
      #expect(await sessions.ask(.awaitReading, of: .sample)?.answer.status.state == .locked(.explicit(.user)))
    }
  }

  @Test("A sign-out is answered at once while the session is being replaced, and holds in the one that follows")
  func signsOutAtOnce() async {
    let store = MemoryCredentialStore(.grant(.sample(1, issuedAt: clock.now())))
    await whileReplacing(store) { before, next in
      let answer = await sessions.ask(.signOut(revoke: true), of: .sample)?.answer
      #expect(answer?.response == .signedOut(revoke: [.sample(1, issuedAt: clock.now())]))
      #expect(answer?.status.state == .unauthenticated(signedOut: true))
      #expect(await sessions[.sample]?.service !== next.service, "it is not replaced yet")
      #expect(store.disk.grant == nil)
      before.answer(.granted(.sample(2)))
      #expect(await sessions.current(.sample)?.service === next.service)
      let state = await sessions.ask(.awaitReading, of: .sample)?.answer.status.state
      #expect(state == .unauthenticated(signedOut: true) && store.disk.grant == nil)
    }
  }

  @Test(
    "The user's lock and unlock outlast a change of the configuration also while neither can be written",
    arguments: [true, false])
  func keepsUnwrittenLock(isLocked: Bool) async {
    let store = MemoryCredentialStore(.grant(.sample(1, issuedAt: clock.now())))
    func state() async -> SessionState? { await sessions.ask(.awaitReading, of: .sample)?.answer.status.state }
    await withTaskGroup { group in
      group.addTask { [sessions] in await sessions.run() }
      let first = entry(1, ScriptedTokenEndpoint(), store)
      await sessions.set(first, for: .sample)
      #expect(await state() == .authenticated)
      if !isLocked { await first.service.lock(.user) }
      store.cannotBeWritten(AccessFailure(.storageError, detail: "read-only"))
      await first.service.change(.user, isSet: isLocked)
      await sessions.set(nil, for: .sample)
      store.cannotBeWritten(nil)
      await sessions.set(entry(1, ScriptedTokenEndpoint(), store), for: .sample)
      #expect(await state() == (isLocked ? .locked(.explicit(.user)) : .authenticated))
      #expect((try? await store.remembered())?.lockedByUser == isLocked, "and is written now")
      await sessions.stop(timeout: .zero)
    }
  }

  /// Has the session's rotated grant stay unwritten, and takes the account away.
  private func leaveUnwritten(_ store: MemoryCredentialStore) async {
    let endpoint = ScriptedTokenEndpoint()
    await sessions.set(entry(1, endpoint, store), for: .sample)
    _ = await sessions.ask(.awaitReading, of: .sample)
    async let asked = sessions.ask(.refresh, of: .sample)
    await endpoint.waitForRequests(1)
    store.cannotBeWritten(AccessFailure(.storageError, detail: "read-only"))
    endpoint.answer(.granted(.sample(2)))
    _ = await asked
    await sessions.set(nil, for: .sample)
  }

  @Test("A grant that was handed over is let go once it is taken over, and goes on with one that never ran")
  func letsGo() async throws {
    let store = MemoryCredentialStore(.grant(.sample(1, issuedAt: clock.now())))
    await withTaskGroup { group in
      group.addTask { [sessions] in await sessions.run() }
      await leaveUnwritten(store)
      let skipped = entry(1, ScriptedTokenEndpoint(), store)
      // It is replaced before it has begun.
      store.cannotRemember(AccessFailure(.storageError, detail: "read-only"))
      await sessions.set(skipped, for: .sample)
      store.cannotRemember(nil)
      let next = entry(1, ScriptedTokenEndpoint(), store)
      await sessions.set(next, for: .sample)
      store.cannotBeWritten(nil)
      // It may have been refused already: then it waits half a second at least.
      clock.advance(by: .seconds(1))
      await next.service.rehydrate()
      #expect(store.written.last?.grant.accessToken == .sample(2))
      #expect(await next.service.unwritten == nil, "what is on disk is kept nowhere else")
      await sessions.stop(timeout: .zero)
    }
  }

  @Test("A grant of a place that is not configured any more is handed back by a sign-out, to be revoked")
  func revokesAbandoned() async throws {
    let store = MemoryCredentialStore(.grant(.sample(1, issuedAt: clock.now())))
    await withTaskGroup { group in
      group.addTask { [sessions] in await sessions.run() }
      await leaveUnwritten(store)
      await sessions.set(entry(5, ScriptedTokenEndpoint(), at: "elsewhere"), for: .sample)
      _ = await sessions.ask(.awaitReading, of: .sample)
      guard case .signedOut(let credentials) = await sessions.ask(.signOut(revoke: true), of: .sample)?.answer.response
      else {
        Issue.record("not signed out")
        return
      }
      #expect(credentials.map(\.grant.accessToken) == [.sample(5), .sample(2)])
      await sessions.stop(timeout: .zero)
    }
  }

  @Test("A call is refused when all is shut down, and unanswered where the account was taken away")
  func stops() async {
    await withTaskGroup { group in
      group.addTask { [sessions] in await sessions.run() }
      await sessions.set(entry(1, ScriptedTokenEndpoint()), for: .sample)
      _ = await sessions.ask(.awaitReading, of: .sample)
      await sessions.stop(timeout: .zero)
      #expect(await sessions.ask(.refresh, of: .sample)?.answer.response == .rejected(.stopping))
      await sessions.set(entry(2, ScriptedTokenEndpoint()), for: .sample)
      #expect(
        await sessions.ask(.refresh, of: .sample)?.answer.response == .rejected(.stopping), "nothing is begun any more")
      await sessions.set(nil, for: .sample)
      #expect(await sessions.ask(.refresh, of: .sample)?.answer.response == nil)
    }
  }

  @Test("A token that nothing can renew stays where others accept it, and else its session ends")
  func refusedAlone() async throws {
    var credential = Credential.sample(1, issuedAt: clock.now())
    credential.grant.refreshToken = nil
    let store = MemoryCredentialStore(.grant(credential))
    try await withThrowingTaskGroup { group in
      group.addTask { [sessions] in await sessions.run() }
      await sessions.set(entry(1, ScriptedTokenEndpoint(), store), for: .sample)
      _ = await sessions.ask(.awaitReading, of: .sample)
      let token = Token.sample(1).fingerprint
      let again = try await sessions.tokenRejected(APIRejection(token, isAcceptedElsewhere: true), of: .sample)
      #expect(again.token.fingerprint == token)
      await #expect(throws: BearerFailure.noSession) {
        try await sessions.tokenRejected(APIRejection(token), of: .sample)
      }
      await sessions.stop(timeout: .zero)
    }
  }

  @Test("What is done to a session while it is replaced is done to the one that follows, too")
  func reaches() async throws {
    await withTaskGroup { group in
      group.addTask { [sessions] in await sessions.run() }
      let next = entry(2, ScriptedTokenEndpoint())
      await sessions.set(entry(1, ScriptedTokenEndpoint()), for: .sample)
      var isFirst = true
      await sessions.forEachCurrent(.sample) { service in
        if isFirst { await sessions.set(next, for: .sample) }
        isFirst = false
        await service.lock(.user)
      }
      #expect(await next.service.snapshot().state == .locked(.explicit(.user)))
      await sessions.stop(timeout: .zero)
    }
  }
}
