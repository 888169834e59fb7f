/// Decides what the outbox does: which deliveries to claim, when and with which token to send them, what their outcomes
/// mean, when to pause, and what to ask of the store. The machine itself does not perform I/O.
///
/// Items and lanes live in the store, so the machine knows an item only while it is claimed. The caller
/// - reports events (sessions, network, clock, calls),
/// - runs the work that `nextStoreWork(at:)` returns, in order,
/// - starts a sender for each ID that `startSenders(at:)` returns and runs its steps (`next(of:at:)`), and
/// - starts the next round at `nextWake(after:)`.
package struct OutboxMachine {
  package internal(set) var settings: OutboxSettings
  var policy: DeliveryPolicy
  /// Returns a random number in 0..<1.
  let random: @Sendable () -> Double
  var accounts: [AccountName: OutboxAccount]
  /// The accounts that take part in the next round. Quiet accounts are not included.
  var awake: Set<AccountName>

  var unwritten = UnwrittenOutcomes()
  var senders = RunningSenders()
  var pauses = OutboxPauses()

  /// The remaining phases of the current round.
  var round: [StorePhase] = []

  var sweeps = SweepSchedule()
  /// The start of the current or last exchange with the store.
  var exchangeAskedAt = Timestamp(milliseconds: 0)
  var storeRetryAt: Timestamp?
  var stopsAt: Timestamp?
  var isRecovered = false

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

  /// Retries everything that waits for an origin or a token. Called when the network may be back.
  package mutating func networkReturned(at now: Timestamp) {
    sweeps.timeAsked(at: nil)
    for name in accounts.keys { retryNow(name, at: now) }
  }

  /// Retries everything in this account that waits for an origin or a token.
  package mutating func retryNow(_ name: AccountName, at now: Timestamp) {
    accounts[name]?.retryNow(at: now)
    wake(name)
  }

  /// Records a response from one of the account's servers. `origin` is an API, or `nil` for the provider. `skew` is the
  /// server's clock minus this machine's clock, or `nil` if the response contains no time.
  package mutating func serverAnswered(_ name: AccountName, _ origin: Origin? = nil, skew: Duration?) {
    if accounts[name]?.clocks.told(skew, by: origin) == true { agreeOnTime() }
  }

  /// Agrees on the skew of the server whose clock differs least from this machine's clock, because if this machine's
  /// clock is wrong, every server's clock differs from it.
  mutating func agreeOnTime() {
    let clocks = accounts.values.filter(\.isConfigured).map(\.clocks)
    let least = clocks.compactMap(\.skew).min { $0.magnitude < $1.magnitude }
    sweeps.agree(on: least ?? (clocks.contains(where: \.isTold) ? .zero : nil))
    for (name, account) in accounts where account.timeNeededFrom != nil && account.clocks.isTold {
      accounts[name]?.timeNeededFrom = nil
      accounts[name]?.unclaimed.add(.all)
      wake(name)
    }
  }

  /// Returns the time that decides whether the account's items have expired. Only the account's own servers can confirm
  /// that time.
  func expiryTime(of name: AccountName, at now: Timestamp) -> ExpiryTime {
    guard accounts[name]?.clocks.isTold == true else { return .unconfirmed(now) }
    return .agreed(sweeps.agreedTime(at: now) ?? now)
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

  /// Records that the store may have more items of these kinds to send.
  package mutating func ready(_ accounts: [AccountName: OutboxKinds]) {
    for (name, kinds) in accounts {
      self.accounts[name]?.unclaimed.add(kinds)
      wake(name)
    }
  }

  /// Records whether new items have no user yet, may expire, or may replace other items.
  package mutating func enqueued(
    _ receipts: [OutboxReceipt], expiring expiresAt: Timestamp?, mayReplace: Bool, at now: Timestamp
  ) {
    if mayReplace { wipeSoon(at: now) }
    // The user may have signed in just before these items were saved, so the items may not be assigned to the user yet.
    for receipt in receipts {
      let name = receipt.item.account
      if accounts[name]?.user.enqueued(under: receipt.item.subject) == true { wake(name) }
    }
    sweeps.expires(at: expiresAt)
  }

  /// Excludes quiet accounts from further rounds, so that they cost nothing.
  mutating func restQuiet() {
    for name in awake where accounts[name]?.isQuiet ?? true { awake.remove(name) }
  }

  mutating func wake(_ name: AccountName) {
    if accounts[name] != nil { awake.insert(name) }
  }

  /// Returns the waiting senders that can continue.
  package mutating func takeResumed() -> [SenderID] { senders.takeResumed() }

  /// Returns the time of the next probe of an unreachable origin, or `nil` if no probe is scheduled for later.
  package func probeTime(of name: AccountName, _ origin: Origin, at now: Timestamp) -> Timestamp? {
    accounts[name]?.breaker.probeTime(of: origin).flatMap { now < $0 && $0 < .distantFuture ? $0 : nil }
  }

  /// Returns whether the account's items can be sent or may soon be. Right after a start, the pauses and the session
  /// are not known yet, so sending may begin once they are.
  package func mayBeSendable(_ name: AccountName) -> Bool {
    guard let account = accounts[name] else { return false }
    return account.isSendable || !account.isPausedByUser && (!pauses.areRead || account.isHydrating)
  }

  /// Returns whether the account has nothing left to send now.
  package func isIdle(_ name: AccountName, at now: Timestamp) -> Bool {
    guard let account = accounts[name], mayBeSendable(name) else { return true }
    guard pauses.areRead, !account.isHydrating else { return false }
    return account.senders.isEmpty && account.queue.isEmpty && unwritten.isEmpty && !account.unclaimed.isClaiming
      && (account.stalledUntil != nil
        || !account.unclaimed.mayExist && account.user.isBound && !account.isFreeing
          && !(account.unclaimed.nextDueAt.map { $0 <= now } ?? false)
          && !(account.breaker.nextProbeAt.map { $0 <= now } ?? false))
  }
}
