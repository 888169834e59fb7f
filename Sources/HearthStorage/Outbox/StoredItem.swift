internal import HearthCore

/// A row of the items table. `OutboxTransaction.shown` converts it to the item that the rest of the daemon uses.
struct StoredItem {
  let number: Int64
  let id: String
  var owner: Int64
  let lane: Name?
  var position: Int64
  var isHead: Bool
  let method: String
  let url: String
  let createdAt: Timestamp
  var idempotencyKey: String
  let bytes: Int
  let expect: ExpectedContent?
  let replaceKey: Name?
  /// Orders items with the same `replaceKey`, together with `number`. See `OutboxTransaction.madeAt`.
  let madeAt: Timestamp
  var progress: ItemProgress
  /// The `state` that is now in the row.
  var written: OutboxItem.State

  /// The state stored in the row. No item is stored as in flight, so that value is used for items held in place.
  var state: OutboxItem.State { progress.isHeldInPlace ? .inFlight : progress.state }

  /// The earliest time at which a head can be claimed, in milliseconds, or 0 for immediately.
  var dueAt: Int64 { progress.dueAt?.milliseconds ?? 0 }

  /// The time that orders heads: when the item became due or, for an item without a due time, when it was created.
  var readySince: Int64 { dueAt == 0 ? createdAt.milliseconds : dueAt }

  /// Reads the columns in the order of `OutboxQueries`.
  init(_ row: StoredRow) throws {
    func time(_ column: Int) throws -> Timestamp? {
      try row.integer(column).map(Timestamp.init(milliseconds:))
    }
    let state = OutboxItem.State(number: try row.number(5))
    number = try row.number(0)
    id = try row.name(1)
    owner = try row.number(2)
    lane = try row.text(3).map { Name($0) }
    position = try row.number(4)
    isHead = try row.number(7) != 0
    method = try row.name(9)
    url = try row.name(10)
    createdAt = Timestamp(milliseconds: try row.number(13))
    idempotencyKey = try row.name(21)
    bytes = try row.count(22, atMost: OutboxCounters.mostBytes)
    expect = try row.text(23).flatMap(ExpectedContent.init(rawValue:))
    replaceKey = try row.text(24).map { Name($0) }
    madeAt = Timestamp(milliseconds: try row.number(26))
    written = state ?? .dead
    progress = ItemProgress(state: written == .inFlight ? .held : written)
    progress.reason = try row.text(6).flatMap(OutboxItem.Reason.init(rawValue:))
    let dueAt = try row.number(8)
    progress.dueAt = dueAt == 0 ? nil : Timestamp(milliseconds: dueAt)
    progress.attempts = try row.count(11, atMost: Self.mostAttempts)
    progress.conflicts = try row.count(12, atMost: Self.mostAttempts)
    progress.offlineAnswers = try row.count(27, atMost: Self.mostAttempts)
    progress.notBefore = try time(14)
    progress.expiresAt = try time(15)
    progress.nextAttemptAt = try time(16)
    progress.unknownSince = try time(17)
    progress.hasLeft = try row.number(25) != 0
    progress.finishedAt = try time(18)
    progress.lastStatus = try row.integer(19).map(Int.init)
    progress.lastError = try row.text(20)
    guard self.state == state else {
      throw OutboxStoreFailure.broken("The outbox is damaged: an item is in an unknown state.")
    }
  }

  static let mostAttempts = 1 << 31
}

extension [APIRequest.Header] {
  /// The headers as stored, one `name:value` per line. Names contain no colon, and neither part contains a line feed.
  var stored: String { map { "\($0.name):\($0.value)" }.joined(separator: "\n") }

  init(stored text: String) {
    self = text.utf8.split(separator: UInt8(ascii: "\n")).map { line in
      let name = line.prefix { $0 != UInt8(ascii: ":") }
      let value = line[name.endIndex...].dropFirst()
      return APIRequest.Header(name: String(Substring(name)), value: String(Substring(value)))
    }
  }
}

/// A row of the claims table, used to recover claims after a crash.
struct StoredClaim {
  let epoch: Int64
  let owner: Int64
  /// The lane, or `nil` for a claim on one unordered item, which is the head.
  let lane: Name?
  let head: Int64
  /// The positions of the first and last claimed items.
  let first: Int64
  let last: Int64
  let claimedAt: Timestamp

  /// Reads the columns of `OutboxQueries.everyClaim`.
  init(_ row: StoredRow) throws {
    epoch = try row.number(0)
    owner = try row.number(1)
    lane = try row.text(2).map { Name($0) }
    head = try row.number(3)
    first = try row.number(4)
    last = try row.number(5)
    claimedAt = Timestamp(milliseconds: try row.number(6))
  }
}
