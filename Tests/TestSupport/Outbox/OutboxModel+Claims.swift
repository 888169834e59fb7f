package import HearthCore

/// Claims and their outcomes.
extension OutboxModel {
  /// Records that the item's request is being sent. Returns false if the claim is no longer valid.
  package mutating func begin(_ number: Int64, of epoch: Int64) -> Bool {
    guard let claim = claims[epoch], claim.items.contains(number), let item = items[number] else { return false }
    if claim.begun.contains(number), isOutdated(item) { return false }
    claims[epoch]?.begun.insert(number)
    touched.insert(item.account)
    return true
  }

  package mutating func publishCounts() { commit() }

  package mutating func exchange(
    _ settled: [Settlement], releasing released: [Int64], claiming demands: [OutboxDemand], at now: Timestamp
  ) -> OutboxExchange {
    for settlement in settled {
      settle(settlement, at: now - settlement.age)
      if items[settlement.number]?.progress.state == .waiting { scheduledAt = now }
    }
    for epoch in released { end(epoch) }
    var exchange = OutboxExchange(at: now)
    for demand in demands { exchange.claimed[demand.account] = claim(demand, at: now) }
    exchange.nextExpiryAt = nextExpiry
    commit()
    return exchange
  }

  private mutating func settle(_ settlement: Settlement, at time: Timestamp) {
    let number = settlement.number
    guard claims[settlement.epoch]?.items.contains(number) == true else { return }
    take(number, outOf: settlement.epoch)
    let isOutdated = items[number].map(isOutdated) ?? false
    update(number, isPublished: settlement.outcome != .released || isOutdated) {
      $0.settle(settlement.outcome, hasLeft: settlement.hasLeft, at: time)
      if isOutdated, $0.state != .delivered { $0.supersede(at: time) }
    }
    if !settlement.outcome.leavesLane { end(settlement.epoch) }
  }

  private mutating func take(_ number: Int64, outOf epoch: Int64) {
    claims[epoch]?.items.removeAll { $0 == number }
    claims[epoch]?.begun.remove(number)
    claimOf[number] = nil
    if claims[epoch]?.items.isEmpty == true { claims[epoch] = nil }
  }

  private mutating func end(_ epoch: Int64) {
    for number in claims[epoch]?.items ?? [] { take(number, outOf: epoch) }
  }

  /// Takes an item, and all later ones that have not begun, out of its claim. Returns false if its request may have been
  /// sent.
  mutating func revoke(_ number: Int64, always: Bool = false) -> Bool {
    guard let epoch = claimOf[number], let claim = claims[epoch] else { return true }
    guard always || !claim.begun.contains(number) else { return false }
    for other in claim.items.drop(while: { $0 != number }) where other == number || !claim.begun.contains(other) {
      take(other, outOf: epoch)
    }
    return true
  }

  /// Whether a newer item with its `replaceKey` was accepted.
  package func isOutdated(_ item: Item) -> Bool {
    items.values.contains { item.isOlder(than: $0) }
  }

  /// Whether the request of an older one may be running.
  package func isOvertaking(_ item: Item) -> Bool {
    claimOf.keys.contains { isBegun($0) && items[$0]!.isOlder(than: item) }
  }

  private var nextExpiry: Timestamp? {
    order.compactMap { isBegun($0) ? nil : items[$0]?.progress.expiresAt }.min()
  }

  package mutating func expire(limit: Int, by agreedTime: Timestamp?, at now: Timestamp) -> Timestamp? {
    guard let agreedTime else { return nextExpiry }
    let expired = order.filter { items[$0]?.progress.expiresAt.map { $0 <= agreedTime } ?? false && !isBegun($0) }
    for number in expired.prefix(limit) where revoke(number) { update(number) { $0.leaveLane(.expired, at: now) } }
    commit()
    return nextExpiry
  }

  // MARK: - Demands

  private struct Search {
    var claimed = OutboxExchange.Claimed()
    /// What remains of them.
    var rooms: [Origin: OutboxDemand.Room]

    mutating func cut(_ item: Item) { claimed.cut[item.origin, default: []].formUnion(item.kind) }

    mutating func count(_ item: Item) {
      rooms[item.origin]?.bytes -= item.bytes
      if item.lane == nil { rooms[item.origin]?.unordered -= 1 } else { rooms[item.origin]?.lanes -= 1 }
      if rooms[item.origin]?.isProbe == true { rooms[item.origin] = OutboxDemand.Room(lanes: 0, unordered: 0) }
    }
  }

