internal import GRDB
internal import HearthCore

extension OutboxTransaction {
  /// The state of a search for deliveries that meet a demand.
  private struct Search {
    let demand: OutboxDemand
    let owner: Int64
    var claimed = OutboxExchange.Claimed()

    /// Schedules another demand in a second, because nothing reports when there is room for the remaining items.
    mutating func returns(at now: Timestamp) {
      claimed.nextDueAt = min(claimed.nextDueAt ?? .distantFuture, now + .seconds(1))
    }

    mutating func cut(_ kind: OutboxKinds, _ origin: Origin) { claimed.cut[origin, default: []].formUnion(kind) }
  }

  /// Claims an account's next deliveries. Items that can no longer be sent leave their lanes.
  func claim(_ demand: OutboxDemand) throws -> OutboxExchange.Claimed {
    guard let owner = counters.owner(demand.account, demand.subject) else { return OutboxExchange.Claimed() }
    var search = Search(demand: demand, owner: owner)
    let configured = Dictionary(uniqueKeysWithValues: demand.configured.map { ($0.description, $0) })
    for name in try origins(of: owner) {
      guard let origin = configured[name] else {
        if try holdAll(of: owner, to: name) { search.claimed.moved = .all }
        try findNextDue(name, but: search.claimed.moved, &search)
        continue
      }
      if let room = demand.rooms[origin] { try claim(origin, room, &search) }
    }
    if demand.configured.allSatisfy({ demand.rooms[$0] != nil }) {
      // Everything available is claimed, or its origin is marked as having more.
      effects.ready[owner]?.subtract(demand.kinds.subtracting(search.claimed.moved))
    }
    return search.claimed
  }

  private func claim(_ origin: Origin, _ room: OutboxDemand.Room, _ search: inout Search) throws {
    var room = room
    let most = room.isProbe ? 1 : Int.max
    var lanes = try sendable(origin, .lanes, min(room.lanes, most), &room, &search)
    var unordered = try sendable(origin, .unordered, min(room.unordered, most), &room, &search)
    if room.isProbe, let lane = lanes.first, let other = unordered.first {
      // Alternate between the two kinds, because the response to an item may concern only that item.
      if other.dueAt < lane.dueAt { lanes = [] } else { unordered = [] }
    }
    try claim(lanes, .lanes, origin, &room, &search)
    try claim(unordered, .unordered, origin, &room, &search)
    let (name, cut) = (origin.description, search.claimed.moved.union(search.claimed.cut[origin] ?? []))
    if cut != .all, room.unanswered <= 0,
      try number(OutboxQueries.unanswered, [search.owner, name, now.milliseconds]) != nil
    {
      search.returns(at: now)
    }
    try findNextDue(name, but: cut, &search)
  }

  /// Finds the next due time for the kinds that are not cut. Kinds that are cut are claimed again sooner.
  private func findNextDue(_ name: String, but cut: OutboxKinds, _ search: inout Search) throws {
    for kind in [OutboxKinds.lanes, .unordered] where !cut.contains(kind) {
      let arguments: StatementArguments = [search.owner, name, kind == .unordered, now.milliseconds]
      guard let due = try number(OutboxQueries.nextDue, arguments) else { continue }
      search.claimed.nextDueAt = min(search.claimed.nextDueAt ?? .distantFuture, Timestamp(milliseconds: due))
    }
  }

  /// Returns the origins for which an owner has heads. Each origin costs one index lookup.
  func origins(of owner: Int64) throws -> [String] {
    var origins: [String] = []
    let statement = try db.cachedStatement(sql: OutboxQueries.nextOrigin)
    while let next = try String.fetchOne(statement, arguments: [owner, origins.last ?? ""]) {
      // The index of a damaged database may return the same origin again, which would make this loop endless.
      guard next != origins.last else {
        throw OutboxStoreFailure.broken("The outbox is damaged: an index repeats an origin.")
      }
      origins.append(next)
    }
    return origins
  }

