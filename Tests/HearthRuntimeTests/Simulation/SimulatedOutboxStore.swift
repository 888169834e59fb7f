import HearthCore
import HearthStorage
import TestSupport

/// How the disk with the outbox is disposed.
enum DiskMood {
  case fine
  /// No room for new items; the reserve is there for the rest.
  case full
  case broken
}

/// The real outbox on a disk that takes its time and can be full; a crash can come before a commit, and between a
/// commit and its event.
final class SimulatedOutboxStore: OutboxStore, @unchecked Sendable {
  private enum Purpose {
    case growth, settling, reading
  }

  private var store: SQLiteOutboxStore?
  private unowned let world: OutboxSimulation
  private let daemon: Int
  private var busyUntil = Duration.zero

  init(_ store: SQLiteOutboxStore, in world: OutboxSimulation, of daemon: Int) {
    self.store = store
    self.world = world
    self.daemon = daemon
  }

  func close() { store = nil }

  var isBroken: Bool { store?.isBroken ?? false }

  var notice: String? { store?.notice }

  /// What is on disk, for one who looks at it from outside.
  func look<Value: Sendable>(
    _ call: @escaping @Sendable (SQLiteOutboxStore) async throws(OutboxStoreFailure) -> Value
  ) throws(OutboxStoreFailure) -> Value {
    guard let store else { throw .unavailable("The outbox is closed.") }
    return try world.executor.standingStill { () throws(OutboxStoreFailure) in try await call(store) }
  }

  private func pass<Value: Sendable>(
    _ purpose: Purpose = .settling, takes: Bool = false,
    _ call: @escaping @Sendable (SQLiteOutboxStore) async throws(OutboxStoreFailure) -> Value
  ) async throws(OutboxStoreFailure) -> Value {
    // What is asked for first comes first.
    busyUntil = max(busyUntil, world.elapsed + world.diskTime)
    await world.wait(busyUntil - world.elapsed, daemon)
    guard world.lives(daemon) else { throw .unavailable("The daemon is gone.") }
    switch (purpose, world.disk) {
    case (_, .fine), (.reading, _), (.settling, .full): break
    case (.growth, .full), (.growth, .broken), (.settling, .broken): throw .unavailable("The disk is full.")
    }
    let value = try look(call)
    world.isChanged = true
    if takes { world.takenAt = world.elapsed }
    if world.chances(1, in: 4) {
      await world.wait(world.diskTime, daemon)
      guard world.lives(daemon) else { throw .unavailable("The daemon is gone.") }
    }
    return value
  }

  func recover(pausing paused: Set<AccountName>) async throws(OutboxStoreFailure) {
    try await pass { (store) throws(OutboxStoreFailure) in try await store.recover(pausing: paused) }
  }

  func enqueue(
    _ items: [NewOutboxItem], within settings: OutboxSettings
  ) async throws(OutboxStoreFailure) -> [OutboxReceipt] {
    try await pass(.growth) { (store) throws(OutboxStoreFailure) in
      try await store.enqueue(items, within: settings)
    }
  }

  func observe(_ receive: @escaping @Sendable (OutboxCommit) -> Void) { store?.observe(receive) }

  func exchange(
    _ settled: [Settlement], releasing released: [Int64], claiming demands: [OutboxDemand]
  ) async throws(OutboxStoreFailure) -> OutboxExchange {
    let asked = world.elapsed
    return try await pass(takes: true) { [self] (store) throws(OutboxStoreFailure) in
      var settled = settled
      let waited = world.elapsed - asked
      // A slow disk, or a sleep: the real store counts that, for it was told before it waited for its disk.
      if waited > .seconds(1) { for index in settled.indices { settled[index].age += waited } }
      return try await store.exchange(settled, releasing: released, claiming: demands)
    }
  }

  func begin(_ number: Int64, of claim: Int64) throws(OutboxStoreFailure) -> Bool {
    guard world.lives(daemon), let store else { return false }
    return try store.begin(number, of: claim)
  }

  func publishCounts() async {
    _ = try? await pass(.reading) { (store) throws(OutboxStoreFailure) in await store.publishCounts() }
  }

