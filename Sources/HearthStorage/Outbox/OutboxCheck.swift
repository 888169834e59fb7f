internal import GRDB
internal import Glibc
package import HearthCore

/// Looks whether an outbox is sound: for `hearthd --check-outbox` in full, at each start the cheap part.
package enum OutboxCheck {
  /// Everything that is wrong with the outbox, one sentence each. The daemon must not run.
  package static func flaws(at path: String) throws(OutboxStoreFailure) -> [String] {
    // SQLite would make one.
    guard access(path, F_OK) == 0 else { return [] }
    try OutboxFile(path).refuseNewer()
    do {
      var configuration = Configuration()
      configuration.busyMode = .timeout(5)
      configuration.foreignKeysEnabled = false
      let database = try DatabaseQueue(path: path, configuration: configuration)
      return try database.writeWithoutTransaction { db in
        let integrity = try String.fetchAll(db, sql: "PRAGMA integrity_check")
        guard integrity == ["ok"] else { return integrity }
        return try orphans(db) + miscounts(db) + lanes(db)
      }
    } catch let error as DatabaseError where [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(error.resultCode) {
      return ["\(OutboxStoreFailure(error, at: path))"]
    } catch {
      throw OutboxStoreFailure(error, at: path)
    }
  }

  private static func orphans(_ db: Database) throws -> [String] {
    func count(_ sql: String, _ what: String) throws -> [String] {
      let count = try Int.fetchOne(db, sql: sql) ?? 0
      return count == 0 ? [] : ["\(count) \(what)."]
    }
    return try count(
      "SELECT count(*) FROM items WHERE owner NOT IN (SELECT id FROM owners)", "items have no owner")
      + count("SELECT count(*) FROM contents WHERE item NOT IN (SELECT n FROM items)", "contents have no item")
      + count(
        "SELECT count(*) FROM items WHERE state IN (0, 1, 2, 3, 5) AND n NOT IN (SELECT item FROM contents)",
        "items have no content")
      + count(
        "SELECT count(*) FROM items WHERE position > (SELECT last FROM places)", "items stand behind the last place")
  }

  /// The counts of the owners against the rows.
  private static func miscounts(_ db: Database) throws -> [String] {
    let ledger = try OutboxLedger(db)
    let counted = try counts(db)
    return ledger.owners.values.sorted { $0.id < $1.id }.compactMap { owner in
      let rows = counted[owner.id] ?? Counts()
      guard rows.byState != owner.counts || rows.bytes != owner.bytes else { return nil }
      return "The counts of account \(owner.account) are \(owner.counts) and \(owner.bytes) bytes, "
        + "those of its rows \(rows.byState) and \(rows.bytes)."
    }
  }

  /// Each lane's first active item is its head unless it is in flight, and nothing else is.
  private static func lanes(_ db: Database) throws -> [String] {
    let wrong = try String.fetchAll(
      db,
      sql: """
        SELECT id FROM items WHERE is_head <> (state IN (0, 2) AND (lane IS NULL OR position = (
          SELECT min(position) FROM items AS others
          WHERE others.owner = items.owner AND others.lane = items.lane AND others.state < 3)))
        LIMIT 10
        """)
    return wrong.isEmpty ? [] : ["Items stand wrong in their lanes: \(wrong.joined(separator: ", "))."]
  }

  private struct Counts {
    var byState = Array(repeating: 0, count: 8)
    var bytes = 0
  }

  private static func counts(_ db: Database) throws -> [Int64: Counts] {
    var counts: [Int64: Counts] = [:]
    for row in try Row.fetchAll(db, sql: "SELECT owner, state, count(*), sum(bytes) FROM items GROUP BY owner, state") {
      let state: Int = row[1]
      guard OutboxItem.State.byNumber.indices.contains(state) else { continue }
      counts[row[0], default: Counts()].byState[state] = row[2]
      if OutboxItem.State.byNumber[state].keepsContent { counts[row[0], default: Counts()].bytes += row[3] as Int }
    }
    return counts
  }

  /// The cheap part: reads the ledger and sees that each count is zero exactly where there are no rows. Where one is
  /// not, the counts are made anew.
  static func soundLedger(_ db: Database) throws -> OutboxLedger {
    let ledger = try OutboxLedger(db)
    for owner in ledger.owners.values {
      for state in OutboxItem.State.byNumber {
        let hasRows =
          try Row.fetchOne(db, sql: OutboxQueries.oldest, arguments: [owner.id, state.number]) != nil
        guard hasRows == (owner.counts[state.number] > 0) else { return try recounted(db) }
      }
    }
    return ledger
  }

  private static func recounted(_ db: Database) throws -> OutboxLedger {
    let counted = try counts(db)
    try db.inTransaction(.immediate) {
      for id in try Int64.fetchAll(db, sql: "SELECT id FROM owners") {
        let rows = counted[id] ?? Counts()
        let columns = OutboxLedger.columns.map { "\($0) = ?" }.joined(separator: ", ")
        try db.execute(
          sql: "UPDATE owners SET \(columns), bytes = ? WHERE id = ?",
          arguments: StatementArguments(rows.byState) + [rows.bytes, id])
      }
      return .commit
    }
    return try OutboxLedger(db)
  }
}
