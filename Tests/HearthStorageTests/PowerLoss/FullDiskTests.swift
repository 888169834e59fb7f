import GRDB
import HearthCore
import TestSupport
import Testing

@testable import HearthStorage

@Suite("A full disk under the outbox")
struct FullDiskTests {
  private static let settings = OutboxSettings.limits(items: 100_000, bytes: 1 << 30)

  private static func open(_ disk: FaultyDisk) async throws -> SQLiteOutboxStore {
    let opened = try SQLiteOutboxStore.open(at: disk.folder.file("outbox.sqlite"), clock: ManualClock())
    #expect(opened.setAside == nil)
    try await opened.store.recover()
    return opened.store
  }

  /// Adds items in several lanes. Returns how many were accepted before the store refused.
  private static func fill(
    _ store: SQLiteOutboxStore, upTo count: Int, from first: Int = 0, body: Int = 3000
  ) async throws -> Int {
    for number in first..<first + count {
      let draft = Sample.draft(
        "/\(number)", body: String(repeating: "x", count: body), lane: number % 3 == 0 ? nil : "\(number % 7)")
      let id = OutboxItem.makeID(at: Sample.start, random: (UInt64(number), UInt64(number)))
      let item = NewOutboxItem(
        id: id, draft: draft, url: try draft.checked(maxBody: 1 << 20), subject: Sample.alice)
      do {
        _ = try await store.enqueue([item], within: Self.settings)
      } catch .unavailable {
        return number - first
      }
    }
    return count
  }

