import GRDB
import HearthCore
import TestSupport
import Testing

@testable import HearthStorage

/// An outbox of the version before claims, in which being claimed was a state of the item.
@Suite struct MigrationTests {
  /// The migrations 1 to 3, as that version made them.
  private static let schema = """
    CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
    INSERT INTO grdb_migrations VALUES ('1'), ('2'), ('3');
    CREATE TABLE owners (
      id INTEGER PRIMARY KEY, account TEXT NOT NULL, issuer TEXT, subject TEXT, is_current INTEGER NOT NULL,
      pending INTEGER NOT NULL, in_flight INTEGER NOT NULL, waiting INTEGER NOT NULL, held INTEGER NOT NULL,
      delivered INTEGER NOT NULL, dead INTEGER NOT NULL, cancelled INTEGER NOT NULL, superseded INTEGER NOT NULL,
      bytes INTEGER NOT NULL
    );
    CREATE TABLE places (id INTEGER PRIMARY KEY CHECK (id = 1), last INTEGER NOT NULL);
    CREATE TABLE pauses (account TEXT PRIMARY KEY) WITHOUT ROWID;
    CREATE TABLE items (
      n INTEGER PRIMARY KEY, id TEXT NOT NULL, owner INTEGER NOT NULL, lane TEXT, position INTEGER NOT NULL,
      state INTEGER NOT NULL, reason TEXT, is_head INTEGER NOT NULL, due_at INTEGER NOT NULL,
      method TEXT NOT NULL, url TEXT NOT NULL, origin TEXT NOT NULL,
      attempts INTEGER NOT NULL, conflicts INTEGER NOT NULL,
      created_at INTEGER NOT NULL, not_before INTEGER, expires_at INTEGER, next_attempt_at INTEGER,
      claimed_at INTEGER, unknown_since INTEGER, finished_at INTEGER,
      last_status INTEGER, last_error TEXT,
      idempotency_key TEXT NOT NULL, digest BLOB, replace_key TEXT, bytes INTEGER NOT NULL
    );
    CREATE TABLE contents (item INTEGER PRIMARY KEY, headers TEXT NOT NULL, body BLOB);
    CREATE UNIQUE INDEX items_by_id ON items (id);
    CREATE INDEX items_by_state ON items (owner, state, position);
    CREATE INDEX items_by_lane ON items (owner, lane, state, position) WHERE lane IS NOT NULL;
    CREATE INDEX items_by_key ON items (owner, idempotency_key) WHERE digest IS NOT NULL;
    CREATE INDEX items_by_replace_key ON items (owner, replace_key, state) WHERE replace_key IS NOT NULL;
    CREATE INDEX items_by_expiry ON items (expires_at) WHERE expires_at IS NOT NULL AND state <> 1 AND state < 3;
    CREATE INDEX items_finished ON items (state, finished_at) WHERE finished_at IS NOT NULL;
    CREATE INDEX items_retrying ON items (owner, origin, due_at)
      WHERE is_head = 1 AND due_at > 0 AND (not_before IS NULL OR not_before < due_at);
    CREATE INDEX items_ready ON items (owner, origin, (lane IS NULL), due_at) WHERE is_head = 1;
    INSERT INTO places VALUES (1, 9);
    INSERT INTO owners VALUES (1, 'work', 'https://id.example.com', 'alice', 1, 3, 4, 2, 0, 0, 0, 0, 0, 0);
    """

  /// Lane a: two in flight, one behind. Lane b: its head waits. Lane c: the head waits before one in flight, as after
  /// an adoption. Unordered: one in flight for the second time, and one that waits to be sent.
  private static let items:
    [(number: Int, lane: String?, state: Int, isHead: Int, claimedAt: Int64?, unknown: Int64?)] = [
      (1, "a", 1, 0, 1000, nil), (2, "a", 1, 0, 1000, nil), (3, "a", 0, 0, nil, nil),
      (4, "b", 2, 1, 500, nil), (5, "c", 2, 0, 500, nil), (6, "c", 1, 0, 1000, nil),
      (7, nil, 1, 0, 1000, 300), (8, nil, 0, 1, nil, nil), (9, "c", 0, 1, nil, nil),
    ]

  private func makeOlder(_ path: String) throws {
    let database = try DatabaseQueue(path: path)
    try database.writeWithoutTransaction { db in
      try db.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL")
      try db.execute(sql: Self.schema)
      for item in Self.items {
        let dueAt: Int64 = item.state == 2 ? 2000 : 0
        try db.execute(
          sql: """
            INSERT INTO items VALUES (?, ?, 1, ?, ?, ?, NULL, ?, ?, 'POST', ?, 'https://api.example.com', 0, 0,
              ?, NULL, NULL, ?, ?, ?, NULL, NULL, NULL, ?, NULL, NULL, 0)
            """,
          arguments: [
            item.number, "id-\(item.number)", item.lane, item.number, item.state, item.isHead, dueAt,
            "https://api.example.com/\(item.number)", 100, dueAt == 0 ? nil : dueAt, item.claimedAt, item.unknown,
            "id-\(item.number)",
          ])
        try db.execute(sql: "INSERT INTO contents VALUES (?, '', NULL)", arguments: [item.number])
      }
    }
  }

