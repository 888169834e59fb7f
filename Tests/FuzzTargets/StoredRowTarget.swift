import FoundationEssentials
import GRDB
import HearthCore

@testable import HearthStorage

/// Rows of the outbox with values of any type in their columns, as in a damaged database.
enum StoredRowTarget {
  private static let columns = 40
  private static let database = try? DatabaseQueue()

  /// Each column uses one byte for its type and the next ones for its value.
  static func read(_ bytes: [UInt8]) {
    var rest = bytes[...]
    func take(_ count: Int) -> [UInt8] {
      let taken = Array(rest.prefix(count))
      rest = rest.dropFirst(count)
      return taken
    }
    let values: [(any DatabaseValueConvertible)?] = (0..<columns).map { _ in
      let kind = take(1).first ?? 0
      switch kind % 6 {
      case 0: return nil
      case 1: return Int64(kind / 6)
      case 2: return take(8).reduce(Int64(0)) { $0 << 8 | Int64($1) }
      case 3: return Double(bitPattern: take(8).reduce(0) { $0 << 8 | UInt64($1) })
      case 4: return String(decoding: take(Int(kind / 6)), as: UTF8.self)
      default: return Data(take(Int(kind / 6)))
      }
    }
    let marks = (0..<columns).map { "? AS c\($0)" }.joined(separator: ", ")
    try? database?.read { db in
      try db.forEachRow("SELECT \(marks)", StatementArguments(values)) { row in
        _ = (try? StoredItem(row))?.dueAt
        for column in 0..<columns {
          _ = try? row.number(column)
          _ = try? row.count(column, atMost: 1 << 31)
          _ = try? row.blob(column)
          if let text = try? row.text(column) {
            _ = [APIRequest.Header](stored: text)
          }
        }
      }
    }
  }
}
