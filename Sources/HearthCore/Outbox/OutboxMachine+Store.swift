/// The exchanges with the store: what to save, what to demand, and what was claimed. Also the results of its other work.
extension OutboxMachine {
  /// The maximum size of all claimed content except slow requests, in bytes. An account without any requests to an
  /// origin may always claim one item for that origin.
  private static let memory = 32 << 20
  /// The total size of an account's slow requests to one origin, in bytes, above which only small items are claimed for
  /// that origin.
  private static let slowMemory = 64 << 20
  static let small = 64 << 10
  /// The maximum number of items per account and origin whose last request got no response, first for normal and then
  /// for slow requests.
  private static let unansweredAtOnce = 16
  private static let slowUnansweredAtOnce = 112

  mutating func request(at now: Timestamp) -> OutboxRequest {
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
      || awake.contains { accounts[$0]?.isFreeing == true }
      || now - since >= Self.longestUnwritten
      || !awake.contains {
        accounts[$0].map { $0.isSendable && $0.readAhead.values.contains { $0.limit > 0 } } ?? false
      }
  }

  private mutating func demands(at now: Timestamp) -> [OutboxDemand] {
    guard stopsAt == nil else { return [] }
    let loads = awake.reduce(into: [:]) { $0[$1] = accounts[$1]?.loads(at: now) }
    let bytes = loads.values.joined().reduce(0) { $0 + $1.value.bytes.all - $1.value.bytes.slow }
    var demands: [OutboxDemand] = []
    for name in awake.sorted() {
      accounts[name]?.look(at: now)
      guard let account = accounts[name], account.isSendable, account.user.isBound, account.stalledUntil == nil,
        account.unclaimed.mayExist,
        case let free = rooms(account, loads[name] ?? [:], isMemoryFull: bytes >= Self.memory, at: now),
        let rooms = accounts[name]?.unclaimed.claim(within: free)
      else { continue }
      demands.append(
        OutboxDemand(
          account: name, subject: account.user.known, rooms: rooms, configured: account.api.origins,
          expiry: expiryTime(of: name, at: now), policy: policy, refused: account.refused.held))
    }
    let count = demands.reduce(0) { $0 + $1.rooms.values.count { !$0.kinds.isEmpty } }
    let share = max(Self.memory - bytes, 0) / max(count, 1)
    for index in demands.indices {
      for origin in demands[index].rooms.keys { demands[index].rooms[origin]?.bytes = max(share, 1) }
    }
    return demands
  }

  /// Returns how many more items may be claimed now, for each origin that Hearth may send to.
  private func rooms(
    _ account: OutboxAccount, _ loads: [Origin: OriginLoad], isMemoryFull: Bool, at now: Timestamp
  ) -> [Origin: OutboxDemand.Room] {
    var rooms: [Origin: OutboxDemand.Room] = [:]
    for origin in account.api.origins {
      var room = OutboxDemand.Room(lanes: 0, unordered: 0)
      if let probeAt = account.breaker.probeTime(of: origin) {
        guard probeAt <= now else { continue }
        room.isProbe = true
      }
      let load = loads[origin] ?? OriginLoad()
      if !isMemoryFull || loads[origin] == nil {
        if load.bytes.slow >= Self.slowMemory { room.largest = Self.small }
        let ahead = account.readAhead[origin]?.limit ?? 0
        room.lanes = limit(.lanes, beside: load.lanes, unsent: load.unsent.lanes, ahead: ahead)
        room.unordered = limit(.unordered, beside: load.unordered, unsent: load.unsent.unordered, ahead: ahead)
        room.takesFollowers = ahead > 0
      }
      room.unanswered = load.unanswered.room(Self.unansweredAtOnce, slow: Self.slowUnansweredAtOnce)
      rooms[origin] = room
    }
    return rooms
  }

  /// Returns how many more items of a kind may be claimed for one origin now.
  private func limit(_ kind: OutboxKinds, beside sending: OriginLoad.Count, unsent: Int, ahead: Int) -> Int {
    if ahead == 0 { return max(freeSenders(kind, beside: sending) - unsent, 0) }
    return unsent <= ahead / 4 ? ahead - unsent : 0
  }

