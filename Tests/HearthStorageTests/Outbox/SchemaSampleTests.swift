import FoundationEssentials
import GRDB
import HearthCore
import TestSupport
import Testing

@testable import HearthStorage

/// An outbox of each version, as SQL in `Samples`. A changed schema needs a migration. `HEARTH_RECORD_GOLDEN=1` writes
/// the newest sample again, which is right only until its version is released.
@Suite struct SchemaSampleTests {
  private static let folder = #filePath.split(separator: "/").dropLast(2).reduce("") { "\($0)/\($1)" } + "/Samples"
  private static let names = (try? FileManager.default.contentsOfDirectory(atPath: folder))?.sorted() ?? []

  private func schema(of path: String) throws -> [String] {
    try DatabaseQueue(path: path).read { db in
      try String.fetchAll(
        db,
        sql: """
          SELECT sql || ';' FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY CASE type WHEN 'table' THEN 0 ELSE 1 END, name
          """)
    }
  }

  private func rows(of path: String) throws -> [String] {
    try DatabaseQueue(path: path).read { db in
      let tables = try String.fetchAll(db, sql: "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
      return try tables.flatMap { table in
        let values = try db.columns(in: table).map { "quote(\($0.name))" }.joined(separator: " || ', ' || ")
        return try String.fetchAll(db, sql: "SELECT 'INSERT INTO \(table) VALUES (' || \(values) || ');' FROM \(table)")
      }
    }
  }

  /// An outbox of this version with an item that waits, one behind it, and one whose request is under way.
  private func make(in folder: TemporaryFolder) async throws -> String {
    let outbox = try StoreFixture(opening: folder.file("outbox.sqlite"), in: folder)
    try await outbox.add(Sample.draft("/1", key: "one"), Sample.draft("/2"), Sample.draft("/3", lane: nil))
    for delivery in try await outbox.claim().deliveries {
      if delivery.path == "/1" {
        try await outbox.finish(delivery, outbox.wait(60))
      } else {
        _ = outbox.begin(delivery)
      }
    }
    return outbox.path
  }

  @Test("the newest sample has the schema that a new outbox has")
  func newest() async throws {
    let folder = TemporaryFolder()
    defer { folder.remove() }
    let path = try await make(in: folder)
    let newest = "\(Self.folder)/\(try #require(Self.names.last))"
    if ProcessInfo.processInfo.environment["HEARTH_RECORD_GOLDEN"] == "1" {
      let boot = Files.text("/proc/sys/kernel/random/boot_id").replacing("\n", with: "")
      let text = (try schema(of: path) + rows(of: path)).joined(separator: "\n").replacing(boot, with: "boot") + "\n"
      try Files.write(text, to: newest)
    }
    #expect(try schema(of: load(newest, in: folder)) == schema(of: path))
  }

  private func load(_ sample: String, in folder: TemporaryFolder) throws -> String {
    let path = folder.file("sample.sqlite")
    let text = Files.text(sample)
    try DatabaseQueue(path: path).writeWithoutTransaction { db in
      try db.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL")
      try db.execute(sql: text)
    }
    return path
  }

  @Test("each sample becomes an outbox of this version, which has every item and delivers it", arguments: names)
  func migrates(_ name: String) async throws {
    let folder = TemporaryFolder()
    defer { folder.remove() }
    let path = try load("\(Self.folder)/\(name)", in: folder)
    let clock = ManualClock()
    let opened = try SQLiteOutboxStore.open(at: path, clock: clock)
    let new = try await schema(of: make(in: folder))
    #expect(try opened.setAside == nil && schema(of: path) == new)
    let outbox = StoreFixture(folder: folder, store: opened.store, clock: clock)
    try await outbox.store.recover()
    clock.advance(by: .seconds(60))
    let claims = try await outbox.claim(follows: true)
    #expect(Set(claims.claimed.claims.map { $0.deliveries.map(\.path) }) == [["/1", "/2"], ["/3"]])
    #expect(claims.deliveries.filter { $0.progress.unknownSince != nil }.map(\.path) == ["/3"])
    #expect(try OutboxCheck.problems(at: path) == [])
  }
}
