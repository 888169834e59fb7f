import GRDB
import HearthCore
import TestSupport
import Testing

@testable import HearthStorage

@Suite("A full disk under the outbox")
struct FullDiskTests {
  private static let limits = OutboxLimits(items: 100_000, bytes: 1 << 30)

  private static func open(_ disk: FaultyDisk) async throws -> SQLiteOutboxStore {
    let opened = try SQLiteOutboxStore.open(at: disk.folder.file("outbox.sqlite"), now: Sample.start)
    #expect(opened.setAside == nil)
    try await opened.store.recover(at: Sample.start)
    return opened.store
  }

  /// Items of some 3 KiB, in several lanes; returns how many were taken before the store refused.
  private static func fill(_ store: SQLiteOutboxStore, upTo count: Int, from first: Int = 0) async throws -> Int {
    for number in first..<first + count {
      let draft = Sample.draft(
        "/\(number)", body: String(repeating: "x", count: 3000), lane: number % 3 == 0 ? nil : "\(number % 7)")
      let id = ItemID.make(at: Sample.start, random: (UInt64(number), UInt64(number)))
      let item = NewOutboxItem(
        id: id, draft: draft, url: try draft.checked(maxBody: 1 << 20), subject: Sample.alice)
      do {
        _ = try await store.enqueue([item], limits: limits, at: Sample.start)
      } catch .unavailable {
        return number - first
      }
    }
    return count
  }

  /// Delivers all there is; returns how many there were.
  private static func drain(_ store: SQLiteOutboxStore) async throws(OutboxStoreFailure) -> Int {
    let claim = OutboxClaim(
      account: Sample.work, subject: Sample.alice, limit: 128, takesFollowers: true, open: [Sample.origin],
      configured: [Sample.origin], agreedTime: Sample.start, policy: DeliveryPolicy(OutboxSettings()))
    var finished: [FinishedDelivery] = []
    var count = 0
    repeat {
      let settlement = try await store.settle(finished, claims: [claim], at: Sample.start)
      let deliveries = settlement.claimed[Sample.work]?.runs.flatMap(\.deliveries) ?? []
      finished = deliveries.map { FinishedDelivery(number: $0.number, verdict: .delivered(status: 200)) }
      count += finished.count
    } while !finished.isEmpty
    return count
  }

  @Test(
    "new items are refused, what was taken is delivered, and new ones are taken once there is room",
    arguments: [(40, false), (40, true), (2000, false), (2000, true)])
  func goesOn(_ count: Int, afterRestart: Bool) async throws {
    let disk = try FaultyDisk()
    var store = try await Self.open(disk)
    #expect(try await Self.fill(store, upTo: count) == count)
    if afterRestart {
      // The log is small then, and has to grow.
      store = try await Self.reopened(store, disk)
    }
    disk.limit(to: disk.used + 100_000)
    let more = try await Self.fill(store, upTo: 1000, from: count)
    #expect(more < 1000)
    #expect(try await Self.fill(store, upTo: 1, from: 5000) == 0)
    #expect(try await store.stats(of: nil).pending == count + more)

    #expect(try await Self.drain(store) == count + more)
    #expect(try await store.stats(of: nil).delivered == count + more)

    disk.limit(to: nil)
    #expect(try await Self.fill(store, upTo: 5, from: 6000) == 5)
    #expect(try await Self.drain(store) == 5)
    #expect(try OutboxCheck.flaws(at: disk.folder.file("outbox.sqlite")) == [])
  }

  @Test("it is opened on a full disk, and what is in it is delivered")
  func opens() async throws {
    let disk = try FaultyDisk()
    var store = try await Self.open(disk)
    #expect(try await Self.fill(store, upTo: 300) == 300)
    disk.limit(to: disk.used + 100_000)
    store = try await Self.reopened(store, disk)
    #expect(try await Self.drain(store) == 300)
  }

  /// The store as the next process finds it: without what only the last one had.
  private static func reopened(_ store: consuming SQLiteOutboxStore, _ disk: FaultyDisk) async throws
    -> SQLiteOutboxStore
  {
    try await store.withConnection { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
    return try await open(disk)
  }
}
