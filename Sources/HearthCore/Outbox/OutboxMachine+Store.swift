/// What the store is asked for, and what its answers mean.
extension OutboxMachine {
  /// The most items of one step of a longer piece of work, so that deliveries go on in between.
  package static let batch = 256
  private static let storeRetry = Duration.milliseconds(500)
  private static let shortestPruneInterval = Duration.seconds(60)
  /// Finished items after which it is looked at once whether they are too many.
  private static let finishedAtOnce = 1024
  private static let longestUnwritten = Duration.milliseconds(50)
  /// The bytes of content that all accounts together may have claimed. An account that has nothing under way may claim
  /// one item all the same.
  private static let memory = 32 << 20
  /// The most lanes of an account whose last request got no response, of all that are sent at once.
  private static let unansweredAtOnce = 16

  /// One kind of work in a round. Each round visits every kind, so that none waits for a long piece of another.
  enum StorePhase {
    case bind(AccountName)
    case exchange, expire, prune
    case publishHeld(AccountName)
  }

  /// Nil where there is nothing to do now, or the store has just failed.
  package mutating func nextStoreWork(at now: Timestamp) -> OutboxStoreWork? {
    if let storeRetryAt {
      guard storeRetryAt <= now else { return nil }
      self.storeRetryAt = nil
    }
    if !isRecovered {
      // A new database, in place of a damaged one, does not know the pauses.
      return .recover(pausing: Set(accounts.filter(\.value.isPausedByUser).keys))
    }
    if !arePausesRead {
      // A reload in the meantime has them read again.
      arePausesRead = true
      return .readPauses(number: nextPauseNumber())
    }
    var isNewRound = false
    while true {
      if round.isEmpty {
        if isNewRound { return nil }
        round = phases()
        isNewRound = true
      }
      if let work = work(of: round.removeFirst(), at: now) { return work }
    }
  }

  private mutating func phases() -> [StorePhase] {
    restQuiet()
    let names = awake.sorted()
    return names.filter { accounts[$0]?.isBound == false }.map(StorePhase.bind)
      + [.exchange, .expire, .prune]
      + names.filter { accounts[$0]?.isPublishingHeld == true }.map(StorePhase.publishHeld)
  }

  private mutating func work(of phase: StorePhase, at now: Timestamp) -> OutboxStoreWork? {
    switch phase {
    case .bind(let name):
      guard let account = accounts[name], !account.isBound, let subject = account.knownSubject else { return nil }
      // An item that is added while the store works asks for another binding.
      accounts[name]?.isBound = true
      let adopts = if case .sendable = account.permission { true } else { false }
      return .bind(name, to: subject, formerly: account.formerSubject, adopts: adopts)
    case .exchange:
      let request = request(at: now)
      if request.isEmpty { return nil }
      expiryAsked()
      return .exchange(request)
    case .expire:
      // After a start it is found out when the next item expires, though nothing is claimed.
      let agreed = agreedTime(at: now)
      guard !isExpiryRead || isDue(nextExpiryAt, agreed) else { return nil }
      expiryAsked()
      return .expire(agreed)
    case .prune:
      guard let nextPruneAt, nextPruneAt <= now || finishedSincePrune >= Self.finishedAtOnce else { return nil }
      return .prune(agreedTime(at: now))
    case .publishHeld(let name):
      guard let account = accounts[name], account.isPublishingHeld else { return nil }
      return .publishHeld(name, cursor: account.heldCursor)
    }
  }

  private func isDue(_ time: Timestamp?, _ agreed: Timestamp?) -> Bool {
    guard let time, let agreed else { return false }
    return time <= agreed
  }

  /// The store could not do it. Nothing is lost: outcomes are kept, nothing new is claimed, and it is tried again shortly.
  package mutating func storeFailed(_ work: OutboxStoreWork, at now: Timestamp) {
    storeFailed(at: now)
    switch work {
    case .recover, .prune, .publishHeld: break
    case .expire: isExpiryRead = false
    case .readPauses: arePausesRead = false
    case .bind(let name, _, _, _): accounts[name]?.bindAgain()
    case .exchange(let request):
      isExpiryRead = false
      unwritten.failed(at: now)
      for demand in request.demands {
        accounts[demand.account]?.isClaiming = false
        accounts[demand.account]?.mayHaveMore = .all
      }
    }
  }

  /// The store is left alone for a while.
  package mutating func storeFailed(at now: Timestamp) { storeRetryAt = now + Self.storeRetry }

