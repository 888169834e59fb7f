/// Decides what the outbox does: which deliveries are claimed, when and with which token they are sent, what their
/// outcomes are, when sending pauses, and what the store is asked for. It performs none of that itself.
///
/// Items and lanes live in the store (`ItemProgress` has their rules); the machine knows an item only while it is
/// claimed. The caller
/// - reports what happens (sessions, the network, the clock, calls),
/// - carries out `nextStoreWork(at:)`, one piece after the other,
/// - starts a sender for each of `startSenders(at:)` and carries out its steps (`next(of:at:)`), and
/// - looks again at `nextWake(after:)`.
package struct OutboxMachine {
  package internal(set) var settings: OutboxSettings
  var policy: DeliveryPolicy
  /// Returns numbers in 0..<1.
  let random: @Sendable () -> Double
  var accounts: [AccountName: OutboxAccount]
  /// The accounts that something has happened to since they were last quiet.
  var awake: Set<AccountName>

  var unwritten = UnwrittenOutcomes()
  /// The account of each sender.
  var senders: [SenderID: AccountName] = [:]
  var lastSender = 0
  /// The senders that waited and may continue.
  var resumed: [SenderID] = []
  var pauseChanges: [OutboxPauseChange] = []

  /// The rest of the current round of store work.
  var round: [StorePhase] = []

  /// By how much the servers' clocks are ahead of this one (`ServerClocks`). Sweeps use it.
  var skew: Duration?
  /// When the store was asked for the current or the last exchange.
  var exchangeAskedAt = Timestamp(milliseconds: 0)
  var nextExpiryAt: Timestamp?
  /// Whether the store was asked, since this clock was last stepped, when the next item expires.
  var isExpiryRead = false
  var nextPruneAt: Timestamp?
  /// When a sweep has to remove the content of delivered and replaced items from the store's files.
  var wipeAt: Timestamp?
  /// When items in the store became too old by this clock, if no server had reported the time when it was pruned.
  var tooOldSince: Timestamp?
  /// When a server was last asked for the time for a sweep.
  var sweepTimeAskedAt: Timestamp?
  /// The number of deliveries that have ended since the store was last pruned.
  var finishedSincePrune = 0
  var storeRetryAt: Timestamp?
  var stopsAt: Timestamp?
  var isRecovered = false
  /// Whether the pauses have been read since the start and since the accounts last changed.
  var arePausesRead = false
  /// The number of the last change or reading of the pauses. The store carries them out in this order.
  var lastPauseNumber = 0

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

  // MARK: - Network and time

  /// Called when the network may be back. Unreachable origins are tried at once.
  package mutating func networkReturned(at now: Timestamp) {
    sweepTimeAskedAt = nil
    for name in accounts.keys { retryNow(name, at: now) }
  }

  /// Retries at once everything that waits for an origin or a token.
  package mutating func retryNow(_ name: AccountName, at now: Timestamp) {
    accounts[name]?.retryNow(at: now)
    wake(name)
  }

  /// Called when a server of an account has answered, or was asked for the time: one of its APIs or, without an origin,
  /// its provider. `skew` is the server's clock minus this one, or `nil` if the server did not report its time.
  package mutating func serverAnswered(_ name: AccountName, _ origin: Origin? = nil, skew: Duration?) {
    if accounts[name]?.clocks.told(skew, by: origin) == true { agreeOnTime() }
  }

  /// Believes the server that contradicts this clock least: if this clock is wrong, all servers contradict it.
  mutating func agreeOnTime() {
    let clocks = accounts.values.filter(\.isConfigured).map(\.clocks)
    skew =
      clocks.compactMap(\.skew).min { $0.magnitude < $1.magnitude } ?? (clocks.contains(where: \.isTold) ? .zero : nil)
    if skew != nil, let since = tooOldSince { (nextPruneAt, tooOldSince) = (since, nil) }
    for (name, account) in accounts where account.timeNeededFrom != nil && account.clocks.isTold {
      accounts[name]?.timeNeededFrom = nil
      accounts[name]?.mayHaveMore = .all
      wake(name)
    }
  }

  /// The current time by this clock or by the servers', whichever is earlier, so that no item expires or is pruned only
  /// because this clock is ahead. `nil` while no server has answered.
  func agreedTime(at now: Timestamp) -> Timestamp? { skew.map { now + min($0, .zero) } }

  /// The time that decides whether items of an account have expired. Only its own servers count.
  func expiryTime(of name: AccountName, at now: Timestamp) -> ExpiryTime {
    guard accounts[name]?.clocks.isTold == true else { return .unconfirmed(now) }
    return .agreed(agreedTime(at: now) ?? now)
  }

  /// Called when this clock was set ahead by `shift`, or back if it is negative. Deadlines stay as far away as before,
  /// and what servers have reported no longer counts. Zero means that the machine has slept.
  package mutating func clockStepped(by shift: Duration) {
    for name in accounts.keys {
      accounts[name]?.shift(by: shift)
      wake(name)
    }
    storeRetryAt = storeRetryAt.map { $0 + shift }
    nextPruneAt = nextPruneAt.map { $0 + shift }
    wipeAt = wipeAt.map { $0 + shift }
    sweepTimeAskedAt = sweepTimeAskedAt.map { $0 + shift }
    stopsAt = stopsAt.map { $0 + shift }
    unwritten.shift(by: shift)
    exchangeAskedAt = exchangeAskedAt + shift
    guard shift != .zero else { return }
    skew = nil
    // Makes the store look at its clock, even if nothing is claimed.
    isExpiryRead = false
  }

  // MARK: - The end

  /// Ends sending. Requests under way may finish within `grace`; the others are sent again after the next start.
  package mutating func stop(grace: Duration, at now: Timestamp) {
    guard stopsAt == nil else { return }
    stopsAt = now + grace
    for name in accounts.keys { stopSending(of: name, at: now) }
  }

  package var isStopping: Bool { stopsAt != nil }

  /// Whether there is a sender, with a request under way or about to be sent.
  package var isSending: Bool { !senders.isEmpty }

  /// Whether there is nothing left to wait for.
  package func isDone(at now: Timestamp) -> Bool { stopsAt.map { senders.isEmpty || $0 <= now } ?? false }

  mutating func stopSending(of name: AccountName, at now: Timestamp) {
    withdraw(name, at: now)
    judge(name, at: now)
  }

  // MARK: - What follows

  /// Called when there is more to send than the store has reported.
  package mutating func ready(_ accounts: [AccountName: OutboxKinds]) {
    for (name, kinds) in accounts {
      self.accounts[name]?.mayHaveMore.formUnion(kinds)
      wake(name)
    }
  }

  /// Called when items were enqueued that have no user yet, expire, or may replace others.
  package mutating func enqueued(
    _ receipts: [OutboxReceipt], expiring expiresAt: Timestamp?, mayReplace: Bool, at now: Timestamp
  ) {
    if mayReplace { wipeSoon(at: now) }
    // A user may have signed in meanwhile, before these items were there to be bound.
    for receipt in receipts {
      let (name, subject) = (receipt.item.account, receipt.item.subject)
      // A user without a name may have signed out meanwhile.
      let hasChanged = subject == .unnamed && knownSubject(of: name) != .unnamed
      if hasChanged, accounts[name]?.permission == .blocked(reason: OutboxPermission.signedOut) {
        accounts[name]?.isLeft = true
      }
      if subject == nil || hasChanged { madeNobodys(name) }
    }
    if let expiresAt { nextExpiryAt = min(nextExpiryAt ?? expiresAt, expiresAt) }
  }

  /// Puts quiet accounts to rest, so that they cost nothing, however many there are.
  mutating func restQuiet() {
    for name in awake where accounts[name]?.isQuiet ?? true { awake.remove(name) }
  }

  mutating func wake(_ name: AccountName) {
    if accounts[name] != nil { awake.insert(name) }
  }

  /// Returns the senders that waited and may go on.
  package mutating func takeResumed() -> [SenderID] {
    defer { resumed = [] }
    return resumed
  }

  /// When an unreachable origin of a waiting item is tried again.
  package func probeTime(of name: AccountName, _ origin: Origin, at now: Timestamp) -> Timestamp? {
    guard case .closed(let until)? = accounts[name]?.breaker.allowance(for: origin, at: now), until < .distantFuture
    else { return nil }
    return until
  }

  /// Whether items are sent, or may be shortly, since the pauses and the session are not known right after a start.
  package func mayBeSendable(_ name: AccountName) -> Bool {
    guard let account = accounts[name] else { return false }
    return account.isSendable || !account.isPausedByUser && (!arePausesRead || account.isHydrating)
  }

  /// Whether the account has nothing left that could be sent now.
  package func isIdle(_ name: AccountName, at now: Timestamp) -> Bool {
    guard let account = accounts[name], mayBeSendable(name) else { return true }
    guard arePausesRead, !account.isHydrating else { return false }
    return account.senders.isEmpty && account.queue.isEmpty && unwritten.isEmpty && !account.isClaiming
      && (account.stalledUntil != nil
        || !account.hasMore && account.isBound && !account.isFreeing
          && !(account.nextDueAt.map { $0 <= now } ?? false)
          && !(account.breaker.nextProbeAt.map { $0 <= now } ?? false))
  }
}
