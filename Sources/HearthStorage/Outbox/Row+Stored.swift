internal import GRDB
internal import HearthCore

/// Typed access to stored values. In a damaged database any column may hold a value of any type, and GRDB's subscripts
/// end the process over a value that they cannot convert.
extension Row {
  func integer(_ column: Int) throws -> Int64? {
    switch (self[column] as DatabaseValue).storage {
    case .null: nil
    case .int64(let number): number
    case .double, .string, .blob: throw broken(column)
    }
  }

  func text(_ column: Int) throws -> String? {
    switch (self[column] as DatabaseValue).storage {
    case .null: nil
    case .string(let text): text
    case .int64, .double, .blob: throw broken(column)
    }
  }

  /// An integer that must be there.
  func number(_ column: Int) throws -> Int64 {
    guard let number = try integer(column) else { throw broken(column) }
    return number
  }

  /// A count, clamped to bounds within which sums do not overflow.
  func count(_ column: Int, atMost most: Int) throws -> Int {
    Int(Swift.min(Swift.max(try number(column), 0), Int64(most)))
  }

  /// A text that must be there.
  func name(_ column: Int) throws -> String {
    guard let text = try text(column) else { throw broken(column) }
    return text
  }

  /// The message does not show the value: it may be a secret.
  private func broken(_ column: Int) -> OutboxStoreFailure {
    .broken("The outbox is damaged: a value in the column \(Array(columnNames)[column]) cannot be read.")
  }
}
