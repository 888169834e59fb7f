internal import GRDB
internal import HearthCore

/// The outbox within one transaction: its rows, and the counters that change with them.
final class OutboxTransaction {
  let db: Database
  var counters: OutboxCounters

  init(_ db: Database, _ counters: OutboxCounters) {
    self.db = db
    self.counters = counters
  }

  // MARK: - Rows

  func rows(_ sql: String, _ arguments: StatementArguments) throws -> [StoredItem] {
    let cursor = try Row.fetchCursor(try db.cachedStatement(sql: sql), arguments: arguments)
    var rows: [StoredItem] = []
    while let row = try cursor.next() { rows.append(try StoredItem(row)) }
    return rows
  }

  func row(_ sql: String, _ arguments: StatementArguments) throws -> StoredItem? {
    try rows(sql, arguments).first
  }

  func number(_ sql: String, _ arguments: StatementArguments) throws -> Int64? {
    try Int64.fetchOne(try db.cachedStatement(sql: sql), arguments: arguments)
  }

  func execute(_ sql: String, _ arguments: StatementArguments) throws {
    try db.cachedStatement(sql: sql).execute(arguments: arguments)
  }

  /// Writes a row back, and brings the counters and the content in step with its new state.
  func write(_ item: StoredItem, was old: OutboxItem.State) throws {
    try execute(
      OutboxQueries.update,
      [
        item.owner, item.position, item.state.number, item.reason?.rawValue, item.isHead, item.dueAt, item.attempts,
        item.conflicts, item.notBefore?.milliseconds, item.expiresAt?.milliseconds, item.nextAttemptAt?.milliseconds,
        item.unknownSince?.milliseconds, item.finishedAt?.milliseconds, item.lastStatus, item.lastError, item.number,
      ])
    if old != item.state {
      counters.moved(old, item.state, bytes: item.bytes, of: item.owner)
      if old.keepsContent, !item.state.keepsContent {
        try execute(OutboxQueries.deleteContent, [item.number])
      }
    }
  }

  // MARK: - Lanes

  func isLaneBusy(_ owner: Int64, _ lane: String) throws -> Bool {
    for state in [0, 1, 2] where try number(OutboxQueries.firstOfLane, [owner, lane, state]) != nil { return true }
    return false
  }

  /// The first active item of a lane.
  func first(_ owner: Int64, _ lane: String) throws -> (number: Int64, state: Int, isHead: Bool)? {
    var first: (number: Int64, position: Int64, state: Int, isHead: Bool)?
    for state in [0, 1, 2] {
      let statement = try db.cachedStatement(sql: OutboxQueries.firstOfLane)
      guard let row = try Row.fetchOne(statement, arguments: [owner, lane, state]) else { continue }
      let position = try row.number(1)
      if position < first?.position ?? .max { first = (try row.number(0), position, state, try row.number(2) != 0) }
    }
    return first.map { ($0.number, $0.state, $0.isHead) }
  }

  /// Makes the first active item of a lane its head, unless it is in flight.
  func promote(_ owner: Int64, _ lane: String) throws {
    guard let first = try first(owner, lane), first.state != 1, !first.isHead else { return }
    try execute(OutboxQueries.setHead, [true, first.number])
  }

  // MARK: - Reading

  func stats(of account: AccountName?) throws -> OutboxStats {
    let owners = counters.owners.values.filter { account == nil || $0.account == account }
    return try owners.reduce(OutboxStats()) { $0.adding(try stats(of: $1)) }
  }

  /// The counts as they are now, under the next number. The caller has to publish them: numbers without a gap order the
  /// events.
  func totals() throws -> OutboxTotals {
    counters.lastTotals += 1
    var totals = OutboxTotals()
    totals.number = counters.lastTotals
    for owner in counters.owners.values {
      totals.accounts[owner.account] = (totals.accounts[owner.account] ?? OutboxStats()).adding(try stats(of: owner))
    }
    return totals
  }

  private func stats(of owner: OutboxCounters.Owner) throws -> OutboxStats {
    var stats = OutboxStats()
    let isOtherUser = counters.isOtherUser(owner)
    for state in OutboxItem.State.byNumber {
      let count = owner.counts[state.number]
      switch state {
      case .pending: if isOtherUser { stats.held += count } else { stats.pending += count }
      case .waiting: if isOtherUser { stats.held += count } else { stats.waiting += count }
      case .inFlight: stats.inFlight += count
      case .held: stats.held += count
      case .delivered: stats.delivered += count
      case .dead: stats.dead += count
      case .cancelled, .superseded: break
      }
    }
    stats.bytes = owner.bytes
    if !isOtherUser { stats.oldestPendingAt = try oldestPending(of: owner) }
    return stats
  }

  private func oldestPending(of owner: OutboxCounters.Owner) throws -> Timestamp? {
    if case .some(let known) = owner.oldestPendingAt { return known }
    var oldest: Timestamp?
    for state in [OutboxItem.State.pending, .waiting] where owner.counts[state.number] > 0 {
      guard let time = try number(OutboxQueries.oldest, [owner.id, state.number]) else { continue }
      oldest = min(oldest ?? .distantFuture, Timestamp(milliseconds: time))
    }
    counters.remember(oldest: oldest, of: owner.id)
    return oldest
  }

  func list(_ query: OutboxQuery) throws -> OutboxPage {
    let after = query.cursor.map { Int64($0) ?? .max } ?? 0
    let limit = max(query.limit, 1)
    let (all, places) =
      query.lane == nil
      ? (OutboxQueries.byState, OutboxQueries.placesByState) : (OutboxQueries.byLane, OutboxQueries.placesByLane)
    // Positions first, which the indexes hold: whole rows are read for this page alone.
    var found: [(place: Int64, source: Int)] = []
    var sources: [StatementArguments] = []
    for owner in counters.owners.values where query.account == nil || owner.account == query.account {
      for state in states(shownAs: query.state, of: owner) where owner.counts[state.number] > 0 {
        var source: StatementArguments = [owner.id]
        if let lane = query.lane { source += [lane] }
        source += [state.number, after]
        let statement = try db.cachedStatement(sql: places)
        found += try Int64.fetchAll(statement, arguments: source + [limit + 1]).map { ($0, sources.count) }
        sources.append(source)
      }
    }
    found.sort { $0.place < $1.place }
    let page = found.prefix(limit)
    var items: [StoredItem] = []
    for (index, source) in sources.enumerated() {
      let count = page.count { $0.source == index }
      if count > 0 { items += try rows(all, source + [count]) }
    }
    items.sort { $0.position < $1.position }
    return OutboxPage(
      items: try items.map { try $0.item(in: counters) },
      cursor: found.count > limit ? page.last.map { String($0.place) } : nil)
  }

  /// The states in the database of the items that are shown as `state`.
  private func states(shownAs state: OutboxItem.State?, of owner: OutboxCounters.Owner) -> [OutboxItem.State] {
    guard let state else { return OutboxItem.State.byNumber }
    guard counters.isOtherUser(owner) else { return [state] }
    switch state {
    case .pending, .waiting: return []
    case .held: return [.held, .pending, .waiting]
    case .inFlight, .delivered, .dead, .cancelled, .superseded: return [state]
    }
  }
}
