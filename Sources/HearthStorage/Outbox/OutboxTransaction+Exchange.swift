internal import GRDB
internal import HearthCore

extension OutboxTransaction {
  /// Writes the results of deliveries, ends claims, and claims items for the demands.
  func exchange(
    _ settled: [Settlement], toldAt told: (now: Timestamp, stepped: Duration), releasing released: [Int64],
    claiming demands: [OutboxDemand]
  ) throws -> OutboxExchange {
    let waited = age(of: told)
    for settlement in settled { try settle(settlement, at: now - settlement.age - waited) }
    for epoch in released { try end(epoch) }
    var exchange = OutboxExchange(at: now)
    for demand in demands { exchange.claimed[demand.account] = try claim(demand) }
    exchange.nextExpiryAt = try nextExpiry()
    return exchange
  }

  private func settle(_ settlement: Settlement, at time: Timestamp) throws {
    guard let claim = claims.settle(settlement.number, of: settlement.epoch) else { return }
    if let item = try row(OutboxQueries.byNumber, [settlement.number]) {
      try settle(item, settlement, at: time)
    }
    effects.touched.insert(claim.owner)
    if claim.items.isEmpty || !settlement.outcome.leavesLane { try end(claim.epoch) }
  }

  private func settle(_ item: StoredItem, _ settlement: Settlement, at time: Timestamp) throws {
    let (before, outcome) = (item.progress, settlement.outcome)
    var item = item
    item.progress.settle(outcome, hasLeft: settlement.hasLeft, at: time)
    // A newer item with the same `replaceKey` may be waiting for this item.
    if item.replaceKey != nil { becameReady(item.owner, .all) }
    if item.progress.state != .delivered, try isOutdated(item) {
      item.progress.supersede(at: time)
      item.isHead = false
      effects.leavesContentInLog = true
      return try publish(&item)
    }
    // A new head of the lane is chosen when the claim ends.
    item.isHead = item.lane == nil && item.progress.state.isActive
    switch outcome {
    case .released:
      if item.progress != before {
        try write(&item)
      } else if item.isHead {
        try execute(OutboxQueries.setHead, [true, item.number])
      }
    case .delivered(let status):
      try execute(
        OutboxQueries.deliver,
        [item.progress.attempts, time.milliseconds, status, item.progress.lastError, item.number])
      try execute(OutboxQueries.deleteContent, [item.number])
      counters.moved(item.written, .delivered, bytes: item.bytes, of: item.owner)
      effects.commit.changes.append(.changed(try shown(item)))
    case .waiting, .unreachable, .dead, .needsStepUp: try publish(&item)
    }
    if item.isHead { becameReady(item.owner, .unordered) }
  }

  /// Returns the next expiry of an active item that is not in flight.
  func nextExpiry() throws -> Timestamp? {
    try db.firstRow(OutboxQueries.expiring) { row in
      claims.isBegun(try row.number(0)) ? nil : Timestamp(milliseconds: try row.number(1))
    }
  }
}
