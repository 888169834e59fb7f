/// The exchanges with the store: what is written down of deliveries, what is demanded, and what is claimed by that.
extension OutboxMachine {
  /// The bytes of content that all accounts together may have claimed. An account that has nothing under way may claim
  /// one item all the same.
  private static let memory = 32 << 20
  /// The most lanes of an account whose last request got no response, of all that are sent at once.
  private static let unansweredAtOnce = 16

  mutating func request(at now: Timestamp) -> OutboxRequest {
    exchangeAskedAt = now
    var request = OutboxRequest()
    request.demands = demands(at: now)
    if !request.demands.isEmpty || isWritingDue(at: now) {
      (request.settled, request.released) = unwritten.tell(at: now)
    }
    return request
  }

  private func isWritingDue(at now: Timestamp) -> Bool {
    guard let since = unwritten.since else { return false }
    return unwritten.count >= Self.batch / 4 || senders.isEmpty || stopsAt != nil
      || now - since >= Self.longestUnwritten
      || !awake.contains { accounts[$0].map { $0.isSendable && $0.readAhead.limit > 0 } ?? false }
  }

  private mutating func demands(at now: Timestamp) -> [OutboxDemand] {
    guard stopsAt == nil else { return [] }
    var demands: [OutboxDemand] = []
    for name in awake.sorted() {
      look(at: name, now)
      guard let account = accounts[name] else { continue }
      let (lanes, unordered) = (room(account, .lanes, at: now), room(account, .unordered, at: now))
      guard lanes > 0 || unordered > 0 else { continue }
      if lanes > 0 { accounts[name]?.mayHaveMore.remove(.lanes) }
      if unordered > 0 { accounts[name]?.mayHaveMore.remove(.unordered) }
      accounts[name]?.isClaiming = true
      demands.append(demand(of: name, account, lanes: lanes, unordered: unordered, at: now))
    }
    let share = max(Self.memory - claimedBytes, 0) / max(demands.count, 1)
    for index in demands.indices { demands[index].bytes = max(share, 1) }
    return demands
  }

  /// What has become due of an account may be claimed again.
  private mutating func look(at name: AccountName, _ now: Timestamp) {
    if let until = accounts[name]?.stalledUntil, until <= now { accounts[name]?.stalledUntil = nil }
    let isProbeDue = accounts[name]?.breaker.nextProbeAt.map { $0 <= now } ?? false
    if isProbeDue || accounts[name]?.nextDueAt.map({ $0 <= now }) ?? false {
      accounts[name]?.mayHaveMore = .all
      accounts[name]?.nextDueAt = nil
    }
  }

  private func demand(
    of name: AccountName, _ account: OutboxAccount, lanes: Int, unordered: Int, at now: Timestamp
  ) -> OutboxDemand {
    var demand = OutboxDemand(
      account: name, subject: account.knownSubject, lanes: lanes, unordered: unordered,
      unanswered: max(Self.unansweredAtOnce - account.unanswered, 0), takesFollowers: account.readAhead.limit > 0,
      open: [], configured: account.api.origins, expiry: expiryTime(at: now), policy: policy)
    for origin in account.api.origins {
      switch account.breaker.allowance(for: origin, at: now) {
      case .open: demand.open.insert(origin)
      case .probe: demand.probed.insert(origin)
      case .closed: break
      }
    }
    return demand
  }

  /// How many more items of a kind may be claimed for an account now.
  private func room(_ account: OutboxAccount, _ kind: OutboxKinds, at now: Timestamp) -> Int {
    guard account.isSendable, account.isBound, account.mayHaveMore.contains(kind), account.stalledUntil == nil
    else { return 0 }
    let unsent = account.unsent(of: kind)
    if claimedBytes >= Self.memory, unsent > 0 || account.isSending { return 0 }
    let ahead = account.readAhead.limit
    if ahead == 0 { return max(freeSenders(account, kind, at: now) - unsent, 0) }
    return unsent <= ahead / 4 ? ahead - unsent : 0
  }

  /// What is left to be written down when sending has ended.
  package mutating func lastRequest(at now: Timestamp) -> OutboxRequest? {
    var request = OutboxRequest()
    (request.settled, request.released) = unwritten.tell(at: now)
    return request.isEmpty ? nil : request
  }

  /// The store has written the request down and answered. A claim that may not be sent by now is given back.
  package mutating func exchanged(_ exchange: OutboxExchange, _ request: OutboxRequest, at now: Timestamp) {
    unwritten.written()
    expired(next: exchange.nextExpiryAt)
    for demand in request.demands {
      accounts[demand.account]?.isClaiming = false
      let claimed = exchange.claimed[demand.account] ?? OutboxExchange.Claimed()
      accept(claimed.moved(by: lead(over: exchange.time, at: now)), demand, at: now)
    }
    for name in awake { judge(name, at: now) }
  }

  /// By how much this clock is ahead of the store's, which showed `time` at some moment between `exchangeAskedAt` and `now`
  /// of this one. Zero where `time` lies between these: both may be the same clock.
  private func lead(over time: Timestamp, at now: Timestamp) -> Duration {
    max(exchangeAskedAt - time, min(now - time, .zero))
  }

  private mutating func accept(_ claimed: OutboxExchange.Claimed, _ demand: OutboxDemand, at now: Timestamp) {
    let name = demand.account
    // The session may have changed while the store worked.
    guard let account = accounts[name], account.isSendable, account.knownSubject == demand.subject, account.isBound,
      stopsAt == nil
    else {
      for claim in claimed.claims { unwritten.release(claim.epoch, at: now) }
      accounts[name]?.mayHaveMore = .all
      return
    }
    accounts[name]?.queue += claimed.claims
    claimedBytes += claimed.claims.reduce(0) { $0 + $1.deliveries.bytes }
    accounts[name]?.nextDueAt = claimed.nextDueAt
    accounts[name]?.mayHaveMore.formUnion(claimed.cut)
    // A server may have told the time while the store worked.
    accounts[name]?.timeNeededFrom = skew == nil ? claimed.timeNeededFrom : nil
    if skew != nil, claimed.timeNeededFrom != nil { accounts[name]?.mayHaveMore = .all }
    let origins = Set(claimed.claims.compactMap(\.origin))
    for origin in demand.probed {
      if origins.contains(origin) {
        accounts[name]?.breaker.probing(origin)
      } else {
        accounts[name]?.breaker.nothingToProbe(origin, at: now)
      }
    }
  }
}