  private mutating func claim(_ demand: OutboxDemand, at now: Timestamp) -> OutboxExchange.Claimed {
    guard let owner = owners.firstIndex(of: Owner(account: demand.account, subject: demand.subject)) else {
      return OutboxExchange.Claimed()
    }
    var search = Search(rooms: demand.rooms)
    let fronts = findFronts().filter { $0.owner == owner && !demand.refused.contains($0.number) }
    // Those that have been ready the longest come first.
    let due = fronts.compactMap { items[$0.number] }.filter { $0.progress.dueAt ?? now <= now }.sorted {
      ($0.progress.dueAt ?? $0.createdAt, $0.position) < ($1.progress.dueAt ?? $1.createdAt, $1.position)
    }
    for (place, item) in due.enumerated() {
      guard mayBeClaimed(item, demand, &search, at: now) else { continue }
      let others = due[place...].count { $0.kind == item.kind && $0.origin == item.origin }
      let share = (search.rooms[item.origin]?.limit(item.kind) ?? 0) / max(others, 1)
      claim(item, share: share, demand, &search, at: now)
    }
    for front in fronts where !search.claimed.moved.contains(front.kind) {
      guard let dueAt = front.dueAt, dueAt > now, let origin = items[front.number]?.origin,
        search.claimed.cut[origin]?.contains(front.kind) != true,
        !demand.configured.contains(origin) || demand.rooms[origin] != nil
      else { continue }
      search.claimed.nextDueAt = min(search.claimed.nextDueAt ?? dueAt, dueAt)
    }
    if demand.configured.allSatisfy({ demand.rooms[$0] != nil }) {
      met[owner] = demand.kinds.subtracting(search.claimed.moved)
    }
    return search.claimed
  }

  /// Whether to send a front that is due. One that can no longer be sent leaves its lane.
  private mutating func mayBeClaimed(
    _ item: Item, _ demand: OutboxDemand, _ search: inout Search, at now: Timestamp
  ) -> Bool {
    guard !isOutdated(item) else {
      update(item.number) { $0.supersede(at: now) }
      search.claimed.moved.formUnion(item.kind)
      return false
    }
    guard demand.configured.contains(item.origin) else {
      update(item.number) {
        $0.lastError = DeliveryOutcome.foreignOrigin(item.origin)
        $0.hold(.originNotConfigured)
      }
      search.claimed.moved.formUnion(item.kind)
      return false
    }
    guard let room = search.rooms[item.origin], item.bytes <= room.largest else { return false }
    guard room.limit(item.kind) > 0 else {
      if demand.rooms[item.origin]!.limit(item.kind) > 0 { search.cut(item) }
      return false
    }
    switch eligibility(item, demand, at: now) {
    case .sendable: break
    case .timeNeeded:
      search.claimed.timeNeededFrom = item.origin
      return false
    case .leaves(let reason):
      update(item.number) { $0.leaveLane(reason, at: now) }
      search.claimed.moved.formUnion(item.kind)
      return false
    }
    guard room.bytes > 0 else {
      search.cut(item)
      return false
    }
    if item.progress.isUnanswered {
      guard room.unanswered > 0 else {
        search.claimed.nextDueAt = min(search.claimed.nextDueAt ?? .distantFuture, now + .seconds(1))
        return false
      }
      search.rooms[item.origin]!.unanswered -= 1
    }
    return true
  }

  private func eligibility(_ item: Item, _ demand: OutboxDemand, at now: Timestamp) -> ItemProgress.Eligibility {
    item.progress.eligibility(
      method: item.new.draft.method, policy: demand.policy, expiry: demand.expiry, at: now)
  }

  /// Claims a front and the pending items that follow it in its lane, up to `share` items in total.
  private mutating func claim(
    _ head: Item, share: Int, _ demand: OutboxDemand, _ search: inout Search, at now: Timestamp
  ) {
    var chosen = [head]
    search.count(head)
    if let room = demand.rooms[head.origin], room.takesFollowers, !room.isProbe, let lane = head.lane {
      for number in order.drop(while: { $0 != head.number }).dropFirst() {
        guard let item = items[number], item.lane == lane else { continue }
        guard chosen.count < share, search.rooms[head.origin]!.bytes > 0, item.progress.state == .pending,
          item.origin == head.origin, case .sendable = eligibility(item, demand, at: now), !isOutdated(item),
          !isOvertaking(item), !demand.refused.contains(number),
          item.bytes <= room.largest
        else { break }
        chosen.append(item)
        search.count(item)
      }
    }
    let epoch = nextCount()
    claims[epoch] = Claim(items: chosen.map(\.number), since: now, madeAt: epoch)
    for item in chosen { claimOf[item.number] = epoch }
    search.claimed.claims.append(LaneClaim(epoch: epoch, deliveries: chosen.map(delivery)))
  }

  private func delivery(_ item: Item) -> Delivery {
    let draft = item.new.draft
    return Delivery(
      number: item.number, item: shown(item), progress: item.progress,
      request: APIRequest(
        method: draft.method, url: item.new.url, headers: draft.headers, body: draft.body,
        idempotencyKey: draft.idempotencyKey ?? item.new.id))
  }
}
