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
    _ number: Int, _ endpoint: ScriptedTokenEndpoint, _ store: MemoryCredentialStore? = nil,
    publish: @escaping @Sendable ([SessionEvent], SessionStatus) -> Void = { _, _ in }
  ) -> SessionDirectory.Entry {
    let service = SessionService(
      account: .sample, settings: .obeyingEveryLock,
      store: store ?? MemoryCredentialStore(.grant(.sample(number, issuedAt: clock.now()))), endpoint: endpoint,
      clock: clock,
      logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }), seed: 1, publish: publish)
    return SessionDirectory.Entry(service: service, signIn: ScriptedSignInEndpoint())
  }

  @Test(
    "A session that another configuration leaves alive lets its refresh land, and asks the provider that is configured next"
  )
  func goesOn() async throws {
    let (before, after) = (ScriptedTokenEndpoint(), ScriptedTokenEndpoint())
    try await withThrowingTaskGroup { group in
      group.addTask { [sessions] in await sessions.run() }
      var entry = entry(1, before)
      await sessions.add(entry)
      _ = await sessions.answer(to: .awaitReading)
      async let asked = sessions.answer(to: .refresh)
      await before.waitForRequests(1)
      entry.offer = TokenOffer(scopes: ["mail"])
      var settings = SessionSettings.obeyingEveryLock
      settings.refresh.margin = .seconds(60)
      await entry.service.configured(settings, endpoint: after)
      await sessions.update(entry)
      #expect(await sessions[.sample]?.offer == entry.offer, "nobody waits for the provider")
      #expect(await sessions.answer(to: .token(minValidity: nil))?.result.isSuccess == true)
      before.answer(.granted(.sample(2)))
      let answer = try #require(await asked)
      #expect(answer.result.isSuccess && answer.status.token?.fingerprint == Token.sample(2).fingerprint)
      let refreshAt = try #require(answer.status.token?.refreshAt)
      #expect(refreshAt >= clock.now() + .seconds(3600 - 66), "by the new margin")
      clock.advance(by: .seconds(1))
      async let next = sessions.ask(.refresh, of: .sample)
      await after.waitForRequests(1)
      after.answer(.granted(.sample(3)))
      let renewed = try await next.entry
      #expect(renewed.service === entry.service)
      #expect(before.requests.count == 1)
      await sessions.stop(timeout: .zero)
    }
  }

  @Test("A lock of the system reaches a session from when on its account names it")
  func locksOnceNamed() async {
    await withTaskGroup { group in
      group.addTask { [sessions] in await sessions.run() }
      let entry = entry(1, ScriptedTokenEndpoint())
      await sessions.add(entry)
      await entry.service.configured(SessionSettings())
      await sessions.update(entry)
      await sessions.change(.screen, isSet: true)
      #expect(await sessions.answer(to: .awaitReading)?.status.state == .authenticated)
      await entry.service.configured(.obeyingEveryLock)
      await sessions.update(entry)
      #expect(await sessions.answer(to: .awaitReading)?.status.state == .locked(.explicit(.screen)))
      await sessions.stop(timeout: .zero)
    }
  }

  @Test("A lock of the system reaches every session, and those that follow, until it is removed")
  func locksAll() async {
    func state() async -> SessionState? { await sessions.answer(to: .awaitReading)?.status.state }
    await withTaskGroup { group in
      group.addTask { [sessions] in await sessions.run() }
      await sessions.add(entry(1, ScriptedTokenEndpoint()))
      #expect(await state() == .authenticated)
      await sessions.change(.screen, isSet: true)
      #expect(await state() == .locked(.explicit(.screen)))
      await sessions.remove(.sample)
      await sessions.add(entry(1, ScriptedTokenEndpoint()))
      #expect(await state() == .locked(.explicit(.screen)), "the session that follows")
      await sessions.change(.screen, isSet: false)
      #expect(await state() == .authenticated)
      await sessions.stop(timeout: .zero)
    }
  }

  @Test("A call is refused when all is shut down, and unanswered where the account was taken away")
  func stops() async {
    await withTaskGroup { group in
      group.addTask { [sessions] in await sessions.run() }
      await sessions.add(entry(1, ScriptedTokenEndpoint()))
      _ = await sessions.answer(to: .awaitReading)
      await sessions.stop(timeout: .zero)
      #expect(await sessions.answer(to: .refresh)?.result.failure == .shuttingDown)
      await sessions.add(entry(2, ScriptedTokenEndpoint()))
      #expect(await sessions.answer(to: .refresh)?.result.failure == .shuttingDown, "nothing is begun any more")
      await sessions.remove(.sample)
      #expect(await sessions.answer(to: .refresh)?.status == nil)
    }
  }

  @Test("A token that nothing can renew stays where others accept it, and else its session ends")
  func refusedAlone() async throws {
    var credential = Credential.sample(1, issuedAt: clock.now())
    credential.grant.refreshToken = nil
    let store = MemoryCredentialStore(.grant(credential))
    try await withThrowingTaskGroup { group in
      group.addTask { [sessions] in await sessions.run() }
      await sessions.add(entry(1, ScriptedTokenEndpoint(), store))
      _ = await sessions.answer(to: .awaitReading)
      let token = Token.sample(1).fingerprint
      let again = try await sessions.tokenRejected(APIRejection(token, isAcceptedElsewhere: true), of: .sample)
      #expect(again.token.fingerprint == token)
      let failure = await #expect(throws: Failure.self) {
        try await sessions.tokenRejected(APIRejection(token), of: .sample)
      }
      #expect(failure?.kind == .reauthRequired && failure?.action == .signIn)
      await sessions.stop(timeout: .zero)
    }
  }

  /// Has the session's refresh hang while `body` runs, and land after it.
  private func whileRefreshing(
    _ store: MemoryCredentialStore, _ body: (SessionDirectory.Entry, ScriptedTokenEndpoint) async -> Void
  ) async -> SessionAnswer<Void>? {
    let endpoint = ScriptedTokenEndpoint()
    return await withTaskGroup { group in
      group.addTask { [sessions] in await sessions.run() }
      let entry = entry(1, endpoint, store)
      await sessions.add(entry)
      _ = await sessions.answer(to: .awaitReading)
      async let asked = sessions.answer(to: .refresh)
      await endpoint.waitForRequests(1)
      await body(entry, endpoint)
      endpoint.answer(.granted(.sample(2)))
      let answer = await asked
      await sessions.stop(timeout: .zero)
      return answer
    }
  }

  private func file() -> SimulatedDisk.File { .grant(.sample(1, issuedAt: clock.now())) }

  @Test("A refresh in flight lands in the place that is configured meanwhile, and the one before keeps no key")
  func landsElsewhere() async {
    let (before, after) = (MemoryCredentialStore(file()), MemoryCredentialStore(file()))
    let answer = await whileRefreshing(before) { entry, _ in
      await entry.service.configured(.obeyingEveryLock, store: after)
      #expect(await sessions.answer(to: .token(minValidity: nil))?.result.isSuccess == true)
    }
    #expect(answer?.result.isSuccess == true && answer?.status.state == .authenticated)
    #expect(before.written.isEmpty && before.log.last == "lock")
    #expect(after.written.map(\.grant.accessToken) == [.sample(2)])
  }

  @Test("A grant and a lock that could not be written are written to the place that is configured then")
  func unwritten() async {
    let (before, after) = (MemoryCredentialStore(file()), MemoryCredentialStore())
    let answer = await whileRefreshing(before) { entry, endpoint in
      before.cannotBeWritten(AccessFailure(.storageError, detail: "read-only"))
      endpoint.answer(.granted(.sample(2)))
      _ = await sessions.answer(to: .refresh)
      await entry.service.lock(.user)
      await entry.service.configured(.obeyingEveryLock, store: after)
      clock.advance(by: .seconds(1))
      await entry.service.rehydrate()
      #expect(after.written.map(\.grant.accessToken) == [.sample(2)] && after.memory.lockedByUser)
      #expect(await entry.service.snapshot().state == .locked(.explicit(.user)))
    }
    #expect(answer?.result.isSuccess == true)
  }

  @Test("The place that is configured is watched, also where it changed before it was", .timeLimit(.minutes(1)))
  func watches() async {
    let (before, after) = (MemoryCredentialStore(file()), MemoryCredentialStore(file()))
    await withTaskGroup { group in
      group.addTask { [sessions] in await sessions.run() }
      let entry = entry(1, ScriptedTokenEndpoint(), before)
      await sessions.add(entry)
      _ = await sessions.answer(to: .awaitReading)
      await entry.service.configured(.obeyingEveryLock, store: after)
      for number in [5, 6] {
        after.becomes(.grant(.sample(number, issuedAt: clock.now())))
        let token = Token.sample(number).fingerprint
        while await entry.service.snapshot().token?.fingerprint != token { await Task.yield() }
      }
      await sessions.stop(timeout: .zero)
    }
  }

  @Test("A lock and a sign-out act at once while the store is replaced and a refresh is under way")
  func actsAtOnce() async {
    let (before, after) = (MemoryCredentialStore(file()), MemoryCredentialStore(file()))
    _ = await whileRefreshing(before) { entry, _ in
      await entry.service.configured(.obeyingEveryLock, store: after)
      await entry.service.lock(.user)
      #expect(sessions.readyToken(of: .sample, nil) == nil && sessions.heldToken(of: .sample) == nil)
      let locked = await sessions.answer(to: .token(minValidity: nil))?.result
      #expect(locked?.failure?.message == SessionState.locked(.explicit(.user)).message(for: .sample))
      let answer = await sessions.answer(to: .signOut(revoke: true))
      let signedOut = try? answer?.result.get()
      #expect(signedOut?.credentials == [.sample(1, issuedAt: clock.now())] && signedOut?.isComplete == true)
      #expect(answer?.status.state == .unauthenticated(signedOut: true) && after.disk.grant == nil)
    }
  }

  @Test("An account that is removed is unknown at once, and one that is added again waits for the refresh before it")
  func comesBack() async {
    let store = MemoryCredentialStore(file())
    let (endpoint, log) = (ScriptedTokenEndpoint(), LogRecorder())
    await withTaskGroup { group in
      group.addTask { [sessions] in await sessions.run() }
      await sessions.add(entry(1, endpoint, store) { _, _ in log.logger.info("published") })
      _ = await sessions.answer(to: .awaitReading)
      async let asked = sessions.answer(to: .refresh)
      await endpoint.waitForRequests(1)
      await sessions.remove(.sample)
      #expect(await sessions[.sample] == nil && sessions.readyToken(of: .sample, nil) == nil)
      let published = log.records.count
      let reads = store.log.filter { $0 == "read" }.count
      await sessions.add(entry(1, ScriptedTokenEndpoint(), store))
      #expect(await sessions[.sample]?.service.snapshot().state == .hydrating)
      #expect(store.log.filter { $0 == "read" }.count == reads)
      async let token = sessions.answer(to: .token(minValidity: nil))
      endpoint.answer(.granted(.sample(2)))
      let given = try? await token?.result.get()
      #expect(given == .sample(.sample(2, issuedAt: clock.now())))
      let isRefreshed = await asked?.result.isSuccess
      #expect(isRefreshed == true && log.records.count == published, "nobody hears of it")
      await sessions.stop(timeout: .zero)
    }
  }
}

extension SessionDirectory {
  /// The answer of the account's session, or nil if there is none.
  fileprivate func answer<Answer>(to call: TypedCall<Answer>) async -> SessionAnswer<Answer>? {
    try? await ask(call, of: .sample).answer
  }
}
