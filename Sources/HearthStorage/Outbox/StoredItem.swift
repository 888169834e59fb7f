internal import GRDB
internal import HearthCore

/// A row of the items table. It names its owner by number: `item(in:)` makes of it the item that the rest of the daemon
/// knows.
struct StoredItem {
  let number: Int64
  let id: String
  var owner: Int64
  let lane: String?
  var position: Int64
  var state: OutboxItem.State
  var reason: OutboxItem.Reason?
  var isHead: Bool
  /// When a head may be claimed, in milliseconds; 0 for at once.
  var dueAt: Int64
  let method: String
  let url: String
  var attempts: Int
  var conflicts: Int
  let createdAt: Timestamp
  var notBefore: Timestamp?
  var expiresAt: Timestamp?
  var nextAttemptAt: Timestamp?
  let claimedAt: Timestamp?
  var unknownSince: Timestamp?
  var finishedAt: Timestamp?
  var lastStatus: Int?
  var lastError: String?
  let idempotencyKey: String
  let bytes: Int

  /// Reads the columns in the order of `OutboxQueries`.
  init(_ row: Row) throws {
    func time(_ column: Int) throws -> Timestamp? {
      try row.integer(column).map(Timestamp.init(milliseconds:))
    }
    guard let state = OutboxItem.State(number: try row.number(5)) else {
      throw OutboxStoreFailure.broken("The outbox is damaged: an item is in no known state.")
    }
    number = try row.number(0)
    id = try row.name(1)
    owner = try row.number(2)
    lane = try row.text(3)
    position = try row.number(4)
    self.state = state
    reason = try row.text(6).flatMap(OutboxItem.Reason.init(rawValue:))
    isHead = try row.number(7) != 0
    dueAt = try row.number(8)
    method = try row.name(9)
    url = try row.name(10)
    attempts = try row.count(11, atMost: Self.mostAttempts)
    conflicts = try row.count(12, atMost: Self.mostAttempts)
    createdAt = Timestamp(milliseconds: try row.number(13))
    notBefore = try time(14)
    expiresAt = try time(15)
    nextAttemptAt = try time(16)
    claimedAt = try time(17)
    unknownSince = try time(18)
    finishedAt = try time(19)
    lastStatus = try row.integer(20).map(Int.init)
    lastError = try row.text(21)
    idempotencyKey = try row.name(22)
    bytes = try row.count(23, atMost: OutboxCounters.mostBytes)
  }

  static let mostAttempts = 1 << 31

  /// The item as it is shown: one of another user than the current one is held.
  func item(in counters: OutboxCounters) throws -> OutboxItem {
    guard let owner = counters.owners[owner] else {
      throw OutboxStoreFailure.broken("Item \(id) has no owner.")
    }
    let isOtherUsers = (state == .pending || state == .waiting) && counters.isOtherUser(owner)
    return OutboxItem(
      id: id, account: owner.account, subject: owner.subject, lane: lane, method: method, url: url,
      state: isOtherUsers ? .held : state, reason: isOtherUsers ? .otherUser : reason, attempts: attempts,
      createdAt: createdAt, nextAttemptAt: isOtherUsers ? nil : nextAttemptAt, lastStatus: lastStatus,
      lastError: lastError, idempotencyKey: idempotencyKey, bytes: bytes)
  }
}

/// Headers as they are stored: one `name:value` a line. Neither holds a line feed, and no name holds a colon.
enum StoredHeaders {
  static func encode(_ headers: [APIRequest.Header]) -> String {
    headers.map { "\($0.name):\($0.value)" }.joined(separator: "\n")
  }

  static func decode(_ text: String) -> [APIRequest.Header] {
    text.split(separator: "\n").map { line in
      let name = line.prefix { $0 != ":" }
      return APIRequest.Header(name: String(name), value: String(line[name.endIndex...].dropFirst()))
    }
  }
}
