internal import GRDB
internal import HearthCore

/// The outbox's tables and migrations.
///
/// An item that can be sent next is a *head*: the first active item of a lane, or any unordered item. Heads have their
/// own index, so that finding due items is as fast with a million items as with a thousand.
enum OutboxSchema {
  static var migrator: DatabaseMigrator {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("1") { try $0.execute(sql: first) }
    migrator.registerMigration("2") { try $0.execute(sql: retrying) }
    migrator.registerMigration("3") { try $0.execute(sql: readyByKind) }
    for later in later { migrator.registerMigration(later.identifier, migrate: later.migrate) }
    return migrator
  }

  /// Returns whether a newer version of Hearth migrated the database, or false if the list of migrations is damaged.
  static func isNewer(_ db: Database) throws -> Bool {
    guard try migrator.hasBeenSuperseded(db) else { return false }
    return try !hasUnreadableList(db)
  }

  /// The later migrations, each with a table or a column that it adds.
  private static let later:
    [(identifier: String, table: String, column: String?, migrate: @Sendable (Database) throws -> Void)] = [
      ("4", "claims", nil, separateClaims), ("5", "contents", "checksum", addChecksums),
      ("6", "places", "scheduled_at", { try $0.execute(sql: placesAndNewness) }),
      ("7", "places", "stepped", { try $0.execute(sql: followedClock) }),
      ("8", "items", "made_at", { try $0.execute(sql: making) }),
    ]

  private static func has(_ table: String, _ column: String?, in db: Database) throws -> Bool {
    try db.tableExists(table) && (column == nil || db.columns(in: table).contains { $0.name == column })
  }

  /// Runs the later migrations that the tables lack, without adding them to the list of migrations.
  static func complete(_ db: Database) throws {
    for later in later where try !has(later.table, later.column, in: db) { try later.migrate(db) }
  }

  private static func hasUnreadableList(_ db: Database) throws -> Bool {
    let sql = "SELECT 1 FROM grdb_migrations WHERE typeof(identifier) <> 'text' LIMIT 1"
    return try db.tableExists("grdb_migrations") && Row.fetchOne(db, sql: sql) != nil
  }

  /// Returns whether the list of migrations contradicts the tables.
  static func isContradictory(_ db: Database) throws -> Bool {
    let applied = try migrator.appliedIdentifiers(db)
    let indexes = try Row.fetchOne(db, sql: "SELECT 1 FROM sqlite_schema WHERE name = 'items_retrying'")
    return try hasUnreadableList(db) || applied.contains("1") != db.tableExists("owners")
      || applied.contains("2") != (indexes != nil)
      || later.contains { try applied.contains($0.identifier) != has($0.table, $0.column, in: db) }
  }

  /// A row of `owners` contains an account, a subject (NULL if the user was unknown) and the number of items in each
  /// state.
  private static let first = """
    CREATE TABLE owners (
      id INTEGER PRIMARY KEY, account TEXT NOT NULL, issuer TEXT, subject TEXT, is_current INTEGER NOT NULL,
      pending INTEGER NOT NULL, in_flight INTEGER NOT NULL, waiting INTEGER NOT NULL, held INTEGER NOT NULL,
      delivered INTEGER NOT NULL, dead INTEGER NOT NULL, cancelled INTEGER NOT NULL, superseded INTEGER NOT NULL,
      bytes INTEGER NOT NULL
    );
    CREATE TABLE places (id INTEGER PRIMARY KEY CHECK (id = 1), last INTEGER NOT NULL);
    INSERT INTO places VALUES (1, 0);
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
    CREATE INDEX items_ready ON items (owner, origin, due_at) WHERE is_head = 1;
    CREATE INDEX items_by_state ON items (owner, state, position);
    CREATE INDEX items_by_lane ON items (owner, lane, state, position) WHERE lane IS NOT NULL;
    CREATE INDEX items_by_key ON items (owner, idempotency_key) WHERE digest IS NOT NULL;
    CREATE INDEX items_by_replace_key ON items (owner, replace_key, state) WHERE replace_key IS NOT NULL;
    CREATE INDEX items_by_expiry ON items (expires_at) WHERE expires_at IS NOT NULL AND state <> 1 AND state < 3;
    CREATE INDEX items_finished ON items (state, finished_at) WHERE finished_at IS NOT NULL;
    """

  /// Indexes the heads that wait for a retry rather than for their `notBefore`, to move them when the clock is stepped.
  private static let retrying = """
    CREATE INDEX items_retrying ON items (owner, origin, due_at)
      WHERE is_head = 1 AND due_at > 0 AND (not_before IS NULL OR not_before < due_at);
    """

  /// Separates heads of lanes from unordered items, so that many items of one kind do not delay the other kind.
  private static let readyByKind = """
    DROP INDEX items_ready;
    CREATE INDEX items_ready ON items (owner, origin, (lane IS NULL), due_at) WHERE is_head = 1;
    """

  /// Adds items that are held in place to the index of expiries, because they have the number that used to mean "in
  /// flight". Adds indexes to find the newest item for a `replaceKey` and the oldest item. Stores the time at which
  /// waits were last planned, so that the waits keep their planned length.
  private static let placesAndNewness = """
    DROP INDEX items_by_expiry;
    CREATE INDEX items_by_expiry ON items (expires_at) WHERE expires_at IS NOT NULL AND state < 3;
    CREATE INDEX items_by_newness ON items (owner, replace_key) WHERE replace_key IS NOT NULL;
    CREATE INDEX items_by_age ON items (owner, created_at) WHERE state IN (0, 2);
    ALTER TABLE places ADD COLUMN scheduled_at INTEGER NOT NULL DEFAULT 0;
    """

