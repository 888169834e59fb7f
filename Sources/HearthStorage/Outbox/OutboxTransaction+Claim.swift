internal import FoundationEssentials
internal import GRDB
internal import HearthCore

extension OutboxTransaction {
  /// A demand while it is met.
  private struct Search {
    let demand: OutboxDemand
    let owner: Int64
    let now: Timestamp
    var claimed = OutboxExchange.Claimed()
    /// What is left of the demand's limits.
    var bytes: Int
    var unanswered: Int

    /// Something is left that can be claimed only when room is free again, which nobody tells of.
    mutating func returns() {
      claimed.nextDueAt = min(claimed.nextDueAt ?? .distantFuture, now + .seconds(1))
    }

    /// The most that is claimed of a kind.
    func limit(_ kind: OutboxKinds) -> Int { kind == .lanes ? demand.lanes : demand.unordered }
  }

  /// Claims the next deliveries of an account. Items that cannot be sent any more leave their lanes on the way.
  func claim(_ demand: OutboxDemand) throws -> OutboxExchange.Claimed {
    guard let owner = counters.owner(demand.account, demand.subject) else { return OutboxExchange.Claimed() }
    var search = Search(
      demand: demand, owner: owner, now: now, bytes: demand.bytes, unanswered: demand.unanswered)
    let configured = Dictionary(uniqueKeysWithValues: demand.configured.map { ($0.description, $0) })
    var heads: (lanes: [StoredItem], unordered: [StoredItem]) = ([], [])
    for name in try origins(of: owner) {
      guard let origin = configured[name] else {
        if try rejectAll(of: owner, to: name) { search.claimed.cut = .all }
        continue
      }
      if demand.open.contains(origin) {
        heads.lanes += try sendable(origin, .lanes, demand.lanes, &search)
        heads.unordered += try sendable(origin, .unordered, demand.unordered, &search)
      } else if demand.probed.contains(origin) {
        let lane = try sendable(origin, .lanes, min(demand.lanes, 1), &search)
        let other = try sendable(origin, .unordered, min(demand.unordered, 1), &search)
        // The other kind in turn: the response to one item may be about that item alone.
        let isOther = lane.isEmpty || !other.isEmpty && other[0].dueAt < lane[0].dueAt
        if isOther { heads.unordered += other } else { heads.lanes += lane }
      }
    }
    try claim(heads.lanes, .lanes, &search)
    try claim(heads.unordered, .unordered, &search)
    try findNextDue(configured, &search)
    if demand.open.union(demand.probed).isSuperset(of: demand.configured) {
      // What there is to claim is claimed.
      for kind in [OutboxKinds.lanes, .unordered] where search.limit(kind) > 0 && !search.claimed.cut.contains(kind) {
        effects.ready[owner]?.remove(kind)
      }
    }
    return search.claimed
  }

