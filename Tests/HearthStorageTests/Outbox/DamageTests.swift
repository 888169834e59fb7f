import GRDB
import Glibc
import HearthCore
import TestSupport
import Testing

@testable import HearthStorage

/// Damage that SQLite itself does not notice: invalid values.
@Suite struct DamageTests {
  /// A folder with an outbox of one item, damaged while nobody has it open.
  private func harmed(_ sql: String, _ path: String) async throws {
    let outbox = try StoreFixture(opening: path, in: TemporaryFolder())
    defer { outbox.folder.remove() }
    try await outbox.add(Sample.draft("/1", body: "abc"))
    try await outbox.store.withConnection { try $0.execute(sql: sql) }
  }

  private func withHarmed(_ sql: String, _ body: (String) async throws -> Void) async throws {
    let folder = TemporaryFolder()
    defer { folder.remove() }
    let path = folder.file("outbox.sqlite")
    try await harmed(sql, path)
    try await body(path)
  }

  @Test(
    "An outbox whose owners cannot be read is reported, and set aside at the start",
    arguments: [
      "UPDATE owners SET pending = 'abc'", "UPDATE owners SET bytes = 1.5", "UPDATE owners SET account = x'ff'",
      "UPDATE places SET stepped = 'abc'", "UPDATE places SET last = 'abc'",
      "UPDATE places SET last = 9223372036854775807", "UPDATE items SET state = 'abc'",
    ])
  func ledger(_ harm: String) async throws {
    try await withHarmed(harm) { path in
      #expect(try !OutboxCheck.problems(at: path).isEmpty)
      let opened = try SQLiteOutboxStore.open(at: path, clock: ManualClock())
      #expect(opened.setAside != nil)
      #expect(try await opened.store.stats(of: nil).pending == 0)
    }
  }

  @Test(
    "An item that cannot be read is reported; the call that meets it fails, and the outbox is set aside",
    arguments: [
      "UPDATE items SET attempts = 'abc'", "UPDATE items SET url = x'ff'", "UPDATE items SET created_at = 'abc'",
      "UPDATE items SET origin = x'ff'", "UPDATE contents SET headers = x'ff'", "UPDATE contents SET body = 7",
    ], [true, false])
  func items(_ harm: String, _ recovers: Bool) async throws {
    try await withHarmed(harm) { path in
      #expect(try !OutboxCheck.problems(at: path).isEmpty)
      let clock = ManualClock()
      let opened = try SQLiteOutboxStore.open(at: path, clock: clock)
      #expect(opened.setAside == nil)
      let outbox = StoreFixture(folder: TemporaryFolder(), store: opened.store, clock: clock)
      defer { outbox.folder.remove() }
      do {
        _ = try await outbox.claim()
        Issue.record("It was taken.")
      } catch OutboxStoreFailure.broken {}
      #expect(outbox.store.isBroken)
      guard recovers else {
        #expect(try SQLiteOutboxStore.open(at: path, clock: ManualClock()).setAside != nil)
        return
      }
      await #expect(throws: OutboxStoreFailure.self) { try await outbox.store.stats(of: nil) }
      try await outbox.store.recover(pausing: [Sample.other])
      #expect(try await outbox.store.configure([]) == [Sample.other])
      #expect(access("\(path).broken-\(outbox.now.milliseconds)", F_OK) == 0)
      #expect(!outbox.store.isBroken)
      try await outbox.add(Sample.draft("/2"))
      #expect(try await outbox.claim().deliveries.map(\.path) == ["/2"])
      #expect(try OutboxCheck.problems(at: path) == [])
    }
  }

  @Test("No two claims have the same epoch, even if a new database was created only at the second attempt")
  func epochsGoOn() async throws {
    try await withStore { outbox in
      try await outbox.add(Sample.draft("/1"))
      var last: Int64 = 0
      for _ in 0..<5 {
        let claims = try await outbox.claim(releasing: [last]).claimed.claims
        last = try #require(claims.first?.epoch)
      }
      try await outbox.store.withConnection { try $0.execute(sql: "UPDATE items SET attempts = 'abc'") }
      await #expect(throws: OutboxStoreFailure.self) { try await outbox.claim(releasing: [last]) }
      let place = "\(outbox.path).broken-\(outbox.now.milliseconds)"
      #expect(mkdir(place, 0o700) == 0)
      await #expect(throws: OutboxStoreFailure.self) { try await outbox.store.recover() }
      #expect(rmdir(place) == 0)
      try await outbox.store.recover()
      try await outbox.add(Sample.draft("/2"))
      let claims = try await outbox.claim().claimed.claims
      #expect(try #require(claims.first?.epoch) > last)
    }
  }

  @Test(
    "Numbers out of range do not overflow a sum",
    arguments: ["attempts", "conflicts", "bytes", "created_at", "not_before", "unknown_since"])
  func bounds(_ column: String) async throws {
    try await withHarmed("UPDATE items SET \(column) = 9223372036854775807") { path in
      let clock = ManualClock()
      let opened = try SQLiteOutboxStore.open(at: path, clock: clock)
      let outbox = StoreFixture(folder: TemporaryFolder(), store: opened.store, clock: clock)
      defer { outbox.folder.remove() }
      let delivery = try #require(try await outbox.claim().deliveries.first)
      #expect(try await outbox.finish(delivery, .delivered(status: 200)).map(\.state) == [.delivered])
      #expect(try await outbox.store.list(OutboxQuery()).items.count == 1)
    }
  }

  @Test(
    "A list of migrations that contradicts the tables is reported, and the outbox is set aside at the start",
    arguments: [
      "DELETE FROM grdb_migrations", "DELETE FROM grdb_migrations WHERE identifier = '2'", "DROP TABLE owners",
      "UPDATE grdb_migrations SET identifier = x'ff' WHERE identifier = '3'",
      """
      DROP TABLE grdb_migrations; CREATE TABLE grdb_migrations (identifier TEXT);
      INSERT INTO grdb_migrations VALUES ('1'), ('2'), (NULL)
      """,
      "DROP TABLE places",
    ])
  func migrations(_ harm: String) async throws {
    try await withHarmed(harm) { path in
      #expect(try !OutboxCheck.problems(at: path).isEmpty)
      let opened = try SQLiteOutboxStore.open(at: path, clock: ManualClock())
      #expect(opened.setAside != nil)
      #expect(try await opened.store.stats(of: nil).pending == 0)
    }
  }

  @Test("An outbox that was created and never opened has no problem")
  func untouched() throws {
    let folder = TemporaryFolder()
    defer { folder.remove() }
    let path = folder.file("outbox.sqlite")
    close(Glibc.open(path, O_CREAT | O_WRONLY, 0o600))
    #expect(try OutboxCheck.problems(at: path) == [])
    #expect(try SQLiteOutboxStore.open(at: path, clock: ManualClock()).setAside == nil)
  }

  @Test("Counts out of range are counted again")
  func counts() async throws {
    try await withHarmed("UPDATE owners SET pending = 9223372036854775807, bytes = 9223372036854775807") { path in
      let opened = try SQLiteOutboxStore.open(at: path, clock: ManualClock())
      let stats = try await opened.store.stats(of: nil)
      #expect((stats.pending, stats.bytes) == (1, 3 + 25))
    }
  }
}
