internal import GRDB
internal import HearthCore

/// A row of the items table.
struct StoredItem {
  let number: Int64
  let id: String
  var owner: Int64
  let lane: String?
  var position: Int64
  var state: OutboxItem.State
  var reason: OutboxItem.Reason?
  var isHead: Bool
  /// When a head may be taken, in milliseconds; 0 for at once.
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
    func time(_ index: Int) -> Timestamp? {
      (row[index] as Int64?).map(Timestamp.init(milliseconds:))
    }
    let stateNumber: Int = row[5]
    guard OutboxItem.State.byNumber.indices.contains(stateNumber) else {
      throw OutboxStoreFailure.broken("An item has the unknown state \(stateNumber).")
    }
    number = row[0]
    id = row[1]
    owner = row[2]
    lane = row[3]
    position = row[4]
    state = OutboxItem.State.byNumber[stateNumber]
    reason = (row[6] as String?).flatMap(OutboxItem.Reason.init(rawValue:))
    isHead = row[7]
    dueAt = row[8]
    method = row[9]
    url = row[10]
    attempts = row[11]
    conflicts = row[12]
    createdAt = Timestamp(milliseconds: row[13])
    notBefore = time(14)
    expiresAt = time(15)
    nextAttemptAt = time(16)
    claimedAt = time(17)
    unknownSince = time(18)
    finishedAt = time(19)
    lastStatus = row[20]
    lastError = row[21]
    idempotencyKey = row[22]
    bytes = row[23]
  }

  /// As people see it: what belongs to another user than the current one is held.
  func item(in ledger: OutboxLedger) throws -> OutboxItem {
    guard let owner = ledger.owners[owner] else {
      throw OutboxStoreFailure.broken("Item \(id) has no owner.")
    }
    let isOtherUsers = (state == .pending || state == .waiting) && ledger.isOtherUser(owner)
    return OutboxItem(
      id: id, account: owner.account, subject: owner.subject, lane: lane, method: method, url: url,
      state: isOtherUsers ? .held : state, reason: isOtherUsers ? .otherUser : reason, attempts: attempts,
      createdAt: createdAt, nextAttemptAt: isOtherUsers ? nil : nextAttemptAt, lastStatus: lastStatus,
      lastError: lastError, idempotencyKey: idempotencyKey, bytes: bytes)
  }
}

/// Headers as they are kept: one `name:value` a line. Neither may hold a line feed, and no name a colon.
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
