internal import GRDB
internal import GRDBSQLite
internal import HearthCore

/// The current row of a statement, valid until the next step. Columns are identified by number. In a damaged database,
/// any column can contain a value of any type.
///
/// GRDB's own row creates a dictionary of column names for each query, which takes longer than most of the outbox's
/// queries. The subscripts of GRDB's row also crash if a value cannot be converted.
struct StoredRow {
  fileprivate let statement: Statement

  private var pointer: OpaquePointer { statement.sqliteStatement }

  func integer(_ column: Int) throws -> Int64? {
    switch sqlite3_column_type(pointer, Int32(column)) {
    case SQLITE_NULL: nil
    case SQLITE_INTEGER: sqlite3_column_int64(pointer, Int32(column))
    default: throw broken(column)
    }
  }

  func text(_ column: Int) throws -> String? {
    switch sqlite3_column_type(pointer, Int32(column)) {
    case SQLITE_NULL: nil
    case SQLITE_TEXT: String(decoding: bytes(sqlite3_column_text(pointer, Int32(column)), of: column), as: UTF8.self)
    default: throw broken(column)
    }
  }

  func blob(_ column: Int) throws -> [UInt8]? {
    switch sqlite3_column_type(pointer, Int32(column)) {
    case SQLITE_NULL: nil
    case SQLITE_BLOB: Array(bytes(sqlite3_column_blob(pointer, Int32(column)), of: column))
    default: throw broken(column)
    }
  }

  /// Reads an integer that must not be NULL.
  func number(_ column: Int) throws -> Int64 {
    guard let number = try integer(column) else { throw broken(column) }
    return number
  }

  /// Reads a count and clamps it, so that sums cannot overflow.
  func count(_ column: Int, atMost most: Int) throws -> Int {
    Int(min(max(try number(column), 0), Int64(most)))
  }

  /// Reads text that must not be NULL.
  func name(_ column: Int) throws -> String {
    guard let text = try text(column) else { throw broken(column) }
    return text
  }

  /// Returns the bytes of a column. `start` is `nil` for an empty value.
  private func bytes(_ start: UnsafeRawPointer?, of column: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite3_column_bytes(pointer, Int32(column))))
  }

  /// The message does not include the value, which may be a secret.
  private func broken(_ column: Int) -> OutboxStoreFailure {
    .broken("The outbox is damaged: a value in the column \(statement.columnNames[column]) cannot be read.")
  }
}

extension Name: DatabaseValueConvertible {
  var databaseValue: DatabaseValue { text.databaseValue }

  static func fromDatabaseValue(_ value: DatabaseValue) -> Name? {
    String.fromDatabaseValue(value).map { Name($0) }
  }
}

extension Database {
  /// Returns the first non-`nil` value that `body` returns for a row. `body` must not run the same query.
  func firstRow<T>(_ sql: String, _ arguments: StatementArguments = [], _ body: (StoredRow) throws -> T?) throws -> T? {
    let statement = try cachedStatement(sql: sql)
    try statement.setArguments(arguments)
    defer { sqlite3_reset(statement.sqliteStatement) }
    while true {
      switch sqlite3_step(statement.sqliteStatement) {
      case SQLITE_ROW: if let value = try body(StoredRow(statement: statement)) { return value }
      case SQLITE_DONE: return nil
      case let code: throw DatabaseError(resultCode: ResultCode(rawValue: code), message: lastErrorMessage, sql: sql)
      }
    }
  }

  /// Calls `body` for each row. `body` must not run the same query.
  func forEachRow(_ sql: String, _ arguments: StatementArguments = [], _ body: (StoredRow) throws -> Void) throws {
    _ = try firstRow(sql, arguments) { row in
      try body(row)
      return Never?.none
    }
  }

  /// Returns the result of `body` for each row. `body` must not run the same query.
  func rows<T>(_ sql: String, _ arguments: StatementArguments = [], _ body: (StoredRow) throws -> T) throws -> [T] {
    var values: [T] = []
    try forEachRow(sql, arguments) { values.append(try body($0)) }
    return values
  }
}
