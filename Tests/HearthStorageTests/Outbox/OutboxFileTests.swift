import GRDB
import Glibc
import HearthCore
import TestSupport
import Testing

@testable import HearthStorage

@Suite struct OutboxFileTests {
  @Test("The database is private, and survives power loss: WAL, FULL, incremental vacuum")
  func durable() async throws {
    try await withStore { outbox in
      let pragmas = try await outbox.store.withConnection { db in
        try ["journal_mode", "synchronous", "auto_vacuum"].map { name in
          try String.fetchOne(db, sql: "PRAGMA \(name)") ?? ""
        }
      }
      #expect(pragmas == ["wal", "2", "2"])
      try await outbox.add(Sample.draft())
      for name in outbox.folder.names {
        var status = stat()
        #expect(stat(outbox.folder.file(name), &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600, "\(name)")
      }
    }
  }

  @Test("A database that others may read is made private")
  func narrowed() throws {
    let folder = TemporaryFolder()
    defer { folder.remove() }
    close(Glibc.open(folder.file("outbox.sqlite"), O_CREAT | O_WRONLY, 0o644))
    _ = try SQLiteOutboxStore.open(at: folder.file("outbox.sqlite"), clock: ManualClock())
    var status = stat()
    #expect(stat(folder.file("outbox.sqlite"), &status) == 0)
    #expect(status.st_mode & 0o777 == 0o600)
  }

  @Test("Items are there after the store was closed and opened")
  func reopens() async throws {
    let folder = TemporaryFolder()
    defer { folder.remove() }
    let path = folder.file("outbox.sqlite")
    let clock = ManualClock()
    let first = try SQLiteOutboxStore.open(at: path, clock: clock)
    #expect(first.setAside == nil)
    let outbox = StoreFixture(folder: folder, store: first.store, clock: clock)
    try await outbox.add(Sample.draft("/1", body: "abc"), Sample.draft("/2"))
    let second = try SQLiteOutboxStore.open(at: path, clock: ManualClock())
    #expect(second.setAside == nil)
    #expect(try await second.store.list(OutboxQuery()).items.count == 2)
    #expect(try await second.store.stats(of: nil).bytes == 3 + 2 * 25)
  }

  @Test("A file that is not a database is set aside as a whole, and a new one created")
  func garbage() async throws {
    let folder = TemporaryFolder()
    defer { folder.remove() }
    let path = folder.file("outbox.sqlite")
    let file = try #require(fopen(path, "w"))
    fputs(String(repeating: "garbage ", count: 2000), file)
    fclose(file)
    let opened = try SQLiteOutboxStore.open(at: path, clock: ManualClock())
    let place = try #require(opened.setAside)
    #expect(folder.bytes(of: String(place.dropFirst(folder.path.count + 1))).count == 16_000)
    #expect(try await opened.store.list(OutboxQuery()).items.isEmpty)
  }

  @Test("A database found to be malformed while it runs is checked as a whole at the next start")
  func suspect() async throws {
    let folder = TemporaryFolder()
    defer { folder.remove() }
    let path = folder.file("outbox.sqlite")
    try await {
      let outbox = try StoreFixture(opening: path, in: folder)
      for index in 0..<300 { try await outbox.add(Sample.draft("/\(index)", lane: nil)) }
      try await outbox.store.withConnection { db in
        try db.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
        try db.execute(sql: "PRAGMA writable_schema = ON")
        try db.execute(sql: "UPDATE sqlite_schema SET rootpage = 2 WHERE name = 'items_by_id'")
        try db.execute(sql: "PRAGMA writable_schema = RESET")
      }
      await #expect(throws: OutboxStoreFailure.self) { try await outbox.store.item("none") }
      // What it accepted now would be set aside with the rest.
      let damage = OutboxStoreFailure.broken("The outbox \(path) is damaged: database disk image is malformed.")
      await #expect(throws: damage) { try await outbox.add(Sample.draft("/after")) }
    }()
    #expect(folder.names.contains("outbox.sqlite-suspect"))
    let opened = try SQLiteOutboxStore.open(at: path, clock: ManualClock())
    #expect(opened.setAside != nil)
    #expect(folder.names.contains { $0.contains(".broken-") && $0.hasSuffix("-sent") })
    #expect(!folder.names.contains("outbox.sqlite-suspect"))
  }