  /// Delivers all items. Returns the number of deliveries.
  private static func drain(_ store: SQLiteOutboxStore) async throws(OutboxStoreFailure) -> Int {
    let demand = OutboxDemand(
      account: Sample.work, subject: Sample.alice, lanes: 128, unordered: 128, takesFollowers: true,
      open: [Sample.origin],
      configured: [Sample.origin], expiry: .agreed(Sample.start), policy: DeliveryPolicy(OutboxSettings()))
    var settled: [Settlement] = []
    var count = 0
    repeat {
      let exchange = try await store.exchange(settled, releasing: [], claiming: [demand])
      let claims = exchange.claimed[Sample.work]?.claims ?? []
      for claim in claims {
        for delivery in claim.deliveries { #expect(try store.begin(delivery.number, of: claim.epoch)) }
      }
      settled = claims.settled { _ in .delivered(status: 200) }
      count += settled.count
    } while !settled.isEmpty
    return count
  }

  @Test(
    "new items are refused, accepted ones are delivered, and new ones are accepted once there is room",
    arguments: (isThorough ? [40, 2000] : [40]), [false, true])
  func goesOn(_ count: Int, afterRestart: Bool) async throws {
    try await inTurn {
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
      #expect(try await store.stats(of: nil).pending == count + more)

      #expect(try await Self.drain(store) == count + more)
      #expect(try await store.stats(of: nil).delivered == count + more)

      disk.limit(to: nil)
      #expect(try await Self.fill(store, upTo: 5, from: 6000) == 5)
      #expect(try await Self.drain(store) == 5)
      #expect(try OutboxCheck.problems(at: disk.folder.file("outbox.sqlite")) == [])
    }
  }

  @Test("it is opened on a full disk, and its items are delivered", arguments: [false, true])
  func opens(withEmptyLog: Bool) async throws {
    try await inTurn {
      let disk = try FaultyDisk()
      var store = try await Self.open(disk)
      #expect(try await Self.fill(store, upTo: 300) == 300)
      if withEmptyLog { store = try await Self.reopened(store, disk) }
      disk.limit(to: disk.used)
      store = try await Self.open(disk)
      // Free pages already hold some of them.
      let more = try await Self.fill(store, upTo: 1000, from: 5000)
      #expect(more < 1000)
      #expect(try await Self.drain(store) == 300 + more)
    }
  }

  @Test("an outbox of an older version is opened on a full disk, with the reserved room")
  func opensOlder() async throws {
    let disk = try FaultyDisk()
    var store = try await Self.open(disk)
    #expect(try await Self.fill(store, upTo: 300) == 300)
    try await store.withConnection { db in
      try db.execute(sql: "DROP INDEX items_retrying; DELETE FROM grdb_migrations WHERE identifier = '2'")
    }
    store = try await Self.reopened(store, disk, beforeOpening: { disk.limit(to: disk.used) })
    #expect(try await Self.drain(store) == 300)
  }

  @Test(
    "an outbox that has filled its disk gives the room back once everything is delivered",
    arguments: (isThorough ? [8 << 20, 40 << 20] : [8 << 20]), [false, true])
  func givesRoomBack(size: Int, afterRestart: Bool) async throws {
    try await inTurn {
      let disk = try FaultyDisk(size: size)
      var store = try await Self.open(disk)
      let taken = try await Self.fill(store, upTo: 5000, body: size >> 11)
      #expect(taken < 5000)
      #expect(try await Self.drain(store) == taken)
      if afterRestart { store = try await Self.reopened(store, disk) }
      while try await store.prune(keeping: Self.settings, limit: 256, by: Sample.start).isMore {}
      #expect(disk.used < size / 4)
      #expect(try await Self.fill(store, upTo: 5, from: 6000) == 5)
      #expect(try OutboxCheck.problems(at: disk.folder.file("outbox.sqlite")) == [])
    }
  }

  @Test("bodies that are committed together leave room to record their outcomes")
  func largeBodies() async throws {
    try await inTurn {
      let disk = try FaultyDisk()
      let store = try await Self.open(disk)
      disk.limit(to: disk.used + 16 << 20)
      let taken = await withTaskGroup(of: Bool.self) { group in
        for number in 0..<100 {
          group.addTask {
            (try? await Self.fill(store, upTo: 1, from: number, body: 256 << 10)) == 1
          }
        }
        return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
      }
      #expect((10..<70).contains(taken))
      // No room is left for anything else.
      disk.limit(to: disk.used)
      #expect(try await Self.drain(store) == taken)
      #expect(try await store.stats(of: nil).delivered == taken)
      disk.limit(to: nil)
      #expect(try await Self.fill(store, upTo: 5, from: 6000) == 5)
      #expect(try OutboxCheck.problems(at: disk.folder.file("outbox.sqlite")) == [])
    }
  }

  @Test("recording the delivery of a large body takes little room, less than wiping it")
  func smallCompletion() async throws {
    let disk = try FaultyDisk()
    var store = try await Self.open(disk)
    #expect(try await Self.fill(store, upTo: 1, body: 1 << 20) == 1)
    store = try await Self.reopened(store, disk)
    disk.limit(to: disk.used)
    #expect(try await Self.drain(store) == 1)
    #expect(disk.folder.bytes(of: "outbox.sqlite-wal").count < 256 << 10)
  }

  @Test("discarded content on a full disk is wiped once there is room, and until then a sweep reports it")
  func discarded() async throws {
    let disk = try FaultyDisk()
    var store = try await Self.open(disk)
    #expect(try await Self.fill(store, upTo: 1, body: 1 << 20) == 1)
    store = try await Self.reopened(store, disk)
    func isLeft() -> Bool {
      ["outbox.sqlite", "outbox.sqlite-wal"].contains { name in
        disk.folder.bytes(of: name).split { $0 != UInt8(ascii: "x") }.contains { $0.count > 99 }
      }
    }
    func sweep() async throws -> OutboxPruning {
      while true {
        let pruning = try await store.prune(keeping: Self.settings, limit: 256, by: Sample.start)
        if !pruning.isMore { return pruning }
      }
    }
    #expect(try await !sweep().leavesContent)
    disk.limit(to: disk.used)
    #expect(try await store.purge(Sample.work, of: Sample.alice, limit: 9) == 1)
    #expect(isLeft())
    let full = try await sweep()
    #expect(full.leavesContent == isLeft())
    disk.limit(to: nil)
    let sound = try await sweep()
    #expect(!sound.leavesContent && !isLeft())
  }

  /// Opens the store again as the next process does, with the log written back and emptied.
  private static func reopened(
    _ store: consuming SQLiteOutboxStore, _ disk: FaultyDisk, beforeOpening: () -> Void = {}
  ) async throws -> SQLiteOutboxStore {
    try await store.withConnection { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
    beforeOpening()
    return try await open(disk)
  }
}
