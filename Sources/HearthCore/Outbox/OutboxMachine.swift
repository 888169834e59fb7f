/// Decides what the outbox does: which deliveries are claimed, when and with which token they are sent, what becomes of
/// them, when sending pauses, and what the store is asked for. It does nothing of that itself.
///
/// Items and lanes are the store's (`ItemProgress` has their rules); the machine knows of an item while it is claimed.
/// Whoever drives it
/// - returns to it what happens (sessions, the network, the clock, calls),
/// - carries out `nextStoreWork(at:)`, one piece after the other,
/// - starts a sender for each of `startSenders(at:)` and carries out its steps (`next(of:at:)`), and
/// - looks again at `nextWake(after:)`.
package struct OutboxMachine {
  var settings: OutboxSettings
  var policy: DeliveryPolicy
  /// In 0..<1.
  let random: @Sendable () -> Double
  var accounts: [AccountName: OutboxAccount]
  /// The accounts to which something has happened since they were last quiet.
  var awake: Set<AccountName>

  var unwritten = UnwrittenOutcomes()
  /// Bytes of the content of all deliveries in memory.
  var claimedBytes = 0
  /// The account of each sender.
  var senders: [SenderID: AccountName] = [:]
  var lastSender = 0
  /// Senders that waited and may go on.
  var resumed: [SenderID] = []
  private var pauseChanges: [OutboxPauseChange] = []

  /// What is left of the current round of store work.
  var round: [StorePhase] = []

  /// The last server's clock less this one, or zero where that is negligible; nil while no server has reported the time
  /// since this clock was last stepped.
  var skew: Duration?
  /// Responses in a row that told no time, since one did or this clock was last stepped.
  var undatedResponses = 0
  /// Steps of the clock that the store has not applied to its schedule yet.
  var owedShift: Duration?
  /// Steps of the clock since the store was asked for the exchange that it works on.
  var shiftInExchange = Duration.zero
  var nextExpiryAt: Timestamp?
  var nextPruneAt: Timestamp?
  /// Deliveries that have ended since the store was last pruned.
  var finishedSincePrune = 0
  var storeRetryAt: Timestamp?
  var stopsAt: Timestamp?
  var isRecovered = false
  /// Whether the pauses have been read since the start and since the accounts last changed.
  var arePausesRead = false
  /// The number of the last change or reading of the pauses. The store carries them out in this order.
  private var lastPauseNumber = 0

  static let negligibleSkew = Duration.seconds(60)

  package init(
    settings: OutboxSettings, accounts: [AccountName: Set<Origin>], random: @escaping @Sendable () -> Double
  ) {
    self.settings = settings
    self.random = random
    policy = DeliveryPolicy(settings)
    let retry = RetryPolicy(initial: settings.retryInitial, max: settings.retryMax)
    self.accounts = accounts.mapValues { OutboxAccount(origins: $0, retry: retry) }
    awake = Set(accounts.keys)
    for name in accounts.keys { notePause(of: name) }
  }

  // MARK: - Sessions

  /// The session of an account changed. `knownSubject` is its user, or its last one, as far as one is known; a subject
  /// in `permission` takes precedence. `former` is the same user by another name from before. `token` is the token that
  /// the session holds.
  package mutating func sessionChanged(
    _ name: AccountName, permission: OutboxPermission, knownSubject: Subject?, formerly former: Subject?,
    token: Fingerprint?, at now: Timestamp
  ) {
    guard let account = accounts[name] else { return }
    let subject: Subject? =
      if case .sendable(let subject) = permission { subject ?? knownSubject } else { knownSubject }
    if permission != account.permission || subject != account.knownSubject {
      withdraw(name, at: now)
      accounts[name]?.isBound = subject == nil
    }
    if permission != account.permission || token != account.token {
      accounts[name]?.stalledUntil = nil
      accounts[name]?.hasGoodToken()
    }
    accounts[name]?.permission = permission
    accounts[name]?.knownSubject = subject
    accounts[name]?.formerSubject = former
    accounts[name]?.isSessionReported = true
    accounts[name]?.token = token
    accounts[name]?.mayHaveMore = .all
    wake(name)
    judge(name, at: now)
    notePause(of: name)
  }

  /// Whether an item that is enqueued now is its user's: the session of its account has been read.
  package func isSessionReported(_ name: AccountName) -> Bool { accounts[name]?.isSessionReported ?? true }

  // MARK: - Network and time

  /// The network may be back: origins that could not be reached are tried at once.
  package mutating func networkReturned(at now: Timestamp) {
    for name in accounts.keys { retryNow(name, at: now) }
  }

  /// Whatever waits for an origin or a token is tried at once.
  package mutating func retryNow(_ name: AccountName, at now: Timestamp) {
    accounts[name]?.retryNow(at: now)
    wake(name)
  }

  /// A server has told the time; `skew` is its clock less this one. Nil where it was asked and tells none: it cannot
  /// contradict this clock.
  package mutating func serverAnswered(skew: Duration?) {
    guard let reported = skew ?? (self.skew == nil ? .zero : nil) else { return }
    let magnitude = reported < .zero ? .zero - reported : reported
    let skew = magnitude <= Self.negligibleSkew ? .zero : reported
    guard skew != self.skew else { return }
    self.skew = skew
    for name in accounts.keys where accounts[name]?.timeNeededFrom != nil {
      accounts[name]?.timeNeededFrom = nil
      accounts[name]?.mayHaveMore = .all
      wake(name)
    }
  }

  /// The time that has passed by both this clock and the servers': no item expires or is pruned because this clock alone
  /// is ahead. Nil while no server has answered.
  func agreedTime(at now: Timestamp) -> Timestamp? { skew.map { now + min($0, .zero) } }

  package mutating func clockStepped(by shift: Duration) {
    for name in accounts.keys {
      accounts[name]?.shift(by: shift)
      wake(name)
    }
    storeRetryAt = storeRetryAt.map { $0 + shift }
    nextPruneAt = nextPruneAt.map { $0 + shift }
    stopsAt = stopsAt.map { $0 + shift }
    unwritten.shift(by: shift)
    guard shift != .zero else { return }
    skew = nil
    undatedResponses = 0
    owedShift = (owedShift ?? .zero) + shift
    shiftInExchange += shift
  }

  // MARK: - Configuration, pauses and the end

  /// The configuration was read again.
  package mutating func accountsChanged(
    _ origins: [AccountName: Set<Origin>], settings: OutboxSettings, at now: Timestamp
  ) {
    self.settings = settings
    policy = DeliveryPolicy(settings)
    let retry = RetryPolicy(initial: settings.retryInitial, max: settings.retryMax)
    for name in accounts.keys where origins[name] == nil {
      stopSending(of: name, at: now)
      accounts[name]?.isConfigured = false
      removeUnused(name)
    }
    for (name, origins) in origins {
      if accounts[name]?.isConfigured != true {
        let before = accounts[name]
        accounts[name] = OutboxAccount(origins: origins, retry: retry)
        accounts[name]?.senders = before?.senders ?? [:]
        accounts[name]?.discards = before?.discards ?? 0
      }
      accounts[name]?.origins = origins
      accounts[name]?.breaker.keep(origins)
      accounts[name]?.mayHaveMore = .all
      wake(name)
      notePause(of: name)
    }
    arePausesRead = false
  }

  /// An account that is not configured any more is forgotten with its last request, and the last call that discards.
  mutating func removeUnused(_ name: AccountName) {
    guard let account = accounts[name], !account.isConfigured, account.senders.isEmpty, account.discards == 0 else {
      return
    }
    accounts[name] = nil
    awake.remove(name)
  }

  /// The configured accounts.
  package var names: Set<AccountName> { Set(accounts.filter(\.value.isConfigured).keys) }

  /// Nil where the account is not configured.
  package func origins(of name: AccountName) -> Set<Origin>? {
    accounts[name].flatMap { $0.isConfigured ? $0.origins : nil }
  }

  package func knownSubject(of name: AccountName) -> Subject? { accounts[name]?.knownSubject }

  /// Under what subjects the store may have items of the account's user: those that were made while nobody was known, or
  /// under the former name, may not be bound yet.
  package func subjects(of name: AccountName) -> [Subject?] {
    guard let account = accounts[name] else { return [] }
    guard case .sendable = account.permission else { return [account.knownSubject] }
    return Array(Set([account.knownSubject, account.formerSubject, nil]))
  }

  /// A change or a reading of pauses begins; the number goes to `paused(_:_:number:at:)` with what came of it.
  package mutating func nextPauseNumber() -> Int {
    lastPauseNumber += 1
    return lastPauseNumber
  }

  /// The user has paused these accounts, or resumed them.
  package mutating func paused(_ names: Set<AccountName>, _ isPaused: Bool, number: Int, at now: Timestamp) {
    for name in names {
      accounts[name]?.pauseRead(isPaused: isPaused, number: number)
      if accounts[name]?.isPausedByUser == true { withdraw(name, at: now) }
      accounts[name]?.mayHaveMore = .all
      wake(name)
      judge(name, at: now)
      notePause(of: name)
    }
  }

  /// Items of the account's user are being discarded: none of them is sent until `discarded(_:)`.
  package mutating func discarding(_ name: AccountName, at now: Timestamp) {
    accounts[name]?.discards += 1
    withdraw(name, at: now)
    judge(name, at: now)
  }

  package mutating func discarded(_ name: AccountName) {
    accounts[name]?.discards -= 1
    accounts[name]?.mayHaveMore = .all
    wake(name)
    removeUnused(name)
  }

  /// Ends sending. Requests under way may finish within `grace`; the others are sent again after the next start.
  package mutating func stop(grace: Duration, at now: Timestamp) {
    guard stopsAt == nil else { return }
    stopsAt = now + grace
    for name in accounts.keys { stopSending(of: name, at: now) }
  }

  package var isStopping: Bool { stopsAt != nil }

  /// Whether nothing more is to be waited for.
  package func isDone(at now: Timestamp) -> Bool { stopsAt.map { senders.isEmpty || $0 <= now } ?? false }

  private mutating func stopSending(of name: AccountName, at now: Timestamp) {
    withdraw(name, at: now)
    judge(name, at: now)
  }

  // MARK: - What follows

  /// There is more to send than the store has told.
  package mutating func ready(_ accounts: [AccountName: OutboxKinds]) {
    for (name, kinds) in accounts {
      self.accounts[name]?.mayHaveMore.formUnion(kinds)
      wake(name)
    }
  }

  /// Items were enqueued that belong to nobody yet, or that expire.
  package mutating func enqueued(_ receipts: [OutboxReceipt], expiring expiresAt: Timestamp?) {
    // A user may have signed in meanwhile, and the items of no user were bound before these were there.
    for receipt in receipts where receipt.item.subject == nil {
      accounts[receipt.item.account]?.bindAgain()
      wake(receipt.item.account)
    }
    if let expiresAt { nextExpiryAt = min(nextExpiryAt ?? expiresAt, expiresAt) }
  }

  mutating func wake(_ name: AccountName) {
    if accounts[name] != nil { awake.insert(name) }
  }

  /// The senders that waited and may go on.
  package mutating func takeResumed() -> [SenderID] {
    defer { resumed = [] }
    return resumed
  }

  /// Notes why sending is paused now, where that has changed. While a session is being read no event tells so: its state
  /// before stands until the next one is known.
  mutating func notePause(of name: AccountName) {
    guard let account = accounts[name], account.pausedReason != account.shownPause else { return }
    var change = OutboxPauseChange(account: name, reason: account.pausedReason)
    accounts[name]?.shownPause = account.pausedReason
    if account.pausedReason != OutboxAccount.hydrating, account.pausedReason != account.publishedPause {
      accounts[name]?.publishedPause = account.pausedReason
      change.event = account.pausedReason.map { .paused($0) } ?? account.publishedPause.map { .resumed($0) }
    }
    pauseChanges.append(change)
  }

  /// The pauses that began or ended since this was last asked, in order.
  package mutating func takePauseChanges() -> [OutboxPauseChange] {
    defer { pauseChanges = [] }
    return pauseChanges
  }

  /// The reason why an account's items are not sent now; nil where they are.
  package func pausedReason(of name: AccountName) -> String? { accounts[name]?.pausedReason }

  /// When the origin of a waiting item is tried again, where it cannot be reached.
  package func probeTime(of name: AccountName, _ origin: Origin, at now: Timestamp) -> Timestamp? {
    guard case .closed(let until)? = accounts[name]?.breaker.allowance(for: origin, at: now), until < .distantFuture
    else { return nil }
    return until
  }

  /// Whether items are sent, or may be shortly: after a start the pauses and the session are not known yet.
  package func mayBeSendable(_ name: AccountName) -> Bool {
    guard let account = accounts[name] else { return false }
    return account.isSendable || !account.isPausedByUser && (!arePausesRead || account.isHydrating)
  }

  /// Whether nothing is left of an account that could be sent now.
  package func isIdle(_ name: AccountName, at now: Timestamp) -> Bool {
    guard let account = accounts[name], mayBeSendable(name) else { return true }
    guard arePausesRead, !account.isHydrating else { return false }
    return account.senders.isEmpty && account.queue.isEmpty && unwritten.isEmpty && !account.isClaiming
      && (account.stalledUntil != nil
        || account.mayHaveMore.isEmpty && account.isBound && !(account.breaker.nextProbeAt.map { $0 <= now } ?? false))
  }
}

/// An account's sending is paused for another reason than before.
package struct OutboxPauseChange: Hashable, Sendable {
  package enum Event: Hashable, Sendable {
    /// Why sending is paused, or why it was.
    case paused(String), resumed(String)
  }

  package let account: AccountName
  /// As it is shown; nil where sending goes on.
  package let reason: String?
  /// Nil where it is only shown.
  package var event: Event?
}