  /// Returns up to `limit` heads of a kind for one origin. For a probe, items that have never been used as a probe come
  /// first, and the most recent probe comes last. Items that have expired or need review leave their lanes.
  private func sendable(
    _ origin: Origin, _ kind: OutboxKinds, _ limit: Int, _ room: inout OutboxDemand.Room, _ search: inout Search
  ) throws -> [StoredItem] {
    let name = origin.description
    var found: [StoredItem] = []
    // Half of the items are retries and half are new, so that neither kind waits for the other to run out. Many items
    // can be due at the same time, so the position in the order includes the number. New items are due at 0, so retries
    // start at 1.
    var dueAfter: (time: Int64, number: Int64) = (1, -1)
    var after: Int64 = 0
    var isDry = (due: false, fresh: false)
    var left = 4 * limit
    while found.count < limit, left > 0, !isDry.due || !isDry.fresh {
      let wanted = limit - found.count
      var batch: [StoredItem] = []
      if !isDry.due {
        let share = isDry.fresh ? wanted : room.isProbe ? 0 : (wanted + 1) / 2
        batch = try rows(
          OutboxQueries.due,
          [
            search.owner, name, kind == .unordered, dueAfter.time, dueAfter.number, now.milliseconds,
            room.largest, room.unanswered > 0, share,
          ])
        isDry.due = batch.count < share
        dueAfter = batch.last.map { ($0.dueAt, $0.number) } ?? dueAfter
      }
      if !isDry.fresh, wanted > batch.count {
        let fresh = try rows(
          OutboxQueries.fresh,
          [search.owner, name, kind == .unordered, after, room.largest, room.unanswered > 0, wanted - batch.count])
        isDry.fresh = fresh.count < wanted - batch.count
        after = fresh.last?.number ?? after
        batch += fresh
      }
      for item in batch where !search.demand.refused.contains(item.number) {
        let isOutdated = try supersedeIfOutdated(item)
        // This item becomes ready when the older item's request ends. It does not count towards `left`, because there
        // are only as many such items as running requests, and later items do not wait for them.
        if try !isOutdated && isOvertaking(item) { continue }
        left -= 1
        if isOutdated {
          search.claimed.moved.formUnion(kind)
          continue
        }
        switch try eligibility(item, search) {
        case .sendable:
          if item.progress.isUnanswered {
            guard room.unanswered > 0 else { continue }
            room.unanswered -= 1
          }
          found.append(item)
        case .timeNeeded: search.claimed.timeNeededFrom = origin
        case .leaves(let reason):
          try leaveLane(item, reason, isDemanded: true)
          // The item behind this one moves up, so another demand is needed to find it.
          search.claimed.moved.formUnion(kind)
        }
      }
    }
    if limit > 0, found.count == limit { search.cut(kind, origin) }
    return found
  }

  private func supersedeIfOutdated(_ item: StoredItem) throws -> Bool {
    guard try isOutdated(item) else { return false }
    try supersede(item)
    effects.leavesContentInLog = true
    if let lane = item.lane { try promote(item.owner, lane, isDemanded: true) }
    return true
  }

  private func eligibility(_ item: StoredItem, _ search: Search) throws -> ItemProgress.Eligibility {
    // A damaged index must not cause an item to be sent with another user's token.
    guard item.owner == search.owner else {
      throw OutboxStoreFailure.broken("The outbox is damaged: an index points to another user's item.")
    }
    return item.progress.eligibility(
      method: item.method, policy: search.demand.policy, expiry: search.demand.expiry, at: now)
  }

  /// Holds items in place if their origin is no longer configured for the account. Returns whether there may be more
  /// such items.
  private func holdAll(of owner: Int64, to origin: String) throws -> Bool {
    let limit = 64
    var items: [StoredItem] = []
    for isUnordered in [false, true] {
      items += try rows(OutboxQueries.fresh, [owner, origin, isUnordered, 0, Int.max, true, limit])
      items += try rows(OutboxQueries.due, [owner, origin, isUnordered, 1, -1, now.milliseconds, Int.max, true, limit])
    }
    for var item in items where try !supersedeIfOutdated(item) {
      item.progress.lastError = DeliveryOutcome.foreignOrigin(origin)
      item.progress.hold(.originNotConfigured)
      item.isHead = false
      try publish(&item)
    }
    return !items.isEmpty
  }

