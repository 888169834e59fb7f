/// Decides what the outbox does: which deliveries to claim, when and with which token to send them, what their outcomes
/// mean, when to pause, and what to ask of the store. The machine itself does not perform I/O.
///
/// Items and lanes live in the store, so the machine knows an item only while it is claimed. The caller
/// - reports events (sessions, network, clock, calls),
/// - runs the work that `nextStoreWork(at:)` returns, in order,
/// - starts a sender for each ID that `startSenders(at:)` returns and runs its steps (`next(of:at:)`), and
/// - starts the next round at `nextWake(after:)`.
package struct OutboxMachine {
  /// The maximum number of items per step of longer work. Deliveries continue between the steps.
  package static let batch = 256
  private static let storeRetry = Duration.milliseconds(500)
  static let longestUnwritten = Duration.milliseconds(50)

  package private(set) var settings: OutboxSettings
  private(set) var policy: DeliveryPolicy
  /// Returns a random number in 0..<1.
  let random: @Sendable () -> Double
  var accounts: [AccountName: OutboxAccount]
  /// The accounts that take part in the next round. Quiet accounts are not included.
  private(set) var awake: Set<AccountName>

  var unwritten = UnwrittenOutcomes()
  var senders = RunningSenders()
  private(set) var pauses = OutboxPauses()

  /// The remaining phases of the current round.
  private var round: [StorePhase] = []

  var sweeps = SweepSchedule()
  /// The start of the current or last exchange with the store.
  private(set) var exchangeAskedAt = Timestamp(milliseconds: 0)
  private var storeRetryAt: Timestamp?
  private(set) var stopsAt: Timestamp?
  private(set) var isRecovered = false

  package init(
    settings: OutboxSettings, accounts: [AccountName: APISettings], random: @escaping @Sendable () -> Double
  ) {
    self.settings = settings
    self.random = random
    policy = DeliveryPolicy(settings)
    self.accounts = accounts.mapValues { OutboxAccount($0, retry: settings.retry) }
    awake = Set(accounts.keys)
    for name in accounts.keys { notePause(of: name) }
  }

  // MARK: - Configuration, clock and pauses

  /// Applies a reloaded configuration.
  package mutating func accountsChanged(
    _ apis: [AccountName: APISettings], settings: OutboxSettings, at now: Timestamp
  ) {
    let keepsLess =
      settings.keepDelivered < self.settings.keepDelivered || settings.keepDead < self.settings.keepDead
      || settings.maxItems < self.settings.maxItems
    if keepsLess { sweeps.keepsLess(at: now) }
    self.settings = settings
    policy = DeliveryPolicy(settings)
    for name in accounts.keys where apis[name] == nil {
      stopSending(of: name, at: now)
      accounts[name]?.isConfigured = false
      removeUnused(name)
    }
    for (name, api) in apis {
      if accounts[name]?.isConfigured != true {
        accounts[name] = OutboxAccount(api, retry: settings.retry, after: accounts[name])
      }
      if accounts[name]?.api.origins != api.origins { accounts[name]?.mayHoldConfigured = true }
      accounts[name]?.api = api
      accounts[name]?.breaker.configure(api.origins, settings.retry)
      // The origin may have been removed, so forget it. If the time is still needed, the next claim finds an origin to
      // ask.
      accounts[name]?.timeNeededFrom = nil
      accounts[name]?.unclaimed.configured()
      wake(name)
      notePause(of: name)
    }
    pauses.readAgain()
    agreeOnTime()
  }

  /// Forgets an account that was removed from the configuration, once its requests and discards have ended and the
  /// store has recorded any sign-out.
  mutating func removeUnused(_ name: AccountName) {
    guard let account = accounts[name], !account.isConfigured, account.senders.isEmpty, account.discards == 0,
      !account.user.isLeft
    else { return }
    accounts[name] = nil
    awake.remove(name)
  }

  /// Shifts the ends of all waits after this machine's clock was set by `shift`, and forgets the times that servers
  /// have reported. After the machine was asleep, `shift` is zero, and the reported times stay valid.
  package mutating func clockStepped(by shift: Duration) {
    for name in accounts.keys {
      accounts[name]?.shift(by: shift)
      wake(name)
    }
    storeRetryAt = storeRetryAt.map { $0 + shift }
    stopsAt = stopsAt.map { $0 + shift }
    unwritten.shift(by: shift)
    sweeps.shift(by: shift)
    exchangeAskedAt = exchangeAskedAt + shift
  }

  /// Returns a number for a change or read of the pauses, to be reported with the result.
  package mutating func nextPauseNumber() -> Int { pauses.nextNumber() }

  mutating func notePause(of name: AccountName) {
    if let change = accounts[name]?.notePause(as: name) { pauses.changed(change) }
  }

  /// Returns the pause changes since the last call, in order.
  package mutating func takePauseChanges() -> [OutboxPauseChange] { pauses.takeChanges() }

  // MARK: - The end

  /// Stops sending. Requests that take longer than `grace` are sent again after the next start.
  package mutating func stop(grace: Duration, at now: Timestamp) {
    guard stopsAt == nil else { return }
    stopsAt = now + grace
    for name in accounts.keys { stopSending(of: name, at: now) }
  }

  package var isStopping: Bool { stopsAt != nil }

  package var isSending: Bool { !senders.isEmpty }

  /// Returns whether, after a call of `stop(grace:at:)`, sending has ended or the grace period is over.
  package func isDone(at now: Timestamp) -> Bool { stopsAt.map { senders.isEmpty || $0 <= now } ?? false }

  mutating func stopSending(of name: AccountName, at now: Timestamp) {
    withdraw(name, at: now)
    judge(name, at: now)
  }

  // MARK: - Rounds

  /// One kind of work in a round. Each round visits every kind, so that no kind is delayed for long.
  private enum StorePhase {
    case bind(AccountName), free(AccountName)
    case exchange, expire, prune
    case publishHeld(AccountName)
  }

  mutating func wake(_ name: AccountName) {
    if accounts[name] != nil { awake.insert(name) }
  }

  /// Excludes quiet accounts from further rounds, so that they cost nothing.
  private mutating func restQuiet() {
    for name in awake where accounts[name]?.isQuiet ?? true { awake.remove(name) }
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
      exchangeAskedAt = now
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

  // MARK: - Failures of the store

  package mutating func recovered(at now: Timestamp) {
    isRecovered = true
    sweeps.recovered(at: now)
  }

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
}