  func rehearse(
    _ items: [NewOutboxItem], within settings: OutboxSettings
  ) async throws(OutboxStoreFailure) -> [OutboxReceipt] {
    try await pass(.growth) { (store) throws(OutboxStoreFailure) in
      try await store.rehearse(items, within: settings)
    }
  }

  func item(_ id: String) async throws(OutboxStoreFailure) -> OutboxItem? {
    try await pass(.reading) { (store) throws(OutboxStoreFailure) in try await store.item(id) }
  }

  func list(_ query: OutboxQuery) async throws(OutboxStoreFailure) -> OutboxPage {
    try await pass(.reading) { (store) throws(OutboxStoreFailure) in try await store.list(query) }
  }

  func export(
    _ query: OutboxQuery, bytes: Int
  ) async throws(OutboxStoreFailure) -> ExportPage {
    try await pass(.reading) { (store) throws(OutboxStoreFailure) in
      try await store.export(query, bytes: bytes)
    }
  }

  func stats(of account: AccountName?) async throws(OutboxStoreFailure) -> OutboxStats {
    try await pass(.reading) { (store) throws(OutboxStoreFailure) in try await store.stats(of: account) }
  }

  func change(
    _ id: String, _ change: OutboxChange
  ) async throws(OutboxStoreFailure) -> OutboxItem {
    try await pass { (store) throws(OutboxStoreFailure) in
      try await store.change(id, change)
    }
  }

  func changeAll(
    of account: AccountName, in state: OutboxItem.State, _ change: OutboxChange, upTo place: Int64?, limit: Int
  ) async throws(OutboxStoreFailure) -> (count: Int, place: Int64) {
    try await pass { (store) throws(OutboxStoreFailure) in
      try await store.changeAll(of: account, in: state, change, upTo: place, limit: limit)
    }
  }

  func free(
    _ account: AccountName, configured: Set<Origin>, signedIn: Bool, limit: Int
  ) async throws(OutboxStoreFailure) -> Int {
    try await pass { (store) throws(OutboxStoreFailure) in
      try await store.free(account, configured: configured, signedIn: signedIn, limit: limit)
    }
  }

  func bind(
    _ account: AccountName, to subject: Subject, formerly former: Subject?, adopts: Bool, limit: Int
  ) async throws(OutboxStoreFailure) -> OutboxBinding {
    try await pass { (store) throws(OutboxStoreFailure) in
      try await store.bind(account, to: subject, formerly: former, adopts: adopts, limit: limit)
    }
  }

  func purge(
    _ account: AccountName, of subject: Subject?, limit: Int
  ) async throws(OutboxStoreFailure) -> Int {
    try await pass { (store) throws(OutboxStoreFailure) in
      try await store.purge(account, of: subject, limit: limit)
    }
  }

  func retryNow(_ account: AccountName, limit: Int) async throws(OutboxStoreFailure) -> Int {
    try await pass { [world] (store) throws(OutboxStoreFailure) in
      let waiting = OutboxQuery(account: account, state: .waiting, limit: 1000)
      let before = try await store.list(waiting).items
      let count = try await store.retryNow(account, limit: limit)
      world.areHastened(Set(before).subtracting(try await store.list(waiting).items), of: account)
      return count
    }
  }

  func expire(
    limit: Int, by agreedTime: Timestamp?
  ) async throws(OutboxStoreFailure) -> Timestamp? {
    try await pass { (store) throws(OutboxStoreFailure) in try await store.expire(limit: limit, by: agreedTime) }
  }

  func prune(
    keeping settings: OutboxSettings, limit: Int, by agreedTime: Timestamp?
  ) async throws(OutboxStoreFailure) -> OutboxPruning {
    try await pass { (store) throws(OutboxStoreFailure) in
      try await store.prune(keeping: settings, limit: limit, by: agreedTime)
    }
  }

  func setPaused(_ accounts: Set<AccountName>, _ isPaused: Bool) async throws(OutboxStoreFailure) {
    try await pass { (store) throws(OutboxStoreFailure) in try await store.setPaused(accounts, isPaused) }
  }

  func configure(_ accounts: Set<AccountName>) async throws(OutboxStoreFailure) -> Set<AccountName> {
    try await pass(.reading) { (store) throws(OutboxStoreFailure) in try await store.configure(accounts) }
  }
}
