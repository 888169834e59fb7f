/// What the store is asked for, and what its answers mean.
extension OutboxMachine {
  /// The most items of one step of a longer piece of work, so that deliveries go on in between.
  package static let batch = 256
  private static let storeRetry = Duration.milliseconds(500)
  private static let shortestPruneInterval = Duration.seconds(60)
  private static let wipeDelay = Duration.seconds(1)
  /// Finished items after which it is looked at once whether they are too many.
  private static let finishedAtOnce = 1024
  static let longestUnwritten = Duration.milliseconds(50)

  /// One kind of work in a round. Each round visits every kind, so that none waits for a long piece of another.
  enum StorePhase {
    case bind(AccountName), free(AccountName)
    case exchange, expire, prune
    case publishHeld(AccountName)
  }

  /// It is nil where there is nothing to do now, or the store has just failed.
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
      + names.filter { accounts[$0]?.isFreeing == true }.map(StorePhase.free)
      + [.exchange, .expire, .prune]
      + names.filter { accounts[$0]?.isPublishingHeld == true }.map(StorePhase.publishHeld)
  }

  private mutating func work(of phase: StorePhase, at now: Timestamp) -> OutboxStoreWork? {
    switch phase {
    case .bind(let name):
      guard let account = accounts[name], !account.isBound, let subject = account.boundSubject else { return nil }
      // An item that is added while the store works asks for another binding.
      accounts[name]?.isBound = true
      // What was nobody's stays so where somebody without a name has left.
      let adopts = if case .sendable = account.permission { !account.isLeft } else { false }
      let former = subject == .unnamedBefore ? .unnamed : account.formerSubject
      return .bind(name, to: subject, formerly: former, adopts: adopts)
    case .free(let name):
      // What an API has said of the token before the sign-in is to be on disk first.
      guard let account = accounts[name], account.isFreeing, unwritten.isEmpty else { return nil }
      accounts[name]?.mayHoldConfigured = false
      accounts[name]?.hasSignedIn = false
      return .free(name, configured: account.api.origins, signedIn: account.hasSignedIn)
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
      guard let nextPruneAt,
        nextPruneAt <= now || finishedSincePrune >= Self.finishedAtOnce || wipeAt.map({ $0 <= now }) == true
      else { return nil }
      // What is delivered while the store works asks for another sweep.
      wipeAt = nil
      return .prune(agreedTime(at: now))
    case .publishHeld(let name):
      guard let account = accounts[name], account.isPublishingHeld else { return nil }
      return .publishHeld(name, cursor: account.heldCursor)
    }
  }

  /// Not at once: to empty its log takes the store about as long as a commit.
  mutating func wipeSoon(at now: Timestamp) { wipeAt = wipeAt ?? now + Self.wipeDelay }

  private func isDue(_ time: Timestamp?, _ agreed: Timestamp?) -> Bool {
    guard let time, let agreed else { return false }
    return time <= agreed
  }

  /// The store could not do it. Nothing is lost: outcomes are kept, nothing new is claimed, and it is tried again shortly.
  package mutating func storeFailed(_ work: OutboxStoreWork, at now: Timestamp) {
    // What is only swept keeps nobody from sending.
    if case .prune = work { return (finishedSincePrune, nextPruneAt) = (0, now + Self.shortestPruneInterval) }
    storeFailed(at: now)
    switch work {
    case .recover, .prune, .publishHeld: break
    case .expire: isExpiryRead = false
    case .readPauses: arePausesRead = false
    case .bind(let name, _, _, _): accounts[name]?.bindAgain()
    case .free: freeAgain(work)
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

  /// `paused`: the accounts that the user has paused, by the store. `number`: of this reading.
  package mutating func pausesRead(_ paused: Set<AccountName>, number: Int) {
    for name in accounts.keys {
      accounts[name]?.pauseRead(isPaused: paused.contains(name), number: number)
      wake(name)
      notePause(of: name)
    }
  }

  /// What came of the binding `work`. It is repeated while items are left that are to become the user's.
  package mutating func bound(_ binding: OutboxBinding, _ work: OutboxStoreWork) {
    guard case .bind(let name, let subject, _, let adopts) = work, let account = accounts[name] else { return }
    if binding.holdsOthers {
      accounts[name]?.isPublishingHeld = true
      accounts[name]?.heldCursor = nil
    }
    if subject == .unnamedBefore {
      accounts[name]?.isLeft = !binding.isDone
      return accounts[name]?.bindAgain() ?? ()
    }
    let adoptsNow = if case .sendable = account.permission { true } else { false }
    // The session may have changed meanwhile, and has asked for a binding of its own then.
    guard account.boundSubject == subject, adoptsNow == adopts else { return }
    if !binding.isDone { accounts[name]?.bindAgain() }
  }

  /// The store has freed as many items as that; there may be more.
  package mutating func freed(_ count: Int, _ work: OutboxStoreWork) {
    if count == Self.batch { freeAgain(work) }
  }

  private mutating func freeAgain(_ work: OutboxStoreWork) {
    guard case .free(let name, _, let signedIn) = work else { return }
    accounts[name]?.mayHoldConfigured = true
    if signedIn { accounts[name]?.hasSignedIn = true }
    wake(name)
  }

  /// The store is being asked when the next item expires. Items that are enqueued meanwhile may expire before that one.
  private mutating func expiryAsked() { (nextExpiryAt, isExpiryRead) = (nil, true) }

  /// `next`: when the next item expires, by the store's answer.
  package mutating func expired(next: Timestamp?) { nextExpiryAt = [nextExpiryAt, next].compactMap(\.self).min() }

  /// What is left after old items were removed, and when that is looked at again.
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

  // MARK: - When to look again

  /// The first deadline after `begun`, when the last round began: it may have passed during that round, which has not
  /// acted on it. Accounts to which nothing happens are not looked at again before.
  package mutating func nextWake(after begun: Timestamp) -> Timestamp {
    // While the store fails nothing else can be done.
    if let storeRetryAt { return min(storeRetryAt, stopsAt ?? storeRetryAt) }
    restQuiet()
    var deadlines = [stopsAt, nextPruneAt, nextPruneAt == nil ? nil : wipeAt]
    deadlines.append(skew.map { skew in nextExpiryAt.map { $0 - min(skew, .zero) } } ?? sweepTimeAt)
    if let since = unwritten.since { deadlines.append(since + Self.longestUnwritten) }
    let isAnyWaiting = awake.contains { accounts[$0].map(\.isWaiting) ?? false }
    if isAnyWaiting { deadlines += awake.map { accounts[$0]?.nextSlowAt(after: begun) } }
    for name in awake {
      guard let account = accounts[name], account.isSendable else { continue }
      deadlines += [account.nextDueAt, account.stalledUntil, account.breaker.nextProbeAt]
      if account.timeNeededFrom != nil {
        deadlines.append(account.timeAskedAt.map { $0 + Self.timeProbeInterval })
      }
    }
    return deadlines.compactMap(\.self).filter { $0 > begun }.min() ?? .distantFuture
  }
}
