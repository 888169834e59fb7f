internal import HearthCore

/// A row of the items table. It names its owner by number: `OutboxTransaction.shown` makes of it the item that the rest
/// of the daemon knows.
struct StoredItem {
  let number: Int64
  let id: String
  var owner: Int64
  let lane: String?
  var position: Int64
  var isHead: Bool
  let method: String
  let url: String
  let createdAt: Timestamp
  let idempotencyKey: String
  let bytes: Int
  let expect: ExpectedContent?
  var progress: ItemProgress

  /// When a head may be claimed, in milliseconds; 0 for at once.
  var dueAt: Int64 { progress.dueAt?.milliseconds ?? 0 }

  /// Reads the columns in the order of `OutboxQueries`.
  init(_ row: StoredRow) throws {
    func time(_ column: Int) throws -> Timestamp? {
      try row.integer(column).map(Timestamp.init(milliseconds:))
    }
    guard let state = OutboxItem.State(number: try row.number(5)), state != .inFlight else {
      throw OutboxStoreFailure.broken("The outbox is damaged: an item is in no known state.")
    }
    number = try row.number(0)
    id = try row.name(1)
    owner = try row.number(2)
    lane = try row.text(3)
    position = try row.number(4)
    isHead = try row.number(7) != 0
    method = try row.name(9)
    url = try row.name(10)
    createdAt = Timestamp(milliseconds: try row.number(13))
    idempotencyKey = try row.name(21)
    bytes = try row.count(22, atMost: OutboxCounters.mostBytes)
    expect = try row.text(23).flatMap(ExpectedContent.init(rawValue:))
    progress = ItemProgress(state: state)
    progress.reason = try row.text(6).flatMap(OutboxItem.Reason.init(rawValue:))
    let dueAt = try row.number(8)
    progress.dueAt = dueAt == 0 ? nil : Timestamp(milliseconds: dueAt)
    progress.attempts = try row.count(11, atMost: Self.mostAttempts)
    progress.conflicts = try row.count(12, atMost: Self.mostAttempts)
    progress.notBefore = try time(14)
    progress.expiresAt = try time(15)
    progress.nextAttemptAt = try time(16)
    progress.unknownSince = try time(17)
    progress.finishedAt = try time(18)
    progress.lastStatus = try row.integer(19).map(Int.init)
    progress.lastError = try row.text(20)
  }

  static let mostAttempts = 1 << 31
}

/// Headers as they are stored: one `name:value` a line. Neither holds a line feed, and no name holds a colon.
enum StoredHeaders {
  static func encode(_ headers: [APIRequest.Header]) -> String {
    headers.map { "\($0.name):\($0.value)" }.joined(separator: "\n")
  }

  static func decode(_ text: String) -> [APIRequest.Header] {
    text.utf8.split(separator: UInt8(ascii: "\n")).map { line in
      let name = line.prefix { $0 != UInt8(ascii: ":") }
      let value = line[name.endIndex...].dropFirst()
      return APIRequest.Header(name: String(Substring(name)), value: String(Substring(value)))
    }
  }
}