  @Test("Any call notices that an open database was removed or replaced, and the one that is there is opened")
  func removed() async throws {
    for isReplaced in [false, true] {
      let (folder, backup) = (TemporaryFolder(), TemporaryFolder())
      defer {
        folder.remove()
        backup.remove()
      }
      let path = folder.file("outbox.sqlite")
      // A log of another outbox, or none.
      let other = try StoreFixture(opening: backup.file("outbox.sqlite"), in: backup)
      try await other.add(Sample.draft("/other"))
      await other.store.close()
      let outbox = try StoreFixture(opening: path, in: folder)
      try await outbox.add(Sample.draft("/1"), Sample.draft("/2"))
      if isReplaced { rename(backup.file("outbox.sqlite"), path) } else { unlink(path) }
      let failure = OutboxStoreFailure.broken("The outbox \(path) was removed or replaced while it was open.")
      await #expect(throws: failure) { try await outbox.store.stats(of: nil) }
      #expect(outbox.store.isBroken)
      try await outbox.store.recover()
      #expect(
        outbox.store.notice
          == "The outbox \(path) was removed or replaced while it was open, with 2 undelivered items. Hearth continues "
          + "with the file that is now at that path.")
      #expect(try await outbox.claim().deliveries.map(\.path) == (isReplaced ? ["/other"] : []))
      try await outbox.add(Sample.draft("/new"))
      try outbox.expectSound()
    }
  }

  @Test("A database that was out of reach is opened again when it is back, and nothing is reported")
  func backAgain() async throws {
    try await withStore { outbox in
      try await outbox.add(Sample.draft("/1"))
      let (fixture, away) = (outbox, outbox.folder.path + "-away")
      try #require(rename(outbox.folder.path, away) == 0)
      await #expect(throws: OutboxStoreFailure.self) { try await fixture.store.stats(of: nil) }
      await #expect(throws: OutboxStoreFailure.self) { try await fixture.store.recover() }
      try #require(rename(away, outbox.folder.path) == 0)
      try await outbox.store.recover()
      #expect(try await outbox.store.stats(of: nil).pending == 1 && outbox.store.notice == nil)
    }
  }

  @Test("A database that is moved away and back has lost nothing, even if another was created meanwhile")
  func movedAndBack() async throws {
    try await withStore { outbox in
      try await outbox.add(Sample.draft("/1"), Sample.draft("/2"))
      let (store, path) = (outbox.store, outbox.path)
      try #require(rename(path, path + "-away") == 0)
      await #expect(throws: OutboxStoreFailure.self) { try await store.stats(of: nil) }
      try await store.recover()
      #expect(try await store.stats(of: nil).pending == 0)
      try #require(rename(path + "-away", path) == 0)
      await #expect(throws: OutboxStoreFailure.self) { try await store.stats(of: nil) }
      try await store.recover()
      #expect(try await outbox.claim(follows: true).deliveries.map(\.path) == ["/1", "/2"])
    }
  }

  @Test(
    "Any call notices that a log is removed or replaced, and nothing of it is lost", arguments: [false, true])
  func removedLog(_ isReplaced: Bool) async throws {
    try await withStore { outbox in
      try await outbox.add(Sample.draft("/1"))
      let (store, log) = (outbox.store, outbox.path + "-wal")
      try #require(unlink(log) == 0)
      if isReplaced { try Files.write("of another", to: log) }
      let failure = OutboxStoreFailure.broken(
        "The log of the outbox \(outbox.path) was removed or replaced while it was open.")
      await #expect(throws: failure) { try await store.stats(of: nil) }
      try await store.recover()
      #expect(store.notice == nil)
      try await outbox.add(Sample.draft("/2"))
      await store.close()
      let next = try SQLiteOutboxStore.open(at: outbox.path, clock: outbox.clock)
      #expect(next.setAside == nil)
      #expect(try await next.store.stats(of: nil).pending == 2)
    }
  }

  @Test("A sound database that was marked for a check is kept")
  func cleared() async throws {
    let folder = TemporaryFolder()
    defer { folder.remove() }
    let path = folder.file("outbox.sqlite")
    let outbox = try StoreFixture(opening: path, in: folder)
    try await outbox.add(Sample.draft())
    OutboxFile(path).requestCheck()
    let opened = try SQLiteOutboxStore.open(at: path, clock: ManualClock())
    #expect(opened.setAside == nil)
    #expect(try await opened.store.stats(of: nil).pending == 1)
    #expect(!folder.names.contains("outbox.sqlite-suspect"))
  }

  @Test("Checking an outbox that does not exist finds nothing, and creates none")
  func checksNothing() throws {
    let folder = TemporaryFolder()
    defer { folder.remove() }
    #expect(try OutboxCheck.problems(at: folder.file("outbox.sqlite")) == [])
    #expect(folder.names.isEmpty)
  }

  @Test("The check finds orphan rows, wrong counts and wrong heads")
  func check() async throws {
    try await withStore { outbox in
      let path = outbox.path
      try await outbox.add(Sample.draft("/1"), Sample.draft("/2"))
      #expect(try OutboxCheck.problems(at: path) == [])
      for (harm, cure) in [
        ("INSERT INTO contents VALUES (99, '', NULL, NULL)", "DELETE FROM contents WHERE item = 99"),
        ("UPDATE contents SET item = 77 WHERE item = 1", "UPDATE contents SET item = 1 WHERE item = 77"),
        ("UPDATE owners SET pending = 5", "UPDATE owners SET pending = 2"),
        ("UPDATE owners SET bytes = bytes + 5", "UPDATE owners SET bytes = bytes - 5"),
        ("UPDATE items SET is_head = 1 WHERE n = 2", "UPDATE items SET is_head = 0 WHERE n = 2"),
        ("INSERT INTO claims VALUES (1, 9, 'x', 1, 1, 1, 0)", "DELETE FROM claims"),
        ("INSERT INTO claims VALUES (1, 1, NULL, 99, 1, 1, 0)", "DELETE FROM claims"),
        ("INSERT INTO claims VALUES (1, 1, 'default', 1, 'x', 1, 0)", "DELETE FROM claims"),
        ("INSERT INTO claims VALUES (1, 1, 'default', 1, 1, 1, 0)", "DELETE FROM claims"),
        ("UPDATE items SET state = 1 WHERE n = 2", "UPDATE items SET state = 0 WHERE n = 2"),
        ("UPDATE items SET owner = 9 WHERE n = 2", "UPDATE items SET owner = 1 WHERE n = 2"),
      ] {
        try await outbox.store.withConnection { try $0.execute(sql: harm) }
        #expect(try !OutboxCheck.problems(at: path).isEmpty, "\(harm)")
        try await outbox.store.withConnection { try $0.execute(sql: cure) }
      }
    }
  }

  @Test("Counts that contradict the rows are counted again at the start")
  func recount() async throws {
    try await withStore { outbox in
      try await outbox.add(Sample.draft("/1", body: "ab"))
      try await outbox.store.withConnection { try $0.execute(sql: "UPDATE owners SET pending = 0, dead = 3") }
      let again = try SQLiteOutboxStore.open(at: outbox.path, clock: outbox.clock)
      let stats = try await again.store.stats(of: nil)
      #expect((stats.pending, stats.dead, stats.bytes) == (1, 0, 2 + 25))
    }
  }

  @Test("A full disk refuses new items, records deliveries, and accepts new items when there is room")
  func fullDisk() async throws {
    try await withStore { outbox in
      for index in 0..<20 { try await outbox.add(Sample.draft("/\(index)", lane: nil)) }
      let taken = try await outbox.claim().deliveries
      #expect(taken.allSatisfy(outbox.begin))
      try await outbox.store.withConnection { db in
        let pages = try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
        try db.execute(sql: "PRAGMA max_page_count = \(pages)")
      }
      let fixture = outbox
      let body = String(repeating: "x", count: 100_000)
      await #expect {
        try await fixture.add(Sample.draft("/big", body: body))
      } throws: { error in
        if case OutboxStoreFailure.unavailable = error { true } else { false }
      }
      #expect(try await outbox.store.stats(of: nil).inFlight == 20)
      for delivery in taken { _ = try await outbox.finish(delivery, .delivered(status: 200)) }
      #expect(try await outbox.store.stats(of: nil).delivered == 20)
      try await outbox.store.withConnection { try $0.execute(sql: "PRAGMA max_page_count = 1000000") }
      try await outbox.add(Sample.draft("/big", body: body))
    }
  }

  @Test("The reserve is released only for completions, and new items wait until it is there again")
  func reserve() async throws {
    let folder = TemporaryFolder()
    defer { folder.remove() }
    let reserve = DiskReserve(folder.file("reserve"), size: 4096)
    #expect(reserve.allocate())
    #expect(folder.bytes(of: "reserve").count == 4096)
    #expect(reserve.allocate(10_000))
    #expect(folder.bytes(of: "reserve").count == 12_288)
    #expect(reserve.allocate())
    #expect(folder.bytes(of: "reserve").count == 4096)
    reserve.release()
    #expect(!reserve.isAllocated)
    #expect(folder.names.isEmpty)
    let nowhere = DiskReserve(folder.file("none/reserve"))
    #expect(!nowhere.allocate())
    #expect(!nowhere.isAllocated)
  }

  @Test("`database is locked`: another program's lock is waited for, and no item is lost to it")
  func locked() async throws {
    try await withStore { outbox in
      let fixture = outbox
      var configuration = Configuration()
      configuration.allowsUnsafeTransactions = true
      let other = try DatabaseQueue(path: outbox.path, configuration: configuration)
      try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
      async let receipts = fixture.add(Sample.draft("/1"), Sample.draft("/2"))
      async let more = fixture.add(Sample.draft("/3"))
      try await other.writeWithoutTransaction { try $0.execute(sql: "COMMIT") }
      #expect(try await receipts.count == 2)
      #expect(try await more.count == 1)
    }
  }
}