  /// Returns the outcomes to save after sending has ended, or `nil` if there are no unsaved outcomes.
  package mutating func lastRequest(at now: Timestamp) -> OutboxRequest? {
    var request = OutboxRequest()
    (request.settled, request.released) = unwritten.tell(at: now)
    return request.isEmpty ? nil : request
  }

  /// Applies the result of an exchange, and releases new claims that may no longer be sent.
  package mutating func exchanged(_ exchange: OutboxExchange, _ request: OutboxRequest, at now: Timestamp) {
    unwritten.written()
    let removesContent = request.settled.contains { if case .delivered = $0.outcome { true } else { false } }
    if removesContent { wipeSoon(at: now) }
    expired(next: exchange.nextExpiryAt)
    for demand in request.demands {
      accounts[demand.account]?.unclaimed.endClaim()
      let claimed = exchange.claimed[demand.account] ?? OutboxExchange.Claimed()
      accept(claimed.moved(by: lead(over: exchange.time, at: now)), demand, at: now)
    }
    for name in awake { judge(name, at: now) }
  }

  /// Returns how far this clock is ahead of the store's clock. The store's clock showed `time` at some point between
  /// `exchangeAskedAt` and `now`. If `time` lies in that interval, the two clocks may agree, so the result is zero.
  private func lead(over time: Timestamp, at now: Timestamp) -> Duration {
    max(exchangeAskedAt - time, min(now - time, .zero))
  }

  private mutating func accept(_ claimed: OutboxExchange.Claimed, _ demand: OutboxDemand, at now: Timestamp) {
    let name = demand.account
    guard let account = accounts[name], account.isSendable, account.user.known == demand.subject,
      account.user.isBound, stopsAt == nil
    else {
      for claim in claimed.claims { unwritten.release(claim.epoch, at: now) }
      accounts[name]?.unclaimed.add(.all)
      return
    }
    accounts[name]?.queue += claimed.claims
    accounts[name]?.unclaimed.remain(claimed)
    // If a server has reported the time in the meantime, do not ask for it. Claim again instead.
    accounts[name]?.timeNeededFrom = account.clocks.isTold ? nil : claimed.timeNeededFrom
    if account.clocks.isTold, claimed.timeNeededFrom != nil { accounts[name]?.unclaimed.add(.all) }
    let origins = Set(claimed.claims.compactMap(\.origin))
    for (origin, room) in demand.rooms where room.isProbe {
      if origins.contains(origin) {
        accounts[name]?.breaker.probing(origin)
      } else {
        accounts[name]?.breaker.nothingToProbe(origin, at: now)
      }
    }
  }

  /// Applies the pauses that the store has read. `number` is the read's `nextPauseNumber()`.
  package mutating func pausesRead(_ paused: Set<AccountName>, number: Int) {
    for name in accounts.keys {
      accounts[name]?.pauseRead(isPaused: paused.contains(name), number: number)
      wake(name)
      notePause(of: name)
    }
  }

  /// Applies the result of a binding.
  package mutating func bound(_ binding: OutboxBinding, _ work: OutboxStoreWork) {
    guard case .bind(let name, let subject, _, let adopts) = work else { return }
    if binding.holdsOthers { accounts[name]?.publishHeld(true, from: nil) }
    accounts[name]?.user.bound(to: subject, adopts: adopts, isDone: binding.isDone)
  }

  /// Records that the store has resumed `count` held items. After a full batch, there may be more.
  package mutating func freed(_ count: Int, _ work: OutboxStoreWork) {
    if count == Self.batch { freeAgain(work) }
  }

  mutating func freeAgain(_ work: OutboxStoreWork) {
    guard case .free(let name, _, let signedIn) = work else { return }
    accounts[name]?.mayHoldConfigured = true
    if signedIn { accounts[name]?.hasSignedIn = true }
    wake(name)
  }

  /// Records when the next item expires, as reported by the store.
  package mutating func expired(next: Timestamp?) { sweeps.expires(at: next) }

  package mutating func pruned(_ pruning: OutboxPruning, at now: Timestamp) {
    sweeps.pruned(pruning, keeping: settings, at: now)
  }

  /// Schedules a sweep after content was removed.
  package mutating func wipeSoon(at now: Timestamp) { sweeps.wipeSoon(at: now) }

  package mutating func heldPublished(_ name: AccountName, cursor: String?) {
    accounts[name]?.publishHeld(cursor != nil, from: cursor)
  }
}
