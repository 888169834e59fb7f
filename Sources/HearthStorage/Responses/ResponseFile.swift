internal import GRDB
internal import Glibc

/// The database file of the response cache. Opens, creates and replaces the file.
struct ResponseFile: Sendable {
  /// The version of the tables. A file with another version is deleted and created again.
  private static let version = 1

  let path: String

  /// The reason why the file cannot be used, as a sentence.
  struct Unfit: Error {
    let sentence: String
  }

  private static let tables = """
    CREATE TABLE responses (
      id INTEGER PRIMARY KEY, account TEXT NOT NULL, issuer TEXT NOT NULL, subject TEXT NOT NULL, url TEXT NOT NULL,
      selectors TEXT NOT NULL, selection BLOB NOT NULL, confirmed_at INTEGER NOT NULL, initial_age INTEGER NOT NULL,
      is_validatable INTEGER NOT NULL, last_use INTEGER NOT NULL, bytes INTEGER NOT NULL, headers TEXT NOT NULL,
      body BLOB NOT NULL
    );
    CREATE UNIQUE INDEX responses_by_key ON responses (account, issuer, subject, url, selectors, selection);
    CREATE INDEX responses_by_use ON responses (account, last_use, bytes);
    CREATE INDEX responses_in_order ON responses (last_use);
    """

  var exists: Bool { access(path, F_OK) == 0 }

  /// Opens or creates the database. If the database is damaged or from another version, replaces it and passes a
  /// sentence about this to `report`.
  func open(_ report: (String) -> Void) throws -> DatabaseQueue {
    do {
      return try openAsItIs()
    } catch  where Self.isDamage(error) {
      report("\(Self.sentence(error, path)) Hearth deletes the file with all responses in it.")
      if let problem = remove() { throw Unfit(sentence: problem) }
      return try openAsItIs()
    }
  }

  private func openAsItIs() throws -> DatabaseQueue {
    if let problem = makePrivate(path) { throw Unfit(sentence: "\(path) \(problem).") }
    var configuration = Configuration()
    configuration.busyMode = .timeout(1)
    configuration.label = "hearth.responses"
    configuration.prepareDatabase { db in
      // Keep no free pages, and overwrite removed content. `auto_vacuum` takes effect only in a new file.
      try db.execute(sql: "PRAGMA auto_vacuum = FULL")
      try db.execute(sql: "PRAGMA journal_mode = WAL")
      // Do not sync every commit, because a response that a power loss removes from the cache can be requested again.
      try db.execute(sql: "PRAGMA synchronous = NORMAL")
      try db.execute(sql: "PRAGMA temp_store = MEMORY")
      _ = try Row.fetchOne(db, sql: "PRAGMA secure_delete = ON")
    }
    let database = try DatabaseQueue(path: path, configuration: configuration)
    try database.write { db in
      let version = try Int.fetchOne(db, sql: "PRAGMA user_version")
      if version == 0, try Row.fetchOne(db, sql: "SELECT 1 FROM sqlite_schema") == nil {
        try db.execute(sql: Self.tables)
        try db.execute(sql: "PRAGMA user_version = \(Self.version)")
      } else if version != Self.version {
        throw DatabaseError(resultCode: .SQLITE_NOTADB, message: "the file was written by another version of Hearth")
      }
    }
    return database
  }

  /// Removes the files. Returns a sentence if one of them cannot be removed.
  func remove() -> String? {
    for suffix in ["", "-wal", "-shm", "-journal"] where unlink(path + suffix) != 0 && errno != ENOENT {
      return "Cannot remove \(path)\(suffix), which contains API responses: \(String(cString: strerror(errno)))."
    }
    return nil
  }

  /// Returns whether the database itself is damaged or from another version, so that retrying does not help.
  static func isDamage(_ error: any Error) -> Bool {
    if error is RowDecodingError { return true }
    let codes: [ResultCode] = [
      .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_ERROR, .SQLITE_CONSTRAINT, .SQLITE_MISMATCH, .SQLITE_SCHEMA,
    ]
    return (error as? DatabaseError).map { codes.contains($0.resultCode) } ?? false
  }

  /// Returns a sentence about the error. The sentence never quotes the error of a row, which could contain a response.
  static func sentence(_ error: any Error, _ path: String) -> String {
    switch error {
    case let unfit as Unfit: "API responses are not cached: \(unfit.sentence)"
    case let error as DatabaseError:
      "Cannot use the cached API responses in \(path): \(error.message ?? "\(error.resultCode)")."
    case is RowDecodingError: "Cannot use the cached API responses in \(path): the file contains an invalid value."
    default: "Cannot use the cached API responses in \(path)."
    }
  }
}
