internal import FoundationEssentials
internal import GRDB
internal import HearthCore

extension OutboxTransaction {
  /// Bodies that are taken at once, in bytes, so that a claim of large items does not fill the memory.
  private static let largestClaim = 8 << 20

  func settle(_ finished: [FinishedDelivery], _ claims: [OutboxClaim], at now: Timestamp) throws -> OutboxSettlement {
    var settlement = OutboxSettlement()
    settlement.changed = try finish(finished, at: now)
    for claim in claims {
      settlement.claimed[claim.account] = try self.claim(claim, at: now, changed: &settlement.changed)
    }
    settlement.nextExpiryAt = try number(OutboxQueries.nextExpiry, []).map(Timestamp.init(milliseconds:))
    settlement.totals = try totals()
    return settlement
  }

  private struct LaneKey: Hashable {
    let owner: Int64
    let lane: String
  }

  // MARK: - What became of deliveries

  /// Returns the items that are something else now than before they were taken.
  func finish(_ finished: [FinishedDelivery], at now: Timestamp) throws -> [OutboxItem] {
    var changed: [OutboxItem] = []
    var lanes: Set<LaneKey> = []
    for delivery in finished {
      guard let item = try finish(delivery, at: now) else { continue }
      if let lane = item.lane { lanes.insert(LaneKey(owner: item.owner, lane: lane)) }
      if case .released = delivery.verdict { continue }
      changed.append(try item.item(in: ledger))
    }
    for lane in lanes { try promote(lane.owner, lane.lane) }
    return changed
  }

