internal import FoundationEssentials
internal import GRDB
internal import HearthCore

extension OutboxTransaction {
  /// The bytes of content after which a claim ends, so that large items do not fill the memory.
  private static let largestClaim = 8 << 20

  /// Claims the next deliveries of an account. Items that cannot be sent any more leave their lanes on the way; they are
  /// added to `changed`.
  func claim(
    _ claim: OutboxClaim, at now: Timestamp, changed: inout [OutboxItem]
  ) throws -> OutboxCompletion.Claimed {
    var claimed = OutboxCompletion.Claimed()
    guard let owner = counters.owner(claim.account, claim.subject) else { return claimed }
    let configured = Dictionary(uniqueKeysWithValues: claim.configured.map { ($0.description, $0) })
    var heads: (lanes: [StoredItem], unordered: [StoredItem]) = ([], [])
    for name in try origins(of: owner) {
      guard let origin = configured[name] else {
        if try rejectAll(of: owner, to: name, at: now, changed: &changed) { claimed.cut = .all }
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
        // The other kind in turn: the response to one item may be about that item alone.
        let isOther = lane.isEmpty || !other.isEmpty && other[0].dueAt < lane[0].dueAt
        if isOther { heads.unordered += other } else { heads.lanes += lane }
      }
    }
    try self.claim(heads.lanes, .lanes, claim.lanes, claim, at: now, into: &claimed, &changed)
    try self.claim(heads.unordered, .unordered, claim.unordered, claim, at: now, into: &claimed, &changed)
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

  /// The origins that an owner has heads for. Costs one step along the index for each.
  func origins(of owner: Int64) throws -> [String] {
    var origins: [String] = []
    let statement = try db.cachedStatement(sql: OutboxQueries.nextOrigin)
    while let next = try String.fetchOne(statement, arguments: [owner, origins.last ?? ""]) {
      // In a damaged database the index may lead back to the same origin.
      guard next != origins.last else {
        throw OutboxStoreFailure.broken("The outbox is damaged: an index repeats an origin.")
      }
      origins.append(next)
    }
    return origins
  }

  /// Up to `limit` heads of a kind for one origin. For a probe, items that have not been probes come first, and the last
  /// probe last. Items that have expired or need review leave their lanes on the way.
  private func sendable(
    _ owner: Int64, _ origin: Origin, _ kind: OutboxKinds, _ limit: Int, _ claim: OutboxClaim, at now: Timestamp,
    _ claimed: inout OutboxCompletion.Claimed, _ changed: inout [OutboxItem]
  ) throws -> [StoredItem] {
    var found: [StoredItem] = []
    // Half of them are items that are due again and half new ones, so that neither kind waits for the other to end.
    // Many items may be due at the same time; new ones are due at 0.
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
        case .leaves(let reason): changed.append(try leaveLane(item, reason, at: now).item(in: counters))
        }
      }
    }
    // The item that moved up behind one that left its lane is found by the next claim.
    if limit > 0, found.count == limit || changed.count > before { claimed.cut.formUnion(kind) }
    return found
  }

  /// Whether an item can be claimed now.
  private enum Eligibility {
    case sendable
    case timeNeeded
    case leaves(OutboxItem.Reason)
  }

  private func eligibility(_ item: StoredItem, _ claim: OutboxClaim, at now: Timestamp) -> Eligibility {
    if let expiresAt = item.expiresAt, expiresAt <= now {
      guard let agreedTime = claim.agreedTime else { return .timeNeeded }
      if expiresAt <= agreedTime { return .leaves(.expired) }
    }
    let maySend = claim.policy.mayBeSent(method: item.method, unknownSince: item.unknownSince, at: now)
    return maySend ? .sendable : .leaves(.needsReview)
  }

  /// Makes items dead whose origin is not one of the account's any more. Returns whether there may be more.
  private func rejectAll(
    of owner: Int64, to origin: String, at now: Timestamp, changed: inout [OutboxItem]
  ) throws -> Bool {
    let limit = 64
    var items: [StoredItem] = []
    for isUnordered in [false, true] {
      items += try rows(OutboxQueries.fresh, [owner, origin, isUnordered, 0, limit])
      items += try rows(OutboxQueries.due, [owner, origin, isUnordered, 1, -1, now.milliseconds, limit])
    }
    for var item in items {
      item.lastError = DeliveryOutcome.foreignOrigin(origin)
      changed.append(try leaveLane(item, .rejected, at: now).item(in: counters))
    }
    return !items.isEmpty
  }

  /// Claims heads, the longest ready first, and what follows them in their lanes.
  private func claim(
    _ found: [StoredItem], _ kind: OutboxKinds, _ limit: Int, _ claim: OutboxClaim, at now: Timestamp,
    into claimed: inout OutboxCompletion.Claimed, _ changed: inout [OutboxItem]
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
      var batch = LaneBatch([])
      guard try self.claim(head, claim, at: now, into: &batch) else {
        var lost = head
        lost.lastError = "Its content is missing from the outbox, so it cannot be sent."
        changed.append(try leaveLane(lost, .rejected, at: now).item(in: counters))
        claimed.cut.formUnion(kind)
        continue
      }
      bytes += head.bytes
      room -= 1
      // The room that the other heads leave is shared among the lanes.
      let share = max(room - (heads.count - index - 1), 0) / max(heads.count - index, 1)
      if claim.takesFollowers, share > 0, let lane = head.lane, let origin = batch.deliveries.first?.request.url.origin,
        claim.open.contains(origin)
      {
        for follower in try followers(of: head, lane, share) {
          guard bytes <= Self.largestClaim, case .sendable = eligibility(follower, claim, at: now),
            (try? HTTPURL(follower.url))?.origin == origin, try self.claim(follower, claim, at: now, into: &batch)
          else { break }
          bytes += follower.bytes
          room -= 1
        }
      }
      claimed.batches.append(batch)
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

  /// Claims one item. Returns false where the row has no content to send.
  private func claim(
    _ item: StoredItem, _ claim: OutboxClaim, at now: Timestamp, into batch: inout LaneBatch
  ) throws -> Bool {
    let statement = try db.cachedStatement(sql: OutboxQueries.content)
    guard let content = try Row.fetchOne(statement, arguments: [item.number]), let url = try? HTTPURL(item.url) else {
      return false
    }
    let headers = try content.name(0)
    let body = try content.decode(Data?.self, atIndex: 1)
    try execute(OutboxQueries.claim, [now.milliseconds, item.number])
    counters.moved(item.state, .inFlight, bytes: item.bytes, of: item.owner)
    var claimed = item
    claimed.state = .inFlight
    claimed.nextAttemptAt = nil
    batch.deliveries.append(
      Delivery(
        number: item.number, item: try claimed.item(in: counters), conflicts: item.conflicts,
        unknownSince: item.unknownSince,
        request: APIRequest(
          method: item.method, url: url, headers: StoredHeaders.decode(headers), body: body.map(Array.init) ?? [],
          idempotencyKey: item.idempotencyKey)))
    return true
  }
}

extension StoredItem {
  /// Since when a head could have been sent. It orders new items and those that are due again.
  fileprivate var readySince: Int64 { dueAt == 0 ? createdAt.milliseconds : dueAt }
}