  /// When the next item is due of the kinds that are not cut: those are claimed again before.
  private func findNextDue(_ configured: [String: Origin], _ search: inout Search) throws {
    let kinds = [OutboxKinds.lanes, .unordered].filter { !search.claimed.cut.contains($0) }
    guard !kinds.isEmpty else { return }
    if search.unanswered <= 0,
      try number(OutboxQueries.unanswered, [search.owner, search.now.milliseconds]) != nil
    {
      search.returns()
    }
    for name in try origins(of: search.owner) {
      if let origin = configured[name], !search.demand.open.contains(origin), !search.demand.probed.contains(origin) {
        continue
      }
      for kind in kinds {
        let arguments: StatementArguments = [search.owner, name, kind == .unordered, search.now.milliseconds]
        guard let due = try number(OutboxQueries.nextDue, arguments) else { continue }
        search.claimed.nextDueAt = min(search.claimed.nextDueAt ?? .distantFuture, Timestamp(milliseconds: due))
      }
    }
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
    _ origin: Origin, _ kind: OutboxKinds, _ limit: Int, _ search: inout Search
  ) throws -> [StoredItem] {
    let (demand, name) = (search.demand, origin.description)
    var found: [StoredItem] = []
    // Half of them are items that are due again and half new ones, so that neither kind waits for the other to end.
    // Many items may be due at the same time; new ones are due at 0.
    var dueAfter: (time: Int64, number: Int64) = (1, -1)
    var after: Int64 = 0
    var isDry = (due: false, fresh: false)
    let isProbe = demand.probed.contains(origin)
    var left = 4 * limit
    var hasLost = false
    var unanswered = demand.unanswered
    while found.count < limit, left > 0, !isDry.due || !isDry.fresh {
      let wanted = limit - found.count
      var batch: [StoredItem] = []
      if !isDry.due {
        let share = isDry.fresh ? wanted : isProbe ? 0 : (wanted + 1) / 2
        batch = try rows(
          OutboxQueries.due,
          [
            search.owner, name, kind == .unordered, dueAfter.time, dueAfter.number, search.now.milliseconds,
            unanswered > 0, share,
          ])
        isDry.due = batch.count < share
        dueAfter = batch.last.map { ($0.dueAt, $0.number) } ?? dueAfter
      }
      if !isDry.fresh, wanted > batch.count {
        let fresh = try rows(
          OutboxQueries.fresh,
          [search.owner, name, kind == .unordered, after, unanswered > 0, wanted - batch.count])
        isDry.fresh = fresh.count < wanted - batch.count
        after = fresh.last?.number ?? after
        batch += fresh
      }
      left -= batch.count
      for item in batch {
        switch try eligibility(item, search) {
        case .sendable:
          if item.progress.isUnanswered {
            guard unanswered > 0 else { continue }
            unanswered -= 1
          }
          found.append(item)
        case .timeNeeded: search.claimed.timeNeededFrom = origin
        case .leaves(let reason):
          try leaveLane(item, reason, isDemanded: true)
          hasLost = true
        }
      }
    }
    // The item that moved up behind one that left its lane is found by the next demand.
    if limit > 0, found.count == limit || hasLost { search.claimed.cut.formUnion(kind) }
    return found
  }

  private func eligibility(_ item: StoredItem, _ search: Search) throws -> ItemProgress.Eligibility {
    // The index has led to it: a damaged one must not have it sent under another user's token.
    guard item.owner == search.owner else {
      throw OutboxStoreFailure.broken("The outbox is damaged: an index leads to an item of another user.")
    }
    return item.progress.eligibility(
      method: item.method, policy: search.demand.policy, expiry: search.demand.expiry, at: search.now)
  }

  /// Makes items dead whose origin is not one of the account's any more. Returns whether there may be more.
  private func rejectAll(of owner: Int64, to origin: String) throws -> Bool {
    let limit = 64
    var items: [StoredItem] = []
    for isUnordered in [false, true] {
      items += try rows(OutboxQueries.fresh, [owner, origin, isUnordered, 0, true, limit])
      items += try rows(OutboxQueries.due, [owner, origin, isUnordered, 1, -1, now.milliseconds, true, limit])
    }
    for var item in items {
      item.progress.lastError = DeliveryOutcome.foreignOrigin(origin)
      try leaveLane(item, .rejected, isDemanded: true)
    }
    return !items.isEmpty
  }