  private func finish(_ delivery: FinishedDelivery, at now: Timestamp) throws -> StoredItem? {
    guard var item = try row(OutboxQueries.byNumber, [delivery.number]), item.state == .inFlight else { return nil }
    item.isHead = item.lane == nil
    item.dueAt = 0
    switch delivery.verdict {
    case .delivered(let status):
      try execute(OutboxQueries.deliver, [item.attempts + 1, now.milliseconds, status, item.number])
      try execute(OutboxQueries.deleteContent, [item.number])
      ledger.moved(.inFlight, .delivered, bytes: item.bytes, of: item.owner)
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
      // Due at once: whether its origin may be asked again is decided when it is taken. Others probe it before this one.
      item.state = .waiting
      // What was answered waits all the same: where others get through, the answer was about this item.
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

  // MARK: - Taking the next

  private func claim(
    _ claim: OutboxClaim, at now: Timestamp, changed: inout [OutboxItem]
  ) throws -> OutboxSettlement.Claimed {
    var claimed = OutboxSettlement.Claimed()
    guard let owner = ledger.owner(claim.account, claim.subject) else { return claimed }
    let configured = Dictionary(uniqueKeysWithValues: claim.configured.map { ($0.description, $0) })
    var heads: (lanes: [StoredItem], unordered: [StoredItem]) = ([], [])
    for name in try origins(of: owner) {
      guard let origin = configured[name] else {
        if try refuse(owner, name, at: now, changed: &changed) { claimed.cut = .all }
        continue
      }
      if claim.open.contains(origin) {
        let (lanes, unordered) = (claim.lanes, claim.unordered)
        heads.lanes += try sendable(owner, origin, .lanes, lanes, claim, at: now, &claimed, &changed)
        heads.unordered += try sendable(owner, origin, .unordered, unordered, claim, at: now, &claimed, &changed)
      } else if claim.probed.contains(origin) {
        let (lanes, unordered) = (min(claim.lanes, 1), min(claim.unordered, 1))
        let lane = try sendable(owner, origin, .lanes, lanes, claim, at: now, &claimed, &changed)
        let other = try sendable(owner, origin, .unordered, unordered, claim, at: now, &claimed, &changed)
        // Never the same one while there is another: what one item is answered may be about that item alone.
        let isOther = lane.isEmpty || !other.isEmpty && other[0].dueAt < lane[0].dueAt
        if isOther { heads.unordered += other } else { heads.lanes += lane }
      }
    }
    try take(heads.lanes, .lanes, claim.lanes, claim, at: now, into: &claimed, &changed)
    try take(heads.unordered, .unordered, claim.unordered, claim, at: now, into: &claimed, &changed)
    for name in try origins(of: owner) {
      if let origin = configured[name], !claim.open.contains(origin), !claim.probed.contains(origin) { continue }
      for isUnordered in [false, true] {
        guard let due = try number(OutboxQueries.nextDue, [owner, name, isUnordered, now.milliseconds]) else {
          continue
        }
        claimed.nextDueAt = min(claimed.nextDueAt ?? .distantFuture, Timestamp(milliseconds: due))
      }
    }
    return claimed
  }

  /// The origins that an owner has heads for, by a few steps along the index.
  func origins(of owner: Int64) throws -> [String] {
    var origins: [String] = []
    let statement = try db.cachedStatement(sql: OutboxQueries.nextOrigin)
    while let next = try String.fetchOne(statement, arguments: [owner, origins.last ?? ""]) {
      // In a damaged database one may stand behind itself.
      guard next != origins.last else { throw OutboxStoreFailure.broken("The outbox is damaged: an origin is none.") }
      origins.append(next)
    }
    return origins
  }

  /// Up to `limit` heads of a kind for one origin; for a probe, what was no probe comes first, and the last one last.
  /// What has expired or needs review leaves its lane on the way.
  private func sendable(
    _ owner: Int64, _ origin: Origin, _ kind: OutboxKinds, _ limit: Int, _ claim: OutboxClaim, at now: Timestamp,
    _ claimed: inout OutboxSettlement.Claimed, _ changed: inout [OutboxItem]
  ) throws -> [StoredItem] {
    var found: [StoredItem] = []
    // Half for those that are due again, so that neither they nor the new ones wait for the others to end.
    // Many may be due in the same moment; those at 0 are new, and as many as there are items.
    var dueAfter: (time: Int64, number: Int64) = (1, -1)
    var after: Int64 = 0
    var isDry = (due: false, fresh: false)
    let isProbe = claim.probed.contains(origin)
    var left = 4 * limit
    let before = changed.count
    while found.count < limit, left > 0, !isDry.due || !isDry.fresh {
      let name = origin.description
      let wanted = limit - found.count
      var batch: [StoredItem] = []
      if !isDry.due {
        let share = isDry.fresh ? wanted : isProbe ? 0 : (wanted + 1) / 2
        batch = try rows(
          OutboxQueries.due,
          [owner, name, kind == .unordered, dueAfter.time, dueAfter.number, now.milliseconds, share])
        isDry.due = batch.count < share
        dueAfter = batch.last.map { ($0.dueAt, $0.number) } ?? dueAfter
      }
      if !isDry.fresh, wanted > batch.count {
        let fresh = try rows(OutboxQueries.fresh, [owner, name, kind == .unordered, after, wanted - batch.count])
        isDry.fresh = fresh.count < wanted - batch.count
        after = fresh.last?.number ?? after
        batch += fresh
      }
      left -= batch.count
      for item in batch {
        switch eligibility(item, claim, at: now) {
        case .sendable: found.append(item)
        case .timeNeeded: claimed.timeNeededFrom = origin
        case .leaves(let reason): changed.append(try leave(item, reason, at: now).item(in: ledger))
        }
      }
    }
    // What moved up behind one that left its lane is found next time.
    if limit > 0, found.count == limit || changed.count > before { claimed.cut.formUnion(kind) }
    return found
  }

  private enum ClaimEligibility {
    case sendable
    case timeNeeded
    case leaves(OutboxItem.Reason)
  }

  private func eligibility(_ item: StoredItem, _ claim: OutboxClaim, at now: Timestamp) -> ClaimEligibility {
    if let expiresAt = item.expiresAt, expiresAt <= now {
      guard let agreedTime = claim.agreedTime else { return .timeNeeded }
      if expiresAt <= agreedTime { return .leaves(.expired) }
    }
    let maySend = claim.policy.mayBeSent(method: item.method, unknownSince: item.unknownSince, at: now)
    return maySend ? .sendable : .leaves(.needsReview)
  }

  /// Takes an item out of its lane: dead, or held for review.
  func leave(_ item: StoredItem, _ reason: OutboxItem.Reason, at now: Timestamp) throws -> StoredItem {
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

  /// Items for an origin that the account has no longer; returns whether there are more.
  private func refuse(
    _ owner: Int64, _ origin: String, at now: Timestamp, changed: inout [OutboxItem]
  ) throws -> Bool {
    let limit = 64
    var items: [StoredItem] = []
    for isUnordered in [false, true] {
      items += try rows(OutboxQueries.fresh, [owner, origin, isUnordered, 0, limit])
      items += try rows(OutboxQueries.due, [owner, origin, isUnordered, 1, -1, now.milliseconds, limit])
    }
    for var item in items {
      item.lastError = "\(origin) is none of the account's api_origins."
      changed.append(try leave(item, .rejected, at: now).item(in: ledger))
    }
    return !items.isEmpty
  }

  private func take(
    _ found: [StoredItem], _ kind: OutboxKinds, _ limit: Int, _ claim: OutboxClaim, at now: Timestamp,
    into claimed: inout OutboxSettlement.Claimed, _ changed: inout [OutboxItem]
  ) throws {
    if found.count > limit { claimed.cut.formUnion(kind) }
    let heads = found.sorted { ($0.readySince, $0.position) < ($1.readySince, $1.position) }.prefix(limit)
    var bytes = 0
    var room = limit
    for (index, head) in heads.enumerated() {
      if bytes > Self.largestClaim {
        claimed.cut.formUnion(kind)
        break
      }
      var run = LaneBatch([])
      guard try take(head, claim, at: now, into: &run) else {
        var lost = head
        lost.lastError = "Its content is lost."
        changed.append(try leave(lost, .rejected, at: now).item(in: ledger))
        claimed.cut.formUnion(kind)
        continue
      }
      bytes += head.bytes
      room -= 1
      // What room the other heads leave is shared among the lanes.
      let share = max(room - (heads.count - index - 1), 0) / max(heads.count - index, 1)
      if claim.takesFollowers, share > 0, let lane = head.lane, let origin = run.deliveries.first?.request.url.origin,
        claim.open.contains(origin)
      {
        for follower in try followers(of: head, lane, share) {
          guard bytes <= Self.largestClaim, case .sendable = eligibility(follower, claim, at: now),
            (try? HTTPURL(follower.url))?.origin == origin, try take(follower, claim, at: now, into: &run)
          else { break }
          bytes += follower.bytes
          room -= 1
        }
      }
      claimed.runs.append(run)
    }
    if limit > 0, room <= 0 { claimed.cut.formUnion(kind) }
  }

  /// The pending items right behind a head.
  private func followers(of head: StoredItem, _ lane: String, _ limit: Int) throws -> [StoredItem] {
    var end = Int64.max
    for state in [OutboxItem.State.inFlight, .waiting] {
      let place = try number(OutboxQueries.placeInLane, [head.owner, lane, state.number, head.position])
      end = min(end, place ?? .max)
    }
    return try rows(OutboxQueries.followers, [head.owner, lane, head.position, end, limit])
  }

  /// False where the row has no content to send.
  private func take(
    _ item: StoredItem, _ claim: OutboxClaim, at now: Timestamp, into run: inout LaneBatch
  ) throws -> Bool {
    let statement = try db.cachedStatement(sql: OutboxQueries.content)
    guard let content = try Row.fetchOne(statement, arguments: [item.number]), let url = try? HTTPURL(item.url) else {
      return false
    }
    let headers = try content.name(0)
    let body = try content.decode(Data?.self, atIndex: 1)
    try execute(OutboxQueries.take, [now.milliseconds, item.number])
    ledger.moved(item.state, .inFlight, bytes: item.bytes, of: item.owner)
    run.deliveries.append(
      Delivery(
        number: item.number, id: item.id, account: claim.account, subject: claim.subject,
        isUnordered: item.lane == nil, attempts: item.attempts,
        conflicts: item.conflicts, unknownSince: item.unknownSince,
        request: APIRequest(
          method: item.method, url: url, headers: StoredHeaders.decode(headers), body: body.map(Array.init) ?? [],
          idempotencyKey: item.idempotencyKey)))
    return true
  }
}

extension StoredItem {
  /// For how long a head could have been sent: what orders the new ones and those that are due again.
  fileprivate var readySince: Int64 { dueAt == 0 ? createdAt.milliseconds : dueAt }

  mutating func die(_ reason: OutboxItem.Reason, at now: Timestamp) {
    state = .dead
    self.reason = reason
    isHead = false
    nextAttemptAt = nil
    finishedAt = now
  }
}
