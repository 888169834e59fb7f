internal import Crypto
internal import FoundationEssentials
internal import GRDB
internal import HearthControl
internal import HearthCore

enum ResponseQueries {
  private static func owner(of key: ResponseKey) -> StatementArguments {
    [key.account.description, key.subject.issuer, key.subject.id]
  }

  /// Returns the newest response that matches the request, with its row id.
  static func find(_ key: ResponseKey, in db: Database) throws -> (id: Int64, response: StoredResponse)? {
    let sql = "SELECT headers, body, selectors, confirmed_at, initial_age, is_validatable FROM responses WHERE id = ?"
    guard let id = try matches(key, in: db).first, let row = try Row.fetchOne(db, sql: sql, arguments: [id]) else {
      return nil
    }
    return (id, try response(row))
  }

  /// Returns the ids of the responses that match the request, newest first. Compares hashes of the request's field
  /// values, because the values may be secrets and are not stored.
  private static func matches(_ key: ResponseKey, in db: Database) throws -> [Int64] {
    let rows = try Row.fetchAll(
      db,
      sql: """
        SELECT id, selectors, selection FROM responses
        WHERE account = ? AND issuer = ? AND subject = ? AND url = ? ORDER BY confirmed_at DESC, id DESC
        """, arguments: owner(of: key) + [key.url])
    return try rows.compactMap { row in
      let (id, text) = (try row.decode(Int64.self, atIndex: 0), try row.decode(String.self, atIndex: 1))
      let selectors = text.split(separator: ",").map(String.init)
      let selection = try row.decode(Data.self, atIndex: 2)
      return hash(key, selectors) == selection ? id : nil
    }
  }

  private static func response(_ row: Row) throws -> StoredResponse {
    guard let json = try? JSON(parsing: Array(try row.decode(String.self, atIndex: 0).utf8)), let fields = json.array
    else { throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the header fields of a response cannot be read") }
    let headers = fields.compactMap { field -> APIRequest.Header? in
      guard let parts = field.array, parts.count == 2, let name = parts[0].string, let value = parts[1].string else {
        return nil
      }
      return APIRequest.Header(name: name, value: value)
    }
    return StoredResponse(
      headers: headers, body: Array(try row.decode(Data.self, atIndex: 1)),
      selectors: try row.decode(String.self, atIndex: 2).split(separator: ",").map(String.init),
      confirmedAt: Timestamp(milliseconds: try row.decode(Int64.self, atIndex: 3)),
      initialAge: .seconds(try row.decode(Int64.self, atIndex: 4)), isValidatable: try row.decode(Bool.self, atIndex: 5)
    )
  }

  private static func hash(_ key: ResponseKey, _ selectors: [String]) -> Data {
    Data(SHA256.hash(data: Array(key.selection(by: selectors).utf8)))
  }

  static func insert(_ response: StoredResponse, for key: ResponseKey, in db: Database) throws {
    let headers = JSON.array(response.headers.map { .array([.string($0.name), .string($0.value)]) })
    try db.execute(
      sql: """
        INSERT INTO responses (account, issuer, subject, url, selectors, selection, confirmed_at, initial_age,
          is_validatable, last_use, bytes, headers, body)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, \(nextUse), ?, ?, ?)
        """,
      arguments: owner(of: key)
        + [
          key.url, response.selectors.joined(separator: ","), hash(key, response.selectors),
          response.confirmedAt.milliseconds, response.initialAge.components.seconds, response.isValidatable,
          response.size, headers.description, Data(response.body),
        ])
  }

  /// The SQL for the number of the next use. Uses are numbered, not dated, because the clock may be set back.
  private static let nextUse = "(SELECT ifnull(max(last_use), 0) + 1 FROM responses)"

  static func touch(_ id: Int64, in db: Database) throws {
    try db.execute(sql: "UPDATE responses SET last_use = \(nextUse) WHERE id = ?", arguments: [id])
  }

  static func remove(_ key: ResponseKey, in db: Database) throws {
    for id in try matches(key, in: db) {
      try db.execute(sql: "DELETE FROM responses WHERE id = ?", arguments: [id])
    }
  }

  static func makeRoom(in account: AccountName, limit: Int, in db: Database) throws {
    try db.execute(
      sql: """
        DELETE FROM responses WHERE id IN (
          SELECT id FROM (
            SELECT id, sum(bytes) OVER (ORDER BY last_use DESC) AS total FROM responses WHERE account = ?)
          WHERE total > ?)
        """, arguments: [account.description, limit])
  }

  static func wipe(_ account: AccountName, keeping subject: Subject?, in db: Database) throws {
    if let subject {
      try db.execute(
        sql: "DELETE FROM responses WHERE account = ? AND NOT (issuer = ? AND subject = ?)",
        arguments: [account.description, subject.issuer, subject.id])
    } else {
      try db.execute(sql: "DELETE FROM responses WHERE account = ?", arguments: [account.description])
    }
  }

  static func wipeAll(but accounts: Set<AccountName>, in db: Database) throws {
    let names = JSON.array(accounts.map { .string($0.description) })
    try db.execute(
      sql: "DELETE FROM responses WHERE account NOT IN (SELECT value FROM json_each(?))",
      arguments: [names.description])
  }
}
