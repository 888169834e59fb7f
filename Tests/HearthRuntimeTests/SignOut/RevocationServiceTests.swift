import HearthControl
import HearthCore
import Logging
import TestSupport
import Testing

@testable import HearthRuntime

@Suite("Revoking later", .timeLimit(.minutes(1)))
struct RevocationServiceTests {
  let clock = ManualClock()
  let store = MemoryRevocationStore()
  let tokens = ScriptedTokenEndpoint()
  let sessions = SessionDirectory()
  let log = LogRecorder()
  let revocations: RevocationService

  init() {
    revocations = RevocationService(sessions: sessions, store: store, clock: clock, logger: log.logger)
  }

  func entry(
    _ keeping: PendingRevocation.Keeping, account: AccountName = .sample, revokesOneGrant: Bool = false
  ) -> SessionDirectory.Entry {
    let service = SessionService(
      account: account, settings: .obeyingEveryLock, store: MemoryCredentialStore(.nothing), endpoint: tokens,
      clock: clock, logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }), seed: 1,
      leave: { [revocations] in await revocations.leave($0, of: account, keeping) }, publish: { _, _ in })
    return SessionDirectory.Entry(
      service: service, signIn: ScriptedSignInEndpoint(), revocations: keeping,
      revokesOneGrant: revokesOneGrant)
  }

  /// Signs the user in to this account, and out of it, as the daemon's services learn of it.
  func signIn(to entry: SessionDirectory.Entry, as subject: Subject = .sample) async {
    try? await entry.service.adopt(.sample(7, subject: subject, issuedAt: clock.now()), isTried: true)
    await revocations.sessionChanged(entry.service.account, .authenticated, subject)
  }

  func signOut(of entry: SessionDirectory.Entry) async {
    _ = await entry.service.call(.signOut(revoke: false))
    await revocations.sessionChanged(entry.service.account, .unauthenticated(signedOut: true), nil)
  }

  /// Returns once a grant has been looked at and waits: its next look is planned then, sooner than anything of a session.
  func looked(within wait: Duration = .seconds(60)) async {
    while clock.nextDeadline.map({ $0 > clock.now() + wait }) ?? true { await Task.yield() }
  }

  /// Runs session and revocations meanwhile; nobody is signed in.
  func running(
    _ keeping: PendingRevocation.Keeping = .ownKey, revokesOneGrant: Bool = false,
    _ body: (SessionDirectory.Entry) async throws -> Void
  ) async throws {
    let entry = entry(keeping, revokesOneGrant: revokesOneGrant)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { [sessions] in await sessions.run() }
      group.addTask { [revocations] in await revocations.run() }
      await sessions.add(entry)
      _ = await entry.service.call(.awaitReading)
      await revocations.sessionChanged(.sample, .unauthenticated(signedOut: true), nil)
      try await body(entry)
      await revocations.stop()
      await sessions.stop(timeout: .zero)
    }
  }

  /// The next line of the log.
  func nextLine() async -> String {
    for await record in log.stream { return record.message }
    return ""
  }

  var credential: Credential { .sample(1, issuedAt: clock.now()) }

  @Test("what is revoked at once is kept nowhere")
  func atOnce() async throws {
    try await running { entry in
      #expect(await revocations.revoke([credential, .sample(2, issuedAt: clock.now())], of: entry) == .done)
      #expect(tokens.revoked.count == 2 && store.kept.isEmpty)
      #expect(await revocations.revoke([], of: entry) == .none, "there was nothing")
      tokens.answersRevocations(.refused(message: "HTTP 400."))
      #expect(await revocations.revoke([credential], of: entry) == .none && store.kept.isEmpty)
    }
  }

  @Test("what cannot be asked is kept, revoked when the network is back, and forgotten then")
  func later() async throws {
    try await running { entry in
      tokens.answersRevocations(.unavailable(retryAfter: nil))
      #expect(await revocations.revoke([credential], of: entry) == .later)
      #expect(store.kept.map(\.credential.grant.accessToken) == [credential.grant.accessToken])
      tokens.answersRevocations(.revoked)
      await revocations.networkReturned()
      #expect(await nextLine().hasSuffix("has been revoked."))
      #expect(tokens.revoked.count == 2)
    }
    #expect(store.kept.isEmpty)
  }

  @Test("a second sign-out has what is still to be revoked tried at once")
  func signedOutAgain() async throws {
    try await running { entry in
      tokens.answersRevocations(.unavailable(retryAfter: nil))
      _ = await revocations.revoke([credential], of: entry)
      tokens.answersRevocations(.revoked)
      #expect(await revocations.revoke([], of: entry) == .later)
      #expect(await nextLine().contains("has been revoked"))
      #expect(await revocations.revoke([], of: entry) == .none)
    }
  }

  @Test("what was kept before a restart is revoked after it, by the time alone")
  func restarted() async throws {
    try await store.keep(
      PendingRevocation(of: credential, .sample, id: "1", keeping: .ownKey, at: clock.now()))
    try await running { _ in
      #expect(await nextLine().contains("has been revoked"))
      #expect(tokens.revoked.count == 1)
    }
    #expect(store.kept.isEmpty)
  }

  @Test("what never comes to an answer is given up after seven days, and the log says what to do")
  func givenUp() async throws {
    try await running { entry in
      tokens.answersRevocations(.unavailable(retryAfter: nil))
      _ = await revocations.revoke([credential], of: entry)
      await clock.waitForSleeper()
      clock.advance(by: .seconds(7 * 86_400))
      #expect(await nextLine().contains("revoke this client's access at the provider"))
    }
    #expect(store.kept.isEmpty)
  }

  @Test("a provider that refuses for good is not asked again, and the log says why")
  func refused() async throws {
    try await running { entry in
      tokens.answersRevocations(.unavailable(retryAfter: nil))
      _ = await revocations.revoke([credential], of: entry)
      tokens.answersRevocations(.refused(message: "https://id.example.com rejected the revocation request: HTTP 400."))
      await revocations.networkReturned()
      #expect(
        await nextLine().hasSuffix(
          "was not revoked: https://id.example.com rejected the revocation request: "
            + "HTTP 400."))
    }
    #expect(store.kept.isEmpty)
  }

  @Test("a grant that a person's seal kept from the disk is not put there, and is tried while Hearth runs")
  func memory() async throws {
    try await running(.memory) { entry in
      tokens.answersRevocations(.unavailable(retryAfter: nil))
      #expect(await revocations.revoke([credential], of: entry) == .later && store.kept.isEmpty)
      tokens.answersRevocations(.revoked)
      await revocations.networkReturned()
      #expect(await nextLine().contains("has been revoked"))
    }
  }

  @Test("a full disk is told, and the grant is tried while Hearth runs")
  func fullDisk() async throws {
    store.cannotBeWritten(.full)
    try await running { entry in
      tokens.answersRevocations(.unavailable(retryAfter: nil))
      #expect(await revocations.revoke([credential], of: entry) == .later)
      #expect(await nextLine().contains("no space left on device"))
      tokens.answersRevocations(.revoked)
      await revocations.networkReturned()
      #expect(await nextLine().contains("has been revoked"))
    }
  }

  @Test("while the same user is signed in again nothing is revoked, and after the next sign-out it is")
  func sameUser() async throws {
    try await running { entry in
      tokens.answersRevocations(.unavailable(retryAfter: nil))
      _ = await revocations.revoke([credential], of: entry)
      tokens.answersRevocations(.revoked)
      await looked()
      await signIn(to: entry)
      clock.advance(by: .seconds(60))
      await looked(within: .seconds(600))
      await revocations.networkReturned()
      await looked(within: .seconds(600))
      #expect(tokens.revoked.count == 1)
      await signOut(of: entry)
      #expect(await nextLine().contains("has been revoked"))
    }
  }

  @Test("what nobody uses is kept and not revoked while its user is signed in, in whatever account, and then it is")
  func leftover() async throws {
    let other = AccountName("other")!
    try await running { entry in
      let second = self.entry(.ownKey, account: other)
      await sessions.add(second)
      _ = await second.service.call(.awaitReading)
      await signIn(to: second)
      await revocations.leave(credential, of: .sample, .ownKey)
      await looked()
      #expect(tokens.revoked.isEmpty && store.kept.count == 1)
      await signOut(of: second)
      #expect(await nextLine().contains("has been revoked"))
      #expect(tokens.revoked.map(\.grant.accessToken) == [credential.grant.accessToken])
    }
    #expect(store.kept.isEmpty)
  }

  @Test("another user's leftover is revoked at once, and so is any where one revocation ends one grant")
  func atOnceAllTheSame() async throws {
    let ada = Subject(issuer: "https://id.example.com", id: "ada")
    for (user, revokesOneGrant) in [(ada, false), (Subject.sample, true)] {
      let bench = RevocationServiceTests()
      try await bench.running(revokesOneGrant: revokesOneGrant) { entry in
        await bench.signIn(to: entry, as: user)
        await bench.revocations.leave(bench.credential, of: .sample, .ownKey)
        #expect(await bench.nextLine().contains("has been revoked"))
      }
    }
  }

  @Test("the user's own sign-out revokes at once, though the same user is signed in to another account")
  func ownSignOut() async throws {
    let other = AccountName("other")!
    try await running { entry in
      let second = self.entry(.ownKey, account: other)
      await sessions.add(second)
      await signIn(to: second)
      #expect(await revocations.revoke([credential], of: entry) == .done)
    }
  }

  @Test("what an old refresh still brings after the same user has signed in again ends nothing")
  func lateRefresh() async throws {
    try await running { entry in
      await signIn(to: entry)
      clock.advance(by: .seconds(1))
      async let asked = entry.service.call(.refresh)
      await tokens.waitForRequests(1)
      _ = await entry.service.ask(.signIn(.password), GrantSteps { _ in .granted(.sample(8)) })
      tokens.answer(.granted(.sample(2, subject: nil)))
      _ = await asked
      while store.kept.isEmpty { await Task.yield() }
      await looked()
      #expect(tokens.revoked.isEmpty)
      await signOut(of: entry)
      #expect(await nextLine().contains("has been revoked"))
      #expect(tokens.revoked.map(\.grant.accessToken) == [.sample(2)])
    }
  }

  @Test("what was looked at before its session had been read is free as soon as that says that nobody is signed in")
  func unreadSession() async throws {
    try await running { entry in
      let other = AccountName("other")!
      await revocations.leave(credential, of: other, .ownKey)
      await looked()
      let second = self.entry(.ownKey, account: other)
      await sessions.add(second)
      _ = await second.service.call(.awaitReading)
      await revocations.sessionChanged(other, .unauthenticated(signedOut: true), nil)
      #expect(await nextLine().contains("has been revoked"))
    }
  }

  @Test("a leftover whose user stays signed in is given up after seven days, with a warning")
  func leftoverGivenUp() async throws {
    try await running { entry in
      await signIn(to: entry)
      await revocations.leave(credential, of: .sample, .ownKey)
      await looked()
      tokens.answer(.failed(.unavailable(message: "down", retryAfter: nil)))
      clock.advance(by: .seconds(7 * 86_400))
      #expect(await nextLine().contains("revoke this client's access at the provider"))
      #expect(tokens.revoked.isEmpty)
    }
    #expect(store.kept.isEmpty)
  }

  @Test("a clock that is set back by hours makes nobody wait for hours")
  func clockSetBack() async throws {
    try await running { entry in
      tokens.answersRevocations(.unavailable(retryAfter: nil))
      _ = await revocations.revoke([credential], of: entry)
      await clock.waitForSleeper()
      clock.step(by: .seconds(-36_000))
      tokens.answersRevocations(.revoked)
      clock.advance(by: .seconds(60))
      #expect(await nextLine().contains("has been revoked"))
    }
  }

  @Test("without its account nothing is sent, and it stays for when the account is back")
  func removedAccount() async throws {
    try await running { entry in
      tokens.answersRevocations(.unavailable(retryAfter: nil))
      _ = await revocations.revoke([credential], of: entry)
      await sessions.remove(.sample)
      await clock.waitForSleeper()
      clock.advance(by: .seconds(60))
      // It has asked for the account by then.
      await clock.waitForSleeper()
      #expect(tokens.revoked.count == 1 && store.kept.count == 1)
      let back = self.entry(.ownKey)
      await sessions.add(back)
      _ = await back.service.call(.awaitReading)
      tokens.answersRevocations(.revoked)
      await revocations.networkReturned()
      #expect(await nextLine().contains("has been revoked"))
    }
  }
}