  /// Stores the clock steps that the waits are based on, so that the waits keep their planned length across restarts.
  private static let followedClock = """
    ALTER TABLE places ADD COLUMN boot TEXT;
    ALTER TABLE places ADD COLUMN stepped INTEGER NOT NULL DEFAULT 0;
    """

  /// Adds a column that records whether an item's request was sent, so that no API receives one key with two contents.
  /// If a user's retry has reset an item's attempts, the last status or error shows that a request was sent. Also adds
  /// the time that orders items with the same `replaceKey`, which used to be ordered by number, and the number of
  /// responses that do not count as attempts.
  private static let making = """
    ALTER TABLE items ADD COLUMN has_left INTEGER NOT NULL DEFAULT 0;
    UPDATE items SET has_left = 1
      WHERE attempts = 0 AND unknown_since IS NULL AND (last_status IS NOT NULL OR last_error IS NOT NULL);
    ALTER TABLE items ADD COLUMN made_at INTEGER NOT NULL DEFAULT 0;
    UPDATE items SET made_at = latest FROM (
      SELECT n AS number, max(created_at) OVER (PARTITION BY owner, replace_key ORDER BY n) AS latest
      FROM items WHERE replace_key IS NOT NULL) WHERE n = number;
    ALTER TABLE items ADD COLUMN offline_answers INTEGER NOT NULL DEFAULT 0;
    DROP INDEX items_by_newness;
    CREATE INDEX items_by_newness ON items (owner, replace_key, made_at) WHERE replace_key IS NOT NULL;
    """

  /// A claim contains either the head of a lane and the items behind it up to a position, or one unordered item.
  private static let claims = """
    CREATE TABLE claims (
      epoch INTEGER PRIMARY KEY, owner INTEGER NOT NULL, lane TEXT, head INTEGER NOT NULL,
      first INTEGER NOT NULL, last INTEGER NOT NULL, claimed_at INTEGER NOT NULL
    );
    CREATE INDEX items_unknown ON items (owner) WHERE unknown_since IS NOT NULL AND state < 3;
    """

  /// Previously, all claimed items were stored as in flight. Any of their requests may have been sent, so the items
  /// become pending with an unknown result.
  private static func separateClaims(_ db: Database) throws {
    try db.execute(sql: claims)
    let lanes = try db.rows(
      """
      SELECT DISTINCT owner, lane FROM items
      WHERE owner IN (SELECT id FROM owners) AND state = 1 AND lane IS NOT NULL
      """
    ) { (owner: try $0.number(0), lane: try $0.name(1)) }
    try db.execute(
      sql: """
        UPDATE items SET state = 0, is_head = (lane IS NULL), due_at = 0, next_attempt_at = NULL,
          unknown_since = coalesce(unknown_since, claimed_at, created_at), last_error = ? WHERE state = 1
        """, arguments: [ItemProgress.lostError])
    try db.execute(sql: "UPDATE owners SET pending = pending + in_flight, in_flight = 0")
    for (owner, name) in lanes {
      let lane: StatementArguments = [owner, name]
      try db.execute(
        sql: "UPDATE items SET is_head = 0 WHERE owner = ? AND lane = ? AND state IN (0, 2) AND is_head = 1",
        arguments: lane)
      try db.execute(
        sql: """
          UPDATE items SET is_head = 1 WHERE n = (
            SELECT n FROM items WHERE owner = ? AND lane = ? AND state IN (0, 2) ORDER BY position LIMIT 1)
          """, arguments: lane)
    }
  }

  /// If an owner has several items with the same key, only the newest one keeps the key.
  private static let checksums = """
    ALTER TABLE items ADD COLUMN expect TEXT;
    ALTER TABLE contents ADD COLUMN checksum INTEGER;
    UPDATE items SET digest = NULL WHERE digest IS NOT NULL AND EXISTS (
      SELECT 1 FROM items AS newer WHERE newer.owner = items.owner AND newer.idempotency_key = items.idempotency_key
        AND newer.digest IS NOT NULL AND newer.n > items.n);
    DROP INDEX items_by_key;
    CREATE UNIQUE INDEX items_by_key ON items (owner, idempotency_key) WHERE digest IS NOT NULL;
    CREATE UNIQUE INDEX owners_by_subject ON owners (account, ifnull(issuer, ''), ifnull(subject, ''));
    """

  private static func addChecksums(_ db: Database) throws {
    try db.execute(sql: checksums)
    try ItemDigest.forEachContent(in: db) { number, _, _, actual in
      try db.cachedStatement(sql: OutboxQueries.setChecksum).execute(arguments: [actual, number])
    }
  }
}

extension OutboxItem.State {
  /// The state's number in the database. Active states are below 3. See `StoredItem.state`.
  var number: Int {
    switch self {
    case .pending: 0
    case .inFlight: 1
    case .waiting: 2
    case .held: 3
    case .delivered: 4
    case .dead: 5
    case .cancelled: 6
    case .superseded: 7
    }
  }

  static let byNumber: [OutboxItem.State] = allCases.sorted { $0.number < $1.number }

  init?(number: Int64) {
    guard let index = Int(exactly: number), Self.byNumber.indices.contains(index) else { return nil }
    self = Self.byNumber[index]
  }
}
