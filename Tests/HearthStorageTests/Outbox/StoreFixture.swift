import Dispatch
import HearthCore
import Synchronization
import TestSupport
import Testing

@testable import HearthStorage

/// An outbox on disk, with helpers for the tests.
struct StoreFixture: Sendable {
  let folder: TemporaryFolder
  let store: SQLiteOutboxStore
  let log: CommitLog
  let clock: ManualClock
  var policy = DeliveryPolicy(OutboxSettings())
  var settings = OutboxSettings()
  private let epochs = Epochs()

  /// The latest claim of each item.
  private final class Epochs: Sendable {
    let known = Mutex<[Int64: Int64]>([:])
  }

  init(folder: TemporaryFolder, store: SQLiteOutboxStore, clock: ManualClock) {
    self.folder = folder
    self.store = store
    self.clock = clock
    log = CommitLog(of: store)
  }

  init(opening path: String, in folder: TemporaryFolder) throws {
    let clock = ManualClock()
    self.init(folder: folder, store: try SQLiteOutboxStore.open(at: path, clock: clock).store, clock: clock)
  }

  /// The store's time.
  var now: Timestamp {
    get { clock.now() }
    nonmutating set { clock.jump(to: newValue) }
  }

  var path: String { folder.file("outbox.sqlite") }

  @discardableResult
  func add(
    _ drafts: OutboxDraft..., subject: Subject? = Sample.alice
  ) async throws -> [OutboxReceipt] {
    try await store.enqueue(drafts.map { try new($0, subject) }, within: settings)
  }

  func new(_ draft: OutboxDraft, _ subject: Subject? = Sample.alice) throws -> NewOutboxItem {
    let id = OutboxItem.makeID(at: now, random: (UInt64.random(in: 0...UInt64.max), UInt64.random(in: 0...UInt64.max)))
    return NewOutboxItem(id: id, draft: draft, url: try draft.checked(maxBody: 1 << 20), subject: subject)
  }

  func claim(
    _ settled: [Settlement] = [], releasing released: [Int64] = [], subject: Subject? = Sample.alice, limit: Int = 100,
    lanes: Int? = nil, unordered: Int? = nil, unanswered: Int = .max, bytes: Int = .max, follows: Bool = false,
    open: Set<Origin> = [Sample.origin], probed: Set<Origin> = [], configured: Set<Origin>? = nil,
    trusted: Bool = true, account: AccountName = Sample.work
  ) async throws -> (
    deliveries: [Delivery], claimed: OutboxExchange.Claimed, changed: [OutboxItem], nextExpiryAt: Timestamp?
  ) {
    let demand = OutboxDemand(
      account: account, subject: subject, lanes: lanes ?? limit, unordered: unordered ?? limit, unanswered: unanswered,
      bytes: bytes, takesFollowers: follows, open: open, probed: probed,
      configured: configured ?? open.union(probed), expiry: trusted ? .agreed(now) : .unconfirmed(now), policy: policy)
    _ = log.take()
    let exchange = try await store.exchange(settled, releasing: released, claiming: [demand])
    let claimed = try #require(exchange.claimed[account])
    epochs.known.withLock { known in
      for claim in claimed.claims {
        for delivery in claim.deliveries { known[delivery.number] = claim.epoch }
      }
    }
    return (claimed.claims.deliveries, claimed, log.take().changed, exchange.nextExpiryAt)
  }

  /// The epoch of the latest claim on this item.
  func epoch(_ delivery: Delivery) -> Int64 { epochs.known.withLock { $0[delivery.number] ?? 0 } }

  func begin(_ delivery: Delivery) -> Bool { (try? store.begin(delivery.number, of: epoch(delivery))) ?? false }

  func settlement(_ delivery: Delivery, _ outcome: DeliveryOutcome) -> Settlement {
    Settlement(epoch: epoch(delivery), number: delivery.number, outcome: outcome)
  }

  /// Returns the items that changed.
  @discardableResult
  func finish(_ delivery: Delivery, _ outcome: DeliveryOutcome) async throws -> [OutboxItem] {
    _ = log.take()
    _ = try await store.exchange([settlement(delivery, outcome)], releasing: [], claiming: [])
    return log.take().changed
  }

  func wait(_ seconds: Int64, unknown: Bool = false, status: Int? = 503) -> DeliveryOutcome {
    .waiting(
      DeliveryOutcome.Wait(
        duration: .seconds(seconds), unknownFor: unknown ? .zero : nil, isConflict: false, status: status,
        error: "no"))
  }

  /// Makes calls while nothing can be written, until so many wait for that, and returns once they are answered.
  func holdingConnection(
    until waiting: Int, _ call: (inout ThrowingTaskGroup<Void, any Error>) -> Void, meanwhile: () -> Void = {}
  ) async throws {
    let gate = DispatchSemaphore(value: 0)
    try await withThrowingTaskGroup(of: Void.self) { group in
      let (held, holds) = AsyncStream<Void>.makeStream()
      group.addTask {
        try await store.withConnection { _ in
          holds.finish()
          gate.wait()
        }
      }
      for await _ in held {}
      call(&group)
      while store.waitingRequests < waiting { await Task.yield() }
      meanwhile()
      gate.signal()
      try await group.waitForAll()
    }
  }

  func state(_ id: String) async throws -> OutboxItem.State? { try await store.item(id)?.state }

  /// Closes nothing: the check opens the database beside the store, which stands still.
  func expectSound(_ location: SourceLocation = #_sourceLocation) throws {
    let problems = try OutboxCheck.problems(at: path)
    #expect(problems == [], sourceLocation: location)
  }
}

/// Runs a test on an outbox in a folder of its own, and checks the whole outbox afterwards.
func withStore(_ body: (inout StoreFixture) async throws -> Void) async throws {
  let folder = TemporaryFolder()
  defer { folder.remove() }
  var fixture = try StoreFixture(opening: folder.file("outbox.sqlite"), in: folder)
  try await body(&fixture)
  try fixture.expectSound()
}

extension Delivery {
  var path: String { request.url.target }
}
