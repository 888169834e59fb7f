internal import HearthCore

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