  @Test("Items in flight become pending with an unknown result, each lane has its head, and the counts match the rows")
  func inFlight() async throws {
    let folder = TemporaryFolder()
    defer { folder.remove() }
    let path = folder.file("outbox.sqlite")
    try makeOlder(path)
    let clock = ManualClock(Timestamp(milliseconds: 3000))
    let opened = try SQLiteOutboxStore.open(at: path, clock: clock)
    #expect(opened.setAside == nil)
    #expect(try OutboxCheck.problems(at: path) == [])
    let outbox = StoreFixture(folder: folder, store: opened.store, clock: clock)
    let stats = try await outbox.store.stats(of: nil)
    #expect([stats.pending, stats.inFlight, stats.waiting] == [7, 0, 2])
    try await outbox.store.recover()
    let claims = try await outbox.claim(follows: true)
    #expect(
      Set(claims.claimed.claims.map { $0.deliveries.map(\.path) }) == [
        ["/1", "/2", "/3"], ["/4"], ["/5", "/6", "/9"], ["/7"], ["/8"],
      ])
    let unknown = Dictionary(
      uniqueKeysWithValues: claims.deliveries.map { ($0.path, $0.progress.unknownSince?.milliseconds) })
    #expect(
      unknown == [
        "/1": 1000, "/2": 1000, "/3": nil, "/4": nil, "/5": nil, "/6": 1000, "/7": 300, "/8": nil, "/9": nil,
      ])
    let item = try #require(try await outbox.store.item("id-1"))
    #expect(item.lastError == "The daemon stopped while the request was in flight.")
    try outbox.expectSound()
  }

  @Test("Of several items with one key the newest keeps it, and the database allows no second one")
  func keys() async throws {
    let folder = TemporaryFolder()
    defer { folder.remove() }
    let path = folder.file("outbox.sqlite")
    try makeOlder(path)
    try await DatabaseQueue(path: path).write { db in
      try db.execute(sql: "UPDATE items SET idempotency_key = 'k', digest = x'00' WHERE n IN (3, 4, 8)")
    }
    let opened = try SQLiteOutboxStore.open(at: path, clock: ManualClock(Timestamp(milliseconds: 3000)))
    #expect(opened.setAside == nil)
    let numbers = try await opened.store.withConnection { db in
      try Int.fetchAll(db, sql: "SELECT n FROM items WHERE digest IS NOT NULL")
    }
    #expect(numbers == [8])
    await #expect(throws: DatabaseError.self) {
      try await opened.store.withConnection { try $0.execute(sql: "UPDATE items SET digest = x'00' WHERE n = 3") }
    }
    await #expect(throws: DatabaseError.self) {
      try await opened.store.withConnection { db in
        try db.execute(sql: "INSERT INTO owners SELECT NULL, account, issuer, subject, 0,0,0,0,0,0,0,0,0,0 FROM owners")
      }
    }
  }

  @Test("An item without counted attempts has left if a server has answered it")
  func sent() async throws {
    let folder = TemporaryFolder()
    defer { folder.remove() }
    let path = folder.file("outbox.sqlite")
    try makeOlder(path)
    try await DatabaseQueue(path: path).write { try $0.execute(sql: "UPDATE items SET last_status = 503 WHERE n = 4") }
    let opened = try SQLiteOutboxStore.open(at: path, clock: ManualClock(Timestamp(milliseconds: 3000)))
    let numbers = try await opened.store.withConnection { db in
      try Int.fetchAll(db, sql: "SELECT n FROM items WHERE has_left = 1")
    }
    #expect(numbers == [4])
  }

  @Test("The check finds what is wrong with an outbox of that version, and leaves it unchanged")
  func checked() throws {
    let folder = TemporaryFolder()
    defer { folder.remove() }
    let path = folder.file("outbox.sqlite")
    try makeOlder(path)
    #expect(try OutboxCheck.problems(at: path) == [])
    let database = try DatabaseQueue(path: path)
    #expect(try database.read { try !$0.tableExists("claims") })
    try database.writeWithoutTransaction { try $0.execute(sql: "UPDATE items SET is_head = 1 WHERE n = 5") }
    #expect(try OutboxCheck.problems(at: path) == [])
    try database.writeWithoutTransaction { try $0.execute(sql: "UPDATE items SET is_head = 0 WHERE n = 4") }
    #expect(try OutboxCheck.problems(at: path) == ["Items whose \"next to send\" mark is wrong: id-4."])
  }
}
