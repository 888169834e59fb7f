package import HearthCore

/// Claims and what comes of them.
extension OutboxModel {
  /// The request of this item leaves now. False where the claim does not hold any more.
  package mutating func begin(_ number: Int64, of epoch: Int64) -> Bool {
    guard claims[epoch]?.items.contains(number) == true else { return false }
    claims[epoch]?.begun.insert(number)
    if let item = items[number] { touched.insert(item.account) }
    return true
  }

  package mutating func publishCounts() { commit() }

  package mutating func exchange(
    _ settled: [Settlement], releasing released: [Int64], claiming demands: [OutboxDemand], at now: Timestamp
  ) -> OutboxExchange {
    for settlement in settled { settle(settlement, at: now - settlement.age) }
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
    update(number, isPublished: settlement.outcome != .released) { $0.settle(settlement.outcome, at: time) }
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

  /// Takes an item out of its claim, with all behind it that has not begun. False where its own request may have left.
  mutating func revoke(_ number: Int64, always: Bool = false) -> Bool {
    guard let epoch = claimOf[number], let claim = claims[epoch] else { return true }
    guard always || !claim.begun.contains(number) else { return false }
    for other in claim.items.drop(while: { $0 != number }) where other == number || !claim.begun.contains(other) {
      take(other, outOf: epoch)
    }
    return true
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
    var lanes: Int
    var unordered: Int
    var unanswered: Int
    var bytes: Int
    /// Origins that are probed with an item of this demand.
    var probed: Set<Origin> = []

    func left(_ kind: OutboxKinds) -> Int { kind == .lanes ? lanes : unordered }

    mutating func count(_ item: Item) {
      bytes -= item.bytes
      if item.lane == nil { unordered -= 1 } else { lanes -= 1 }
    }
  }

  private mutating func claim(_ demand: OutboxDemand, at now: Timestamp) -> OutboxExchange.Claimed {
    guard let owner = owners.firstIndex(of: Owner(account: demand.account, subject: demand.subject)) else {
      return OutboxExchange.Claimed()
    }
    var search = Search(
      lanes: demand.lanes, unordered: demand.unordered, unanswered: demand.unanswered, bytes: demand.bytes)
    let fronts = findFronts().filter { $0.owner == owner }
    // Those that have been ready for longest come first.
    let due = fronts.compactMap { items[$0.number] }.filter { $0.progress.dueAt ?? now <= now }.sorted {
      ($0.progress.dueAt ?? $0.createdAt, $0.position) < ($1.progress.dueAt ?? $1.createdAt, $1.position)
    }
    for (place, item) in due.enumerated() {
      guard mayBeClaimed(item, demand, &search, at: now) else { continue }
      let share = search.left(item.kind) / max(due[place...].count { $0.kind == item.kind }, 1)
      claim(item, share: share, demand, &search, at: now)
    }
    for front in fronts where !search.claimed.cut.contains(front.kind) {
      guard let dueAt = front.dueAt, dueAt > now, let origin = items[front.number]?.origin,
        !demand.configured.contains(origin) || demand.open.contains(origin) || demand.probed.contains(origin)
      else { continue }
      search.claimed.nextDueAt = min(search.claimed.nextDueAt ?? dueAt, dueAt)
    }
    if demand.open.union(demand.probed).isSuperset(of: demand.configured) {
      let demanded: OutboxKinds = [demand.lanes > 0 ? .lanes : [], demand.unordered > 0 ? .unordered : []]
      met[owner] = demanded.subtracting(search.claimed.cut)
    }
    return search.claimed
  }

  /// Whether a front that is due is sent now. One that cannot be sent any more leaves its lane.
  private mutating func mayBeClaimed(
    _ item: Item, _ demand: OutboxDemand, _ search: inout Search, at now: Timestamp
  ) -> Bool {
    guard demand.configured.contains(item.origin) else {
      update(item.number) {
        $0.lastError = DeliveryOutcome.foreignOrigin(item.origin)
        $0.leaveLane(.rejected, at: now)
      }
      search.claimed.cut.formUnion(item.kind)
      return false
    }
    guard demand.open.contains(item.origin) || demand.probed.contains(item.origin) else { return false }
    guard search.left(item.kind) > 0 else {
      search.claimed.cut.formUnion(item.kind)
      return false
    }
    switch eligibility(item, demand, at: now) {
    case .sendable: break
    case .timeNeeded:
      search.claimed.timeNeededFrom = item.origin
      return false
    case .leaves(let reason):
      update(item.number) { $0.leaveLane(reason, at: now) }
      search.claimed.cut.formUnion(item.kind)
      return false
    }
    guard search.bytes > 0 else {
      search.claimed.cut.formUnion(item.kind)
      return false
    }
    if item.progress.isUnanswered {
      guard search.unanswered > 0 else { return false }
      search.unanswered -= 1
    }
    return demand.open.contains(item.origin) || search.probed.insert(item.origin).inserted
  }

  private func eligibility(_ item: Item, _ demand: OutboxDemand, at now: Timestamp) -> ItemProgress.Eligibility {
    item.progress.eligibility(
      method: item.new.draft.method, policy: demand.policy, expiry: demand.expiry, at: now)
  }

  /// Claims a front, and up to `share` items in all with the pending ones that follow it in its lane.
  private mutating func claim(
    _ head: Item, share: Int, _ demand: OutboxDemand, _ search: inout Search, at now: Timestamp
  ) {
    var chosen = [head]
    search.count(head)
    if demand.takesFollowers, let lane = head.lane, demand.open.contains(head.origin) {
      for number in order.drop(while: { $0 != head.number }).dropFirst() {
        guard let item = items[number], item.lane == lane else { continue }
        guard chosen.count < share, search.bytes > 0, item.progress.state == .pending, item.origin == head.origin,
          case .sendable = eligibility(item, demand, at: now)
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
      number: item.number, item: shown(item), conflicts: item.progress.conflicts,
      unknownSince: item.progress.unknownSince, expiresAt: item.progress.expiresAt,
      request: APIRequest(
        method: draft.method, url: item.new.url, headers: draft.headers, body: draft.body,
        idempotencyKey: draft.idempotencyKey ?? item.new.id))
  }
}
