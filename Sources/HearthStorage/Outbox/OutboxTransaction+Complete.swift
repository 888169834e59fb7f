internal import GRDB
internal import HearthCore

extension OutboxTransaction {
  /// Writes down the outcomes of deliveries, and claims the next ones.
  func complete(
    _ finished: [FinishedDelivery], claiming claims: [OutboxClaim], at now: Timestamp
  ) throws -> OutboxCompletion {
    var completion = OutboxCompletion()
    completion.changed = try finish(finished, at: now)
    for claim in claims {
      completion.claimed[claim.account] = try self.claim(claim, at: now, changed: &completion.changed)
    }
    completion.nextExpiryAt = try number(OutboxQueries.nextExpiry, []).map(Timestamp.init(milliseconds:))
    completion.totals = try totals()
    return completion
  }

  private struct LaneKey: Hashable {
    let owner: Int64
    let lane: String
  }

  /// Writes down the outcomes of deliveries. Returns the items whose state is another one than before they were claimed.
  func finish(_ finished: [FinishedDelivery], at now: Timestamp) throws -> [OutboxItem] {
    var changed: [OutboxItem] = []
    var lanes: Set<LaneKey> = []
    for delivery in finished {
      guard let item = try finish(delivery, at: now) else { continue }
      if let lane = item.lane { lanes.insert(LaneKey(owner: item.owner, lane: lane)) }
      if case .released = delivery.outcome { continue }
      changed.append(try item.item(in: counters))
    }
    for lane in lanes { try promote(lane.owner, lane.lane) }
    return changed
  }

  private func finish(_ delivery: FinishedDelivery, at now: Timestamp) throws -> StoredItem? {
    guard var item = try row(OutboxQueries.byNumber, [delivery.number]), item.state == .inFlight else { return nil }
    item.isHead = item.lane == nil
    item.dueAt = 0
    switch delivery.outcome {
    case .delivered(let status):
      try execute(OutboxQueries.deliver, [item.attempts + 1, now.milliseconds, status, item.number])
      try execute(OutboxQueries.deleteContent, [item.number])
      counters.moved(.inFlight, .delivered, bytes: item.bytes, of: item.owner)
      item.state = .delivered
      item.attempts += 1
      item.lastStatus = status
      item.lastError = nil
      return item
    case .waiting(let wait):
      item.state = .waiting
      item.dueAt = wait.until.milliseconds
      item.nextAttemptAt = wait.until
      item.attempts += 1
      if wait.isConflict { item.conflicts += 1 }
      item.unknownSince = item.unknownSince ?? wait.unknownSince
      item.lastStatus = wait.status
      item.lastError = wait.error
    case .unreachable(let probeAt, let status, let error):
      // Due at once: whether its origin may be probed is decided when the item is claimed. Others probe it before this one.
      item.state = .waiting
      // With a status it waits all the same: where other requests get through, the response was about this item alone.
      item.dueAt = (status == nil ? now : probeAt).milliseconds
      item.nextAttemptAt = probeAt
      item.lastStatus = status
      item.lastError = error
    case .dead(let reason, let status, let error):
      if status != nil || reason == .attemptsExhausted { item.attempts += 1 }
      item.lastStatus = status
      item.lastError = error
      item.die(reason, at: now)
    case .released:
      item.state = .pending
      item.nextAttemptAt = nil
    }
    try write(item, was: .inFlight)
    return item
  }

  /// Takes an item out of its lane: it is dead, or held for review.
  func leaveLane(_ item: StoredItem, _ reason: OutboxItem.Reason, at now: Timestamp) throws -> StoredItem {
    var item = item
    let old = item.state
    if reason == .needsReview {
      item.state = .held
      item.reason = .needsReview
      let last = item.lastError.map { " (\($0))" } ?? ""
      item.lastError =
        "What became of it is unknown since \(item.unknownSince ?? now)\(last); retry it, or cancel it."
      item.isHead = false
      item.nextAttemptAt = nil
    } else {
      item.die(reason, at: now)
    }
    try write(item, was: old)
    if let lane = item.lane { try promote(item.owner, lane) }
    return item
  }
}

extension StoredItem {
  /// Ends the item: it leaves its lane and is kept for a person to look at.
  mutating func die(_ reason: OutboxItem.Reason, at now: Timestamp) {
    state = .dead
    self.reason = reason
    isHead = false
    nextAttemptAt = nil
    finishedAt = now
  }
}
