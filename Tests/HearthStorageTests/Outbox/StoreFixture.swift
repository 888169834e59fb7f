import HearthCore
import TestSupport
import Testing

@testable import HearthStorage

/// An outbox on disk, with the words the tests use for what they do to it.
struct StoreFixture: Sendable {
  let folder: TemporaryFolder
  let store: SQLiteOutboxStore
  var now = Sample.start
  var policy = DeliveryPolicy(OutboxSettings())
  var settings = OutboxSettings()

  var path: String { folder.file("outbox.sqlite") }

  @discardableResult
  func add(
    _ drafts: OutboxDraft..., subject: Subject? = Sample.alice
  ) async throws -> [OutboxReceipt] {
    try await store.enqueue(drafts.map { try new($0, subject) }, within: settings, at: now).receipts
  }

  func new(_ draft: OutboxDraft, _ subject: Subject? = Sample.alice) throws -> NewOutboxItem {
    let id = ItemID.make(at: now, random: (UInt64.random(in: 0...UInt64.max), UInt64.random(in: 0...UInt64.max)))
    return NewOutboxItem(id: id, draft: draft, url: try draft.checked(maxBody: 1 << 20), subject: subject)
  }

  func claim(
    _ finished: [FinishedDelivery] = [], subject: Subject? = Sample.alice, limit: Int = 100, lanes: Int? = nil,
    unordered: Int? = nil,
    follows: Bool = false,
    open: Set<Origin> = [Sample.origin], probed: Set<Origin> = [], configured: Set<Origin>? = nil,
    trusted: Bool = true, account: AccountName = Sample.work
  ) async throws -> (deliveries: [Delivery], claimed: OutboxCompletion.Claimed, completion: OutboxCompletion) {
    let claim = OutboxClaim(
      account: account, subject: subject, lanes: lanes ?? limit, unordered: unordered ?? limit, takesFollowers: follows,
      open: open, probed: probed,
      configured: configured ?? open.union(probed), agreedTime: trusted ? now : nil, policy: policy)
    let completion = try await store.complete(finished, claiming: [claim], at: now)
    let claimed = try #require(completion.claimed[account])
    return (claimed.batches.flatMap(\.deliveries), claimed, completion)
  }

  func finish(_ delivery: Delivery, _ outcome: DeliveryOutcome) async throws -> [OutboxItem] {
    try await store.complete([FinishedDelivery(number: delivery.number, outcome: outcome)], claiming: [], at: now)
      .changed
  }

  func wait(_ seconds: Int64, unknown: Bool = false, status: Int? = 503) -> DeliveryOutcome {
    .waiting(
      DeliveryOutcome.Wait(
        until: now + .seconds(seconds), unknownSince: unknown ? now : nil, isConflict: false, status: status,
        error: "no"))
  }

  func state(_ id: String) async throws -> OutboxItem.State? { try await store.item(id)?.state }

  /// Closes nothing: the check opens the database beside the store, which stands still.
  func expectSound(_ location: SourceLocation = #_sourceLocation) throws {
    #expect(try OutboxCheck.flaws(at: path) == [], sourceLocation: location)
  }
}

/// Runs a test on an outbox in a folder of its own, and checks the whole outbox afterwards.
func withStore(_ body: (inout StoreFixture) async throws -> Void) async throws {
  let folder = TemporaryFolder()
  defer { folder.remove() }
  let opened = try SQLiteOutboxStore.open(at: folder.file("outbox.sqlite"), now: Sample.start)
  var fixture = StoreFixture(folder: folder, store: opened.store)
  try await body(&fixture)
  try fixture.expectSound()
}

extension Delivery {
  var path: String { request.url.target }
}
