import HearthCore
import HearthStorage
import Synchronization
import TestSupport
import Testing

/// The ports of the simulated world keep the contracts of the real ones, as long as the world is at peace.
@Suite("The contracts of the ports, in the simulated world", .timeLimit(.minutes(1)))
struct SimulatedPortTests {
  @Test("CredentialStore is kept by SimulatedCredentialStore", arguments: CredentialStoreContract.facts)
  func credentialStore(_ fact: Fact<CredentialStoreBench>) async throws {
    try await inPeace { world in
      let account = SimulatedAccount(.sample, SimulatedProvider(grace: nil, lifetime: .seconds(3600)))
      account.disk.moment = .init(now: .sample)
      try await fact.check(
        CredentialStoreBench(
          store: { SimulatedCredentialStore(account, in: world, of: 1) },
          credential: { .sample($0, issuedAt: .sample) }, setAway: { account.disk.isAway = $0 },
          setFull: { account.disk.isFull = $0 }, delete: { account.disk.file = .nothing },
          spoil: { account.disk.file = .garbage },
          replace: { account.disk.file = .grant(.sample($0, issuedAt: .sample)) },
          setClock: { account.disk.moment?.set(by: $0) }, reboot: { account.disk.moment?.boot += "'" }))
    }
  }

  @Test("OutboxStore is kept by SimulatedOutboxStore", arguments: OutboxStoreContract.facts)
  func outboxStore(_ fact: Fact<OutboxStoreBench>) async throws {
    let folder = TemporaryFolder(isFast: true)
    defer { folder.remove() }
    let clock = ManualClock()
    try await inPeace { world in
      let open: @Sendable () throws -> any OutboxStore = {
        let file = try SQLiteOutboxStore.open(at: folder.file("outbox.sqlite"), clock: clock)
        return SimulatedOutboxStore(file.store, in: world, of: 1)
      }
      try await fact.check(OutboxStoreBench(try open(), clock: clock, reopen: open))
    }
  }

  @Test(
    "TokenEndpoint is kept by SimulatedTokenEndpoint",
    arguments: TokenEndpointContract.facts + TokenEndpointContract.refreshFacts)
  func tokenEndpoint(_ fact: Fact<TokenEndpointBench>) async throws {
    try await inPeace { world in
      let account = SimulatedAccount(.sample, SimulatedProvider(grace: nil, lifetime: .seconds(3600)))
      let credential = account.provider.signIn(at: world.elapsed, world.now)
      let token = try #require(credential.grant.refreshToken)
      try await fact.check(
        TokenEndpointBench(
          { manner in
            world.isOnline = manner != .isOutOfReach
            (account.mood, account.fate) = Self.mood(manner)
            if manner == .refusesForGood { account.provider.revoke(token) }
            return SimulatedTokenEndpoint(account, in: world, of: 1)
          }, credential: credential, revokes: true, requests: { account.provider.isCurrent(token) ? 0 : 1 }))
    }
  }

  /// The mood and the fate by which a simulated provider does surely what is expected of it.
  private static func mood(_ manner: TokenEndpointBench.Manner) -> (SimulatedAccount.Mood, fate: Int) {
    switch manner {
    case .grants, .refusesForGood, .isOutOfReach: (.fine, 11)
    case .refusesTheClient: (.misconfigured, 0)
    case .refusesUnclearly: (.strange, 0)
    case .isDown: (.down, 0)
    case .losesReplies: (.lossy, 0)
    }
  }

  /// Runs a check in a world where a daemon lives and nothing disturbs it.
  private func inPeace(_ check: @escaping @Sendable (OutboxSimulation) async throws -> Void) async throws {
    let end = Mutex<Result<Void, any Error>?>(nil)
    try await onThread {
      let world = OutboxSimulation(seed: 1)
      try world.start()
      world.executor.begin {
        let result: Result<Void, any Error>
        do { result = .success(try await check(world)) } catch { result = .failure(error) }
        end.withLock { $0 = result }
      }
      try world.settle()
      while end.withLock({ $0 == nil }) { try world.advance() }
      try world.crash()
    }
    try end.withLock(\.self)?.get()
  }
}
