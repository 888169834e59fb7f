internal import GRDB
internal import Glibc
internal import HearthCore

/// Checks an outbox for damage. A full check runs for `hearthd --check-outbox`, and the next time the outbox is opened
/// after damage was found in it. A quick check runs each time the outbox is opened.
package enum OutboxCheck {
  /// Describes each problem in the outbox. No process may have the outbox open.
  package static func problems(at path: String) throws -> [String] {
    // SQLite would create a missing file, so check for the file first.
    guard access(path, F_OK) == 0 else { return [] }
    let file = OutboxFile(path)
    // This check must come first, because SQLite discards the log of an empty database when it opens the database.
    guard !file.isEmptied else {
      return ["The outbox \(path) is empty although items had been written to it. They are lost."]
    }
    try file.refuseUnfit()
    do {
      var configuration = Configuration()
      configuration.busyMode = .timeout(5)
      configuration.foreignKeysEnabled = false
      let database = try DatabaseQueue(path: path, configuration: configuration)
      return try database.writeWithoutTransaction { db in
        let integrity = try String.fetchAll(db, sql: "PRAGMA integrity_check")
        guard integrity == ["ok"] else { return integrity }
        guard try !OutboxSchema.isContradictory(db) else {
          return ["The outbox \(path) is damaged: its list of migrations does not match its tables."]
        }
        // The file was created but never opened as an outbox.
        guard try db.tableExists("owners") else { return [] }
        var problems: [String] = []
        try db.inTransaction(.deferred) {
          // Migrate an outbox of an older version before checking it. The migration is rolled back afterwards.
          try OutboxSchema.complete(db)
          // Throws if an item or a claim cannot be read.
          try db.forEachRow(OutboxQueries.every) { _ = try StoredItem($0) }
          try db.forEachRow(OutboxQueries.everyClaim) { _ = try StoredClaim($0) }
          problems =
            try count(db, unreadable) + damagedContents(db) + count(db, orphans) + miscounts(db) + lanes(db)
          return .rollback
        }
        return problems
      }
    } catch {
      let failure = OutboxStoreFailure(opening: error, at: path)
      if case .broken(let problem) = failure { return [problem] }
      throw failure
    }
  }

  /// Counts the rows that match each condition.
  private static func count(_ db: Database, _ problems: KeyValuePairs<String, String>) throws -> [String] {
    try problems.compactMap { what, rows in
      let count = try Int.fetchOne(db, sql: "SELECT count(*) FROM \(rows)") ?? 0
      return count == 0 ? nil : "\(what): \(count)."
    }
  }

  /// Items and contents that contain a value of the wrong type.
  private static let unreadable: KeyValuePairs = [
    "Items that cannot be read": """
    items WHERE typeof(origin) <> 'text' OR typeof(digest) NOT IN ('blob', 'null')
      OR typeof(replace_key) NOT IN ('text', 'null')
    """,
    "Contents that cannot be read": "contents WHERE typeof(headers) <> 'text' OR typeof(body) NOT IN ('blob', 'null')",
  ]

  private static let orphans: KeyValuePairs = [
    "Items without an owner": "items WHERE owner NOT IN (SELECT id FROM owners)",
    "Contents without an item": "contents WHERE item NOT IN (SELECT n FROM items)",
    "Items without content": "items WHERE state IN (0, 1, 2, 3, 5) AND n NOT IN (SELECT item FROM contents)",
    "Items beyond the last position": "items WHERE position > (SELECT last FROM places)",
    "Claims for items or owners that do not exist": """
    claims WHERE owner NOT IN (SELECT id FROM owners) OR epoch > (SELECT last FROM places)
      OR lane IS NULL AND head NOT IN (SELECT n FROM items WHERE state IN (0, 2))
    """,
  ]

  /// Finds items whose content does not match its checksum.
  private static func damagedContents(_ db: Database) throws -> [String] {
    var wrong: [String] = []
    try ItemDigest.forEachContent(in: db) { _, id, kept, actual in
      if kept != actual { wrong.append(id) }
    }
    return wrong.isEmpty ? [] : ["Items with damaged content: \(wrong.prefix(10).joined(separator: ", "))."]
  }

  /// Compares the owners' counts with their rows.
  private static func miscounts(_ db: Database) throws -> [String] {
    let counters = try OutboxCounters(db)
    let counted = try counts(db)
    return counters.owners.values.sorted { $0.id < $1.id }.compactMap { owner in
      let rows = counted[owner.id] ?? none
      guard rows.byState != owner.counts || rows.bytes != owner.bytes else { return nil }
      return "The stored counts for account \(owner.account) (\(owner.counts), \(owner.bytes) bytes) differ from its "
        + "items (\(rows.byState), \(rows.bytes) bytes)."
    }
  }

  /// Checks that the heads are exactly the first active item of each unclaimed lane and each unclaimed active unordered
  /// item, except for items that are held in place.
  private static func lanes(_ db: Database) throws -> [String] {
    let wrong = try String.fetchAll(
      db,
      sql: """
        SELECT id FROM items WHERE is_head <> (state IN (0, 2) AND CASE WHEN lane IS NULL
          THEN n NOT IN (SELECT head FROM claims WHERE lane IS NULL)
          ELSE (owner, lane) NOT IN (SELECT owner, lane FROM claims WHERE lane IS NOT NULL) AND position = (
            SELECT min(position) FROM items AS others
            WHERE others.owner = items.owner AND others.lane = items.lane AND others.state < 3) END)
        LIMIT 10
        """)
    return wrong.isEmpty ? [] : ["Items whose \"next to send\" mark is wrong: \(wrong.joined(separator: ", "))."]
  }

  private static let none = (byState: Array(repeating: 0, count: 8), bytes: 0)

  /// Counts the rows of each owner.
  private static func counts(_ db: Database) throws -> [Int64: (byState: [Int], bytes: Int)] {
    var counts: [Int64: (byState: [Int], bytes: Int)] = [:]
    let sql = """
      SELECT owner, state, count(*), sum(max(0, min(bytes, \(OutboxCounters.mostBytes)))) FROM items GROUP BY owner, state
      """
    try db.forEachRow(sql) { row in
      guard let state = OutboxItem.State(number: try row.number(1)) else { return }
      let owner = try row.number(0)
      counts[owner, default: none].byState[state.number] = try row.count(2, atMost: OutboxCounters.mostItems)
      if state.keepsContent {
        counts[owner, default: none].bytes += try row.count(3, atMost: OutboxCounters.mostBytes)
      }
    }
    return counts
  }

  /// Runs the quick check. Each counter must be within its bounds, and must be zero if and only if no row has its
  /// state. If a counter is wrong, counts all rows.
  static func soundCounters(_ db: Database) throws -> OutboxCounters {
    let counters = try OutboxCounters(db)
    for owner in counters.owners.values {
      guard owner.bytes < OutboxCounters.mostBytes else { return try recounted(db) }
      for state in OutboxItem.State.byNumber {
        let hasRows =
          try db.firstRow(OutboxQueries.placesByState, [owner.id, state.number, -1, 1]) { _ in true } ?? false
        guard hasRows == (owner[state] > 0), owner[state] < OutboxCounters.mostItems else { return try recounted(db) }
      }
    }
    return counters
  }

  private static func recounted(_ db: Database) throws -> OutboxCounters {
    let counted = try counts(db)
    try db.inTransaction(.immediate) {
      for id in try Int64.fetchAll(db, sql: "SELECT id FROM owners") {
        let rows = counted[id] ?? none
        let columns = OutboxCounters.columns.map { "\($0) = ?" }.joined(separator: ", ")
        try db.execute(
          sql: "UPDATE owners SET \(columns), bytes = ? WHERE id = ?",
          arguments: StatementArguments(rows.byState) + [rows.bytes, id])
      }
      return .commit
    }
    return try OutboxCounters(db)
  }
}