  /// The store has met damage, and may begin a new database: nothing is claimed any more, and what it was told is told
  /// again. Requests under way may finish; their outcomes change nothing, and their senders find the rest of their claims
  /// revoked.
  package mutating func storeBroke(at now: Timestamp) {
    isRecovered = false
    (nextExpiryAt, isExpiryRead) = (nil, false)
    for name in accounts.keys {
      withdraw(name, at: now)
      accounts[name]?.bindAgain()
      accounts[name]?.mayHaveMore = .all
      wake(name)
    }
  }

  /// Whether the store has told its counts, or could not be had.
  package var hasAskedStore: Bool { isRecovered || storeRetryAt != nil }

  package mutating func recovered(at now: Timestamp) {
    isRecovered = true
    nextPruneAt = now
  }

  package mutating func pausesRead(_ paused: Set<AccountName>, number: Int) {
    for name in accounts.keys {
      accounts[name]?.pauseRead(isPaused: paused.contains(name), number: number)
      wake(name)
      notePause(of: name)
    }
  }

  package mutating func bound(_ binding: OutboxBinding, _ work: OutboxStoreWork) {
    guard case .bind(let name, let subject, _, let adopts) = work, let account = accounts[name] else { return }
    if binding.holdsOthers {
      accounts[name]?.isPublishingHeld = true
      accounts[name]?.heldCursor = nil
    }
    let adoptsNow = if case .sendable = account.permission { true } else { false }
    // The session may have changed meanwhile, and has asked for a binding of its own then.
    guard account.knownSubject == subject, adoptsNow == adopts else { return }
    if !binding.isDone { accounts[name]?.bindAgain() }
  }

  /// The store is being asked when the next item expires. Items that are enqueued meanwhile may expire before that one.
  private mutating func expiryAsked() { (nextExpiryAt, isExpiryRead) = (nil, true) }

  /// `next`: when the next item expires, by the store's answer.
  package mutating func expired(next: Timestamp?) { nextExpiryAt = [nextExpiryAt, next].compactMap(\.self).min() }

  package mutating func pruned(_ pruning: OutboxPruning, at now: Timestamp) {
    finishedSincePrune = 0
    // What was kept for long enough may stay for an eighth of that: an idle daemon has no reason to wake up.
    let interval = min(settings.keepDelivered, settings.keepDead) / 8
    let tooOld = pruning.nextAt.flatMap { $0 < agreedTime(at: now) ?? now ? $0 : nil }
    tooOldSince = skew == nil ? tooOld : nil
    // A server may have told the time meanwhile.
    let isMore = pruning.isMore || skew != nil && tooOld != nil
    nextPruneAt = isMore ? now : now + max(interval, Self.shortestPruneInterval)
  }

  package mutating func heldPublished(_ name: AccountName, cursor: String?) {
    accounts[name]?.heldCursor = cursor
    accounts[name]?.isPublishingHeld = cursor != nil
  }

  // MARK: - Exchanges

  private mutating func request(at now: Timestamp) -> OutboxRequest {
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

  /// By how much this clock is ahead of the store's, which showed `time` after it was asked and before `now`: zero where
  /// both may be the same.
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

  // MARK: - When to look again

  /// The first deadline after `begun`, when the last round began: it may have passed during that round, which has not
  /// acted on it. Accounts to which nothing happens are not looked at again before.
  package mutating func nextWake(after begun: Timestamp) -> Timestamp {
    // While the store fails nothing else can be done.
    if let storeRetryAt { return min(storeRetryAt, stopsAt ?? storeRetryAt) }
    restQuiet()
    var deadlines = [stopsAt, nextPruneAt]
    deadlines.append(skew.map { skew in nextExpiryAt.map { $0 - min(skew, .zero) } } ?? sweepTimeAt)
    if let since = unwritten.since { deadlines.append(since + Self.longestUnwritten) }
    for name in awake {
      guard let account = accounts[name], account.isSendable else { continue }
      deadlines += [account.nextDueAt, account.stalledUntil, account.breaker.nextProbeAt, slowSenderAt(account)]
      if skew == nil, account.timeNeededFrom != nil {
        deadlines.append(account.timeAskedAt.map { $0 + Self.timeProbeInterval })
      }
    }
    return deadlines.compactMap(\.self).filter { $0 > begun }.min() ?? .distantFuture
  }
}
