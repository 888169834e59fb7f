package import HearthCore
package import Logging

/// Carries out what the outbox is for: keeps items, sends them under their session, and publishes what becomes of them.
///
/// One loop (`run`) writes outcomes down and claims deliveries; each delivery under way has a worker. An item that waits
/// costs neither a task nor a connection.
package actor OutboxService {
  let store: any OutboxStore
  let bearers: any BearerTokenProvider
  let api: any APIEndpoint
  let clock: any Clock
  let random: @Sendable () -> Double
  let makeID: @Sendable (Timestamp) -> String
  /// Receives the events, with the counts after them.
  let subscriber: @Sendable ([OutboxEvent], OutboxOverview) -> Void
  let log: Logger
  /// Wakes the loop.
  let wakeUp = AsyncSignal()

  var settings: OutboxSettings
  var policy: DeliveryPolicy
  var accounts: [AccountName: OutboxAccount]

  var unwritten = UnwrittenOutcomes()
  var flushes = FlushWaiters()
  var events = EventSequencer()
  /// The counts that were published last.
  var published: OutboxOverview?
  var storeFailures: StoreFailureLog

  /// The accounts that the loop is claiming deliveries for now.
  var claiming: Set<AccountName> = []
  var workers = 0
  var lastWorker = 0
  /// Callers of `waitForSessions`.
  private var sessionWaiters: [CheckedContinuation<Void, Never>] = []

  /// The last server's clock less this one, or zero where that is negligible; nil while no server has reported the time
  /// since this clock was last stepped.
  var skew: Duration?
  /// Steps of the clock that the store has not applied to its schedule yet.
  var owedShift: Duration?
  var nextExpiryAt: Timestamp?
  var nextPruneAt: Timestamp?
  var storeRetryAt: Timestamp?
  var stopsAt: Timestamp?
  var isRecovered = false
  /// Whether the pauses have been read since the start and since the accounts last changed.
  var arePausesRead = false
  /// The number of the last change or reading of the pauses. The store carries them out in this order.
  var lastPauseNumber = 0

  /// The time limit of one request.
  static let requestTimeout = Duration.seconds(30)
  static let storeRetry = Duration.milliseconds(500)
  static let negligibleSkew = Duration.seconds(60)

  package init(
    store: any OutboxStore, bearers: any BearerTokenProvider, api: any APIEndpoint, clock: any Clock,
    settings: OutboxSettings, accounts: [AccountName: Set<Origin>], log: Logger,
    random: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) },
    makeID: @escaping @Sendable (Timestamp) -> String = {
      ItemID.make(at: $0, random: (UInt64.random(in: 0...UInt64.max), UInt64.random(in: 0...UInt64.max)))
    },
    publish: @escaping @Sendable ([OutboxEvent], OutboxOverview) -> Void
  ) {
    self.store = store
    self.bearers = bearers
    self.api = api
    self.clock = clock
    self.settings = settings
    self.random = random
    self.makeID = makeID
    subscriber = publish
    self.log = log
    storeFailures = StoreFailureLog(log)
    policy = DeliveryPolicy(settings)
    let retry = RetryPolicy(initial: settings.retryInitial, max: settings.retryMax)
    self.accounts = accounts.mapValues { OutboxAccount(origins: $0, retry: retry) }
  }

  // MARK: - Sessions

  /// The session of an account changed. `knownSubject` is its user, or its last one, as far as one is known; a subject
  /// in `permission` takes precedence. `former` is the same user by the issuer that was assumed before the provider
  /// named one. `token` is the token that the session holds.
  package func sessionChanged(
    _ name: AccountName, permission: OutboxPermission, knownSubject: Subject?, formerly former: Subject? = nil,
    token: Fingerprint?
  ) {
    guard var account = accounts[name] else { return }
    let subject: Subject? =
      if case .sendable(let subject) = permission { subject ?? knownSubject } else { knownSubject }
    if permission != account.permission || subject != account.knownSubject {
      account.isBound = subject == nil
      write(account.withdrawAll())
    }
    if permission != account.permission || token != account.token {
      account.stalledUntil = nil
      account.hasGoodToken()
    }
    account.permission = permission
    account.knownSubject = subject
    account.formerSubject = former
    account.isSessionReported = true
    account.token = token
    account.mayHaveMore = .all
    accounts[name] = account
    resolveUnauthorized(of: name)
    publishPause(of: name)
    resumeSessionWaiters()
    wakeUp.send()
  }

  /// Returns once the session of each of these accounts has been reported, or `shutdown` is called: an item that is
  /// enqueued before has no user.
  package func waitForSessions(of names: [AccountName]) async {
    while stopsAt == nil, names.contains(where: { accounts[$0]?.isSessionReported == false }) {
      await withCheckedContinuation { sessionWaiters.append($0) }
    }
  }

  private func resumeSessionWaiters() {
    sessionWaiters.forEach { $0.resume() }
    sessionWaiters = []
  }

  // MARK: - Network and time

  /// The network may be back: origins that could not be reached are tried at once.
  package func networkReturned() {
    for name in accounts.keys { retryNow(name) }
    wakeUp.send()
  }

  func retryNow(_ name: AccountName) {
    accounts[name]?.breaker.retryNow(at: clock.now())
    accounts[name]?.stalledUntil = nil
    accounts[name]?.mayHaveMore = .all
  }

  /// A server has reported the time; `skew` is its clock less this one.
  package func serverTimeReported(skew: Duration) {
    let magnitude = skew < .zero ? .zero - skew : skew
    let skew = magnitude <= Self.negligibleSkew ? .zero : skew
    guard skew != self.skew else { return }
    self.skew = skew
    for name in accounts.keys where accounts[name]?.timeNeededFrom != nil { accounts[name]?.mayHaveMore = .all }
    wakeUp.send()
  }

  /// The time that has passed by both this clock and the servers': no item expires or is pruned because this clock alone
  /// is ahead. Nil while no server has reported the time.
  var agreedTime: Timestamp? { skew.map { clock.now() + min($0, .zero) } }

  func clockStepped(by shift: Duration) {
    for name in accounts.keys {
      accounts[name]?.breaker.shift(by: shift)
      let stalledUntil = accounts[name]?.stalledUntil
      accounts[name]?.stalledUntil = stalledUntil.map { $0 + shift }
      let timeAskedAt = accounts[name]?.timeAskedAt
      accounts[name]?.timeAskedAt = timeAskedAt.map { $0 + shift }
      accounts[name]?.mayHaveMore = .all
    }
    storeRetryAt = storeRetryAt.map { $0 + shift }
    nextPruneAt = nextPruneAt.map { $0 + shift }
    stopsAt = stopsAt.map { $0 + shift }
    unwritten.shift(by: shift)
    if shift != .zero {
      skew = nil
      owedShift = (owedShift ?? .zero) + shift
    }
    wakeUp.send()
  }

  // MARK: - Configuration and shutdown

  /// The configuration was read again.
  package func accountsChanged(_ origins: [AccountName: Set<Origin>], settings: OutboxSettings) {
    self.settings = settings
    policy = DeliveryPolicy(settings)
    let retry = RetryPolicy(initial: settings.retryInitial, max: settings.retryMax)
    for name in accounts.keys where origins[name] == nil {
      stopSending(of: name)
      accounts[name] = nil
    }
    for (name, origins) in origins {
      accounts[name, default: OutboxAccount(origins: origins, retry: retry)].origins = origins
      accounts[name]?.mayHaveMore = .all
    }
    arePausesRead = false
    resumeSessionWaiters()
    wakeUp.send()
  }

  /// Ends `run()`. Requests under way may finish within `grace`; the others are sent again after the next start.
  package func shutdown(grace: Duration = .seconds(2)) {
    guard stopsAt == nil else { return }
    stopsAt = clock.now() + grace
    for name in accounts.keys { stopSending(of: name) }
    flushes.endAll()
    resumeSessionWaiters()
    wakeUp.send()
  }

  private func stopSending(of name: AccountName) {
    write(accounts[name]?.withdrawAll() ?? [])
    accounts[name]?.unauthorized.forEach { $0.cause.resume(returning: .unknown) }
    accounts[name]?.unauthorized = []
  }

  /// Leaves outcomes to the loop, which writes them to the store.
  func write(_ finished: [FinishedDelivery]) {
    unwritten.add(finished, at: clock.now())
  }
}