  /// Claims heads for an origin, in the order of `readySince`, and the items behind them.
  private func claim(
    _ found: [StoredItem], _ kind: OutboxKinds, _ origin: Origin, _ room: inout OutboxDemand.Room,
    _ search: inout Search
  ) throws {
    let heads = found.sorted { ($0.readySince, $0.position) < ($1.readySince, $1.position) }
    let limit = room.limit(kind)
    var left = limit
    for (index, head) in heads.enumerated() {
      guard room.bytes > 0 else {
        search.cut(kind, origin)
        break
      }
      guard claims.hasRoom() else {
        search.returns(at: now)
        break
      }
      let delivery: Delivery
      switch try content(of: head) {
      case .sound(let sound): delivery = sound
      case .unsendable(let reason, let error):
        var lost = head
        lost.progress.lastError = error
        try leaveLane(lost, reason, isDemanded: true)
        search.claimed.moved.formUnion(kind)
        continue
      }
      room.bytes -= head.bytes
      left -= 1
      var items = [head]
      var deliveries = [delivery]
      // The lanes share the capacity that is left after reserving one item for each remaining head.
      let share = max(left - (heads.count - index - 1), 0) / max(heads.count - index, 1)
      if room.takesFollowers, !room.isProbe, share > 0, let lane = head.lane {
        for follower in try followers(of: head, lane, share) {
          guard room.bytes > 0, follower.bytes <= room.largest, case .sendable = try eligibility(follower, search),
            try !isOutdated(follower),
            try !isOvertaking(follower), !search.demand.refused.contains(follower.number),
            (try? HTTPURL(follower.url))?.origin == origin, case .sound(let delivery) = try content(of: follower)
          else { break }
          items.append(follower)
          deliveries.append(delivery)
          room.bytes -= follower.bytes
          left -= 1
        }
      }
      search.claimed.claims.append(LaneClaim(epoch: try claim(items), deliveries: deliveries))
    }
    if limit > 0, left <= 0 { search.cut(kind, origin) }
  }

  /// Returns the pending items directly behind a head.
  private func followers(of head: StoredItem, _ lane: Name, _ limit: Int) throws -> [StoredItem] {
    let ends = try [OutboxItem.State.waiting, .inFlight].compactMap {
      try number(OutboxQueries.placeInLane, [head.owner, lane, $0.number, head.position])
    }
    return try rows(OutboxQueries.followers, [head.owner, lane, head.position, ends.min() ?? .max, limit])
  }

  /// Claims a head and the items behind it. Returns the claim's epoch.
  private func claim(_ items: [StoredItem]) throws -> Int64 {
    let (head, last) = (items[0], items[items.count - 1])
    let epoch = counters.nextPlace()
    try execute(
      OutboxQueries.claim,
      [epoch, head.owner, head.lane, head.number, head.position, last.position, now.milliseconds])
    try execute(OutboxQueries.setHead, [false, head.number])
    claims.hold(
      ClaimTable.Claim(
        epoch: epoch, owner: head.owner, lane: head.lane, madeAt: steadyNow,
        items: items.map { ClaimTable.Item(number: $0.number, position: $0.position, state: $0.progress.state) }))
    return epoch
  }

  enum Content {
    case sound(Delivery)
    case unsendable(OutboxItem.Reason, error: String)
  }

  /// Reads an item's request and verifies its checksum.
  func content(of item: StoredItem) throws -> Content {
    let stored = try db.firstRow(OutboxQueries.content, [item.number]) {
      (headers: [APIRequest.Header](stored: try $0.name(0)), body: try $0.blob(1) ?? [], checksum: try $0.integer(2))
    }
    guard let stored else {
      return .unsendable(.rejected, error: "The item's content is missing from the outbox, so it cannot be sent.")
    }
    let digest = ItemDigest.content(method: item.method, url: item.url, headers: stored.headers, body: stored.body)
    guard stored.checksum == ItemDigest.checksum(digest, idempotencyKey: item.idempotencyKey),
      let url = try? HTTPURL(item.url)
    else { return .unsendable(.damaged, error: "The item's content does not match its checksum, so it is not sent.") }
    return .sound(
      Delivery(
        number: item.number, item: try shown(item, hasBegun: false), progress: item.progress,
        request: APIRequest(
          method: item.method, url: url, headers: stored.headers, body: stored.body, idempotencyKey: item.idempotencyKey
        ),
        expect: item.expect))
  }
}
