internal import GRDB
internal import HearthCore

/// Counts and lists items as clients see them.
extension OutboxTransaction {
  func stats(of account: AccountName?) throws -> OutboxStats {
    let owners = counters.owners.values.filter { account == nil || $0.account == account }
    return try owners.reduce(OutboxStats()) { $0.adding(try stats(of: $1)) }
  }

  private func stats(of owner: OutboxCounters.Owner) throws -> OutboxStats {
    let begun = claims.begunCounts(of: owner.id)
    let isHeld = counters.holdReason(of: owner) != nil
    let (pending, waiting) = (max(owner[.pending] - begun.pending, 0), max(owner[.waiting] - begun.waiting, 0))
    var stats = OutboxStats()
    stats.pending = isHeld ? 0 : pending
    stats.waiting = isHeld ? 0 : waiting
    stats.inFlight = begun.all
    stats.held = owner[.held] + owner[.inFlight] + (isHeld ? pending + waiting : 0)
    stats.delivered = owner[.delivered]
    stats.dead = owner[.dead]
    stats.bytes = owner.bytes
    if !isHeld { stats.oldestPendingAt = try oldestPending(of: owner, begun) }
    return stats
  }

  /// Returns the creation time of the oldest item that waits for delivery and has not begun.
  private func oldestPending(of owner: OutboxCounters.Owner, _ begun: ClaimTable.Counts) throws -> Timestamp? {
    if begun.all == 0, case .some(let known) = owner.oldestPendingAt { return known }
    let oldest = try db.firstRow(OutboxQueries.oldest, [owner.id]) { row in
      try begun.all > 0 && claims.isBegun(row.number(0)) ? nil : Timestamp(milliseconds: try row.number(1))
    }
    if begun.all == 0 { counters.remember(oldest: oldest, of: owner.id) }
    return oldest
  }

  /// Lists items. If `keepingContent` is true, lists only items whose content is stored.
  func list(_ query: OutboxQuery, keepingContent: Bool = false) throws -> OutboxPage {
    let after = query.cursor.map { Int64($0) ?? .max } ?? 0
    let limit = max(query.limit, 1)
    // Read the begun items only once, because more requests can start in the meantime.
    let begun = claims.begun()
    let numbers = Set(begun.keys.map(\.number))
    // Find the positions first, because the indexes contain them, and read full rows only for this page.
    var found: [(position: Int64, number: Int64)] = []
    if query.state == .inFlight {
      for (item, claim) in begun where item.position > after && (query.lane == nil || claim.lane == query.lane) {
        guard query.account == nil || counters.owners[claim.owner]?.account == query.account else { continue }
        found.append((item.position, item.number))
      }
    }
    for owner in counters.owners.values where query.account == nil || owner.account == query.account {
      for state in states(shownAs: query.state, of: owner)
      where owner[state] > 0 && (!keepingContent || state.keepsContent) {
        var source: StatementArguments = [owner.id]
        if let lane = query.lane { source += [lane] }
        source += [state.number, after, limit + 1 + (query.state == nil ? 0 : begun.count)]
        let sql = query.lane == nil ? OutboxQueries.placesByState : OutboxQueries.placesByLane
        let places = try db.rows(sql, source) { (position: try $0.number(0), number: try $0.number(1)) }
        found += places.filter { query.state == nil || !numbers.contains($0.number) }
      }
    }
    found.sort { $0.position < $1.position }
    let items = try found.prefix(limit).compactMap { place in
      try row(OutboxQueries.byNumber, [place.number]).map { try shown($0, hasBegun: numbers.contains($0.number)) }
    }
    return OutboxPage(items: items, cursor: found.count > limit ? String(found[limit - 1].position) : nil)
  }

  /// Returns the stored states of the items that clients see in `state`, not counting items that have begun.
  func states(shownAs state: OutboxItem.State?, of owner: OutboxCounters.Owner) -> [OutboxItem.State] {
    guard let state else { return OutboxItem.State.byNumber }
    let isHeld = counters.holdReason(of: owner) != nil
    switch state {
    case .pending, .waiting: return isHeld ? [] : [state]
    case .held: return [.held, .inFlight] + (isHeld ? [.pending, .waiting] : [])
    case .inFlight: return []
    case .delivered, .dead, .cancelled, .superseded: return [state]
    }
  }

  func export(_ query: OutboxQuery, bytes: Int) throws -> ExportPage {
    let page = try list(query, keepingContent: true)
    var (exported, room) = (ExportPage(items: [], damaged: 0, cursor: page.cursor), bytes)
    var last: StoredItem?
    for item in page.items {
      // Export at least one item, regardless of its size.
      if room < item.bytes, let last {
        exported.cursor = String(last.position)
        return exported
      }
      guard let stored = try row(OutboxQueries.byID, [item.id]) else { continue }
      room -= item.bytes
      last = stored
      switch try content(of: stored) {
      case .sound(let delivery): exported.items.append(self.exported(item, stored, delivery.request))
      case .unsendable: exported.damaged += 1
      }
    }
    return exported
  }

  private func exported(_ item: OutboxItem, _ stored: StoredItem, _ request: APIRequest) -> ExportedItem {
    let draft = OutboxDraft(
      account: item.account, method: item.method, url: item.url, headers: request.headers, body: request.body,
      lane: item.lane ?? "default", isUnordered: item.lane == nil,
      idempotencyKey: item.idempotencyKey == item.id ? nil : item.idempotencyKey, replaceKey: stored.replaceKey,
      notBefore: stored.progress.notBefore, expiresAt: stored.progress.expiresAt, expect: stored.expect)
    return ExportedItem(
      id: item.id, subject: item.subject, draft: draft, state: item.state, reason: item.reason,
      attempts: item.attempts, createdAt: item.createdAt,
      nextAttemptAt: stored.progress.state == .waiting ? stored.progress.dueAt : nil,
      unknownSince: stored.progress.unknownSince, mayHaveLeft: stored.progress.mayHaveLeft,
      lastStatus: item.lastStatus, lastError: item.lastError, exportedAt: now)
  }
}