  /// Claims heads, the longest ready first, and what follows them in their lanes.
  private func claim(_ found: [StoredItem], _ kind: OutboxKinds, _ search: inout Search) throws {
    let limit = search.limit(kind)
    var heads: [StoredItem] = []
    for head in found.sorted(by: { ($0.readySince, $0.position) < ($1.readySince, $1.position) }) {
      if heads.count == limit {
        search.claimed.cut.formUnion(kind)
        break
      }
      if head.progress.isUnanswered {
        guard search.unanswered > 0 else { continue }
        search.unanswered -= 1
      }
      heads.append(head)
    }
    var room = limit
    for (index, head) in heads.enumerated() {
      guard search.bytes > 0 else {
        search.claimed.cut.formUnion(kind)
        break
      }
      guard claims.hasRoom() else {
        search.returns()
        break
      }
      let delivery: Delivery
      switch try content(of: head) {
      case .sound(let sound): delivery = sound
      case .unsendable(let reason, let error):
        var lost = head
        lost.progress.lastError = error
        try leaveLane(lost, reason, isDemanded: true)
        search.claimed.cut.formUnion(kind)
        continue
      }
      search.bytes -= head.bytes
      room -= 1
      var items = [head]
      var deliveries = [delivery]
      // The room that the other heads leave is shared among the lanes.
      let share = max(room - (heads.count - index - 1), 0) / max(heads.count - index, 1)
      if search.demand.takesFollowers, share > 0, let lane = head.lane, case let origin = delivery.request.url.origin,
        search.demand.open.contains(origin)
      {
        for follower in try followers(of: head, lane, share) {
          guard search.bytes > 0, case .sendable = try eligibility(follower, search),
            (try? HTTPURL(follower.url))?.origin == origin, case .sound(let delivery) = try content(of: follower)
          else { break }
          items.append(follower)
          deliveries.append(delivery)
          search.bytes -= follower.bytes
          room -= 1
        }
      }
      search.claimed.claims.append(LaneClaim(epoch: try claim(items), deliveries: deliveries))
    }
    if limit > 0, room <= 0 { search.claimed.cut.formUnion(kind) }
  }

  /// The pending items right behind a head.
  private func followers(of head: StoredItem, _ lane: String, _ limit: Int) throws -> [StoredItem] {
    let waiting = OutboxItem.State.waiting.number
    let end = try number(OutboxQueries.placeInLane, [head.owner, lane, waiting, head.position])
    return try rows(OutboxQueries.followers, [head.owner, lane, head.position, end ?? .max, limit])
  }

  /// Claims a head and the items behind it, and returns the claim's epoch.
  private func claim(_ items: [StoredItem]) throws -> Int64 {
    let (head, last) = (items[0], items[items.count - 1])
    let epoch = counters.nextPlace()
    try execute(
      OutboxQueries.claim,
      [epoch, head.owner, head.lane, head.number, head.position, last.position, now.milliseconds])
    try execute(OutboxQueries.setHead, [false, head.number])
    claims.hold(
      ClaimTable.Claim(
        epoch: epoch, owner: head.owner, lane: head.lane,
        items: items.map { ClaimTable.Item(number: $0.number, position: $0.position, state: $0.progress.state) }))
    return epoch
  }

  enum Content {
    case sound(Delivery)
    case unsendable(OutboxItem.Reason, error: String)
  }

  /// The request of an item, as it was enqueued.
  func content(of item: StoredItem) throws -> Content {
    let stored = try db.firstRow(OutboxQueries.content, [item.number]) {
      (headers: StoredHeaders.decode(try $0.name(0)), body: try $0.blob(1) ?? [], checksum: try $0.integer(2))
    }
    guard let stored else {
      return .unsendable(.rejected, error: "Its content is missing from the outbox, so it cannot be sent.")
    }
    let digest = ItemDigest.content(method: item.method, url: item.url, headers: stored.headers, body: stored.body)
    guard stored.checksum == ItemDigest.checksum(digest, idempotencyKey: item.idempotencyKey),
      let url = try? HTTPURL(item.url)
    else { return .unsendable(.damaged, error: "Its content does not agree with its checksum, so it is not sent.") }
    return .sound(
      Delivery(
        number: item.number, item: try shown(item, hasBegun: false), conflicts: item.progress.conflicts,
        unknownSince: item.progress.unknownSince, expiresAt: item.progress.expiresAt,
        request: APIRequest(
          method: item.method, url: url, headers: stored.headers, body: stored.body, idempotencyKey: item.idempotencyKey
        ),
        expect: item.expect))
  }
}

extension StoredItem {
  /// Since when a head could have been sent. It orders new items and those that are due again.
  fileprivate var readySince: Int64 { dueAt == 0 ? createdAt.milliseconds : dueAt }
}
