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

  private func entry(_ keeping: PendingRevocation.Keeping) -> SessionDirectory.Entry {
    let service = SessionService(
      account: .sample, settings: .obeyingEveryLock, store: MemoryCredentialStore(.nothing), endpoint: tokens,
      clock: clock, logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }), seed: 1,
      publish: { _, _ in })
    return SessionDirectory.Entry(
      service: service, signIn: ScriptedSignInEndpoint(), place: "place", revocations: keeping)
  }

  /// Runs session and revocations meanwhile; nobody is signed in.
  private func running(
    _ keeping: PendingRevocation.Keeping = .ownKey, _ body: (SessionDirectory.Entry) async throws -> Void
  ) async throws {
    let entry = entry(keeping)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { [sessions] in await sessions.run() }
      group.addTask { [revocations] in await revocations.run() }
      await sessions.set(entry, for: .sample)
      _ = await entry.service.call(.awaitReading)
      await revocations.sessionChanged(.sample, .unauthenticated(signedOut: true), nil)
      try await body(entry)
      await revocations.stop()
      await sessions.stop(patience: .zero)
    }
  }

  /// The next line of the log.
  private func nextLine() async -> String {
    for await record in log.stream { return record.message }
    return ""
  }

  private var credential: Credential { .sample(1, issuedAt: clock.now()) }

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
      #expect(await nextLine().hasSuffix("has been revoked now."))
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
      #expect(await nextLine().contains("has been revoked now"))
      #expect(await revocations.revoke([], of: entry) == .none)
    }
  }

  @Test("what was kept before a restart is revoked after it, by the time alone")
  func restarted() async throws {
    try await store.keep(
      PendingRevocation(of: credential, .sample, id: "1", keeping: .ownKey, at: clock.now()))
    try await running { _ in
      #expect(await nextLine().contains("has been revoked now"))
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
      #expect(await nextLine().contains("withdraw this client's access at the provider"))
    }
    #expect(store.kept.isEmpty)
  }

  @Test("a provider that refuses for good is not asked again, and the log says why")
  func refused() async throws {
    try await running { entry in
      tokens.answersRevocations(.unavailable(retryAfter: nil))
      _ = await revocations.revoke([credential], of: entry)
      tokens.answersRevocations(.refused(message: "https://id.example.com does not revoke it: HTTP 400."))
      await revocations.networkReturned()
      #expect(await nextLine().hasSuffix("is not revoked: https://id.example.com does not revoke it: HTTP 400."))
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
      #expect(await nextLine().contains("has been revoked now"))
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
      #expect(await nextLine().contains("has been revoked now"))
    }
  }

  @Test("while the same user is signed in again nothing is revoked, and after the next sign-out it is")
  func sameUser() async throws {
    try await running { entry in
      tokens.answersRevocations(.unavailable(retryAfter: nil))
      _ = await revocations.revoke([credential], of: entry)
      tokens.answersRevocations(.revoked)
      await revocations.sessionChanged(.sample, .authenticated, .sample)
      await revocations.networkReturned()
      #expect(tokens.revoked.count == 1)
      await revocations.sessionChanged(.sample, .unauthenticated(signedOut: true), nil)
      #expect(await nextLine().contains("has been revoked now"))
    }
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
      #expect(await nextLine().contains("has been revoked now"))
    }
  }

  @Test("without its account nothing is sent, and it stays for when the account is back")
  func removedAccount() async throws {
    try await running { entry in
      tokens.answersRevocations(.unavailable(retryAfter: nil))
      _ = await revocations.revoke([credential], of: entry)
      await sessions.set(nil, for: .sample)
      await clock.waitForSleeper()
      clock.advance(by: .seconds(60))
      // It has asked for the account by then.
      await clock.waitForSleeper()
      #expect(tokens.revoked.count == 1 && store.kept.count == 1)
      await sessions.set(self.entry(.ownKey), for: .sample)
      tokens.answersRevocations(.revoked)
      await revocations.networkReturned()
      #expect(await nextLine().contains("has been revoked now"))
    }
  }
}
