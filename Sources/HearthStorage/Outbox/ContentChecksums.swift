internal import GRDB
internal import HearthCore

enum ContentChecksums {
  /// Calls `body` for each item that has content, with its number, id, stored checksum and actual checksum.
  static func forEach(in db: Database, _ body: (Int64, String, _ kept: Int64?, _ actual: Int64) throws -> Void) throws {
    let sql = """
      SELECT n, id, method, url, idempotency_key, headers, body, checksum
      FROM items JOIN contents ON item = n
      """
    try db.forEachRow(sql) { row in
      let content = ItemDigest.content(
        method: try row.name(2), url: try row.name(3), headers: StoredHeaders.decode(try row.name(5)),
        body: try row.blob(6) ?? [])
      let actual = ItemDigest.checksum(content, idempotencyKey: try row.name(4))
      try body(try row.number(0), try row.name(1), try row.integer(7), actual)
    }
  }

  /// Returns whether the database's schema includes checksums.
  static func areKept(in db: Database) throws -> Bool {
    try db.tableExists("contents") && db.columns(in: "contents").contains { $0.name == "checksum" }
  }
}
