/// Decides what the store has to do, and handles the results.
extension OutboxMachine {
  /// The maximum number of items per step of longer work. Deliveries continue between the steps.
  package static let batch = 256
  private static let storeRetry = Duration.milliseconds(500)
  static let longestUnwritten = Duration.milliseconds(50)

  /// One kind of work in a round. Each round visits every kind, so that no kind is delayed for long.
  enum StorePhase {
    case bind(AccountName), free(AccountName)
    case exchange, expire, prune
    case publishHeld(AccountName)
  }

  /// Returns the next work for the store, or `nil` if there is no work or if the store has just failed.
  package mutating func nextStoreWork(at now: Timestamp) -> OutboxStoreWork? {
    if let storeRetryAt {
      guard storeRetryAt <= now else { return nil }
      self.storeRetryAt = nil
    }
    if !isRecovered {
      // A new database that replaces a damaged one contains no pauses, so pass the current pauses.
      return .recover(pausing: Set(accounts.filter(\.value.isPausedByUser).keys))
    }
    if let number = pauses.read() { return .configure(names, number: number) }
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
    return names.filter { accounts[$0]?.user.isBound == false }.map(StorePhase.bind)
      + names.filter { accounts[$0]?.isFreeing == true }.map(StorePhase.free)
      + [.exchange, .expire, .prune]
      + names.filter { accounts[$0]?.isPublishingHeld == true }.map(StorePhase.publishHeld)
  }

  private mutating func work(of phase: StorePhase, at now: Timestamp) -> OutboxStoreWork? {
    switch phase {
    case .bind(let name): return accounts[name]?.user.bind(name)
    case .free(let name):
      // First save the results from before the sign-in. One of them may hold an item for a sign-in, and that item must
      // be resumed, too.
      guard let account = accounts[name], account.isFreeing, unwritten.isEmpty else { return nil }
      accounts[name]?.mayHoldConfigured = false
      accounts[name]?.hasSignedIn = false
      return .free(name, configured: account.api.origins, signedIn: account.hasSignedIn)
    case .exchange:
      let request = request(at: now)
      if request.isEmpty { return nil }
      sweeps.expiryAsked()
      return .exchange(request)
    case .expire: return sweeps.expire(at: now)
    case .prune: return sweeps.prune(at: now)
    case .publishHeld(let name):
      guard let account = accounts[name], account.isPublishingHeld else { return nil }
      return .publishHeld(name, cursor: account.heldCursor)
    }
  }

  /// Schedules a sweep after content was removed.
  package mutating func wipeSoon(at now: Timestamp) { sweeps.wipeSoon(at: now) }

  /// Schedules a retry after a failure. Outcomes are kept in the meantime, and nothing is claimed. After a failed
  /// sweep, only the next sweep is delayed.
  package mutating func storeFailed(_ work: OutboxStoreWork, at now: Timestamp) {
    if case .prune = work { return sweeps.pruneFailed(at: now) }
    storeFailed(at: now)
    switch work {
    case .recover, .prune, .publishHeld: break
    case .expire: sweeps.expiryFailed()
    case .configure: pauses.readAgain()
    case .bind(let name, _, _, _): accounts[name]?.user.bindAgain()
    case .free: freeAgain(work)
    case .exchange(let request):
      sweeps.expiryFailed()
      unwritten.failed(at: now)
      for demand in request.demands {
        accounts[demand.account]?.unclaimed.endClaim()
        accounts[demand.account]?.unclaimed.add(.all)
      }
    }
  }

  /// Pauses all work in the store briefly.
  package mutating func storeFailed(at now: Timestamp) { storeRetryAt = now + Self.storeRetry }

  /// Handles damage to the store. The store may have to start a new database, and nothing is claimed until it has
  /// recovered. Requests in flight may finish, but their outcomes have no effect.
  package mutating func storeBroke(at now: Timestamp) {
    isRecovered = false
    pauses.readAgain()
    sweeps.storeBroke()
    for name in accounts.keys {
      withdraw(name, at: now)
      accounts[name]?.user.bindAgain()
      accounts[name]?.unclaimed.add(.all)
      wake(name)
    }
  }

  /// Whether the store has reported its counts or has failed.
  package var hasAskedStore: Bool { isRecovered || storeRetryAt != nil }

  package mutating func recovered(at now: Timestamp) {
    isRecovered = true
    sweeps.recovered(at: now)
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
    if binding.holdsOthers {
      accounts[name]?.isPublishingHeld = true
      accounts[name]?.heldCursor = nil
    }
    accounts[name]?.user.bound(to: subject, adopts: adopts, isDone: binding.isDone)
  }

  /// Records that the store has resumed `count` held items. After a full batch, there may be more.
  package mutating func freed(_ count: Int, _ work: OutboxStoreWork) {
    if count == Self.batch { freeAgain(work) }
  }

  private mutating func freeAgain(_ work: OutboxStoreWork) {
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

  package mutating func heldPublished(_ name: AccountName, cursor: String?) {
    accounts[name]?.heldCursor = cursor
    accounts[name]?.isPublishingHeld = cursor != nil
  }

  // MARK: - Deadlines

  /// Returns the first deadline after `begun`, the start of the last round. The deadline may have passed during that
  /// round. Quiet accounts have no deadlines.
  package mutating func nextWake(after begun: Timestamp) -> Timestamp {
    if let storeRetryAt { return min(storeRetryAt, stopsAt ?? storeRetryAt) }
    restQuiet()
    var deadlines = [stopsAt] + sweeps.deadlines
    if let since = unwritten.since { deadlines.append(since + Self.longestUnwritten) }
    let isAnyWaiting = awake.contains { accounts[$0].map(\.isWaiting) ?? false }
    if isAnyWaiting { deadlines += awake.map { accounts[$0]?.nextSlowAt(after: begun) } }
    for name in awake {
      guard let account = accounts[name], account.isSendable else { continue }
      deadlines += [account.unclaimed.nextDueAt, account.stalledUntil]
      deadlines += [account.refused.nextAt, account.breaker.nextProbeAt]
      if account.timeNeededFrom != nil {
        deadlines.append(account.timeAskedAt.map { $0 + Self.timeProbeInterval })
      }
    }
    return deadlines.compactMap(\.self).filter { $0 > begun }.min() ?? .distantFuture
  }
}
