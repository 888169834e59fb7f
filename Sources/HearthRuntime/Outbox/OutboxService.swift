package import HearthCore
package import Logging

/// Carries the outbox out: takes items in, sends them under their session, and tells what becomes of them.
///
/// One loop writes and takes; a worker a delivery under way sends. An item that waits costs neither task nor connection.
package actor OutboxService {
  let store: any OutboxStore
  let bearers: any BearerTokenProvider
  let api: any APIEndpoint
  let clock: any Clock
  let random: @Sendable () -> Double
  let makeID: @Sendable (Timestamp) -> String
  /// What happened, and how many items there are now.
  let announce: @Sendable ([OutboxEvent], OutboxOverview) -> Void
  let log: Logger
  let bell = AsyncSignal()

  var settings: OutboxSettings
  var policy: DeliveryPolicy
  var accounts: [AccountName: OutboxAccount]

  /// What became of deliveries, not written down yet.
  var finished: [FinishedDelivery] = [] {
    didSet {
      if finished.isEmpty { firstFinishedAt = nil } else { firstFinishedAt = firstFinishedAt ?? clock.now() }
    }
  }
  var firstFinishedAt: Timestamp?
  var settling: Set<AccountName> = []
  var workers = 0
  var lastWorker = 0
  /// Of all accounts, as the store last said.
  private var lastTotals = OutboxTotals()
  /// What waits until all that happened before it has been told.
  private var untold: [Int: (news: [OutboxEvent], totals: OutboxTotals)] = [:]
  private var told: OutboxOverview?
  var flushes: [Int: Flush] = [:]
  /// Who waits to hear from sessions.
  private var listeners: [CheckedContinuation<Void, Never>] = []
  var lastFlush = 0

  /// The last server's clock less this one, as far as it matters; nil until one has told the time since this clock was
  /// last stepped.
  var skew: Duration?
  var owedShift: Duration?
  var nextExpiryAt: Timestamp?
  var nextSweepAt: Timestamp?
  var storeRetryAt: Timestamp?
  /// What the store said last: told once.
  var storeFailure: OutboxStoreFailure?
  /// The damage that was last found, by the loop or by a call: told once.
  private var damage: OutboxStoreFailure?
  var stopsAt: Timestamp?
  var isRecovered = false
  /// Since the start, and since the accounts last changed.
  var arePausesRead = false
  /// Of the last change or reading of the pauses. The store takes them in the order in which they are asked for.
  var lastPauseNumber = 0

  /// Of one request.
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
    announce: @escaping @Sendable ([OutboxEvent], OutboxOverview) -> Void
  ) {
    self.store = store
    self.bearers = bearers
    self.api = api
    self.clock = clock
    self.settings = settings
    self.random = random
    self.makeID = makeID
    self.announce = announce
    self.log = log
    policy = DeliveryPolicy(settings)
    let retry = RetryPolicy(initial: settings.retryInitial, max: settings.retryMax)
    self.accounts = accounts.mapValues { OutboxAccount(origins: $0, retry: retry) }
  }

  // MARK: - Events

  /// The session of an account changed. `knownSubject`: whose it is, or was last, as far as is known; the one who is
  /// sent under counts where there is one. `former`: the same user, by the issuer that was assumed before the provider
  /// told one. `token`: the one it holds.
  package func sessionChanged(
    _ name: AccountName, permission: OutboxPermission, knownSubject: Subject?, formerly former: Subject? = nil,
    token: Fingerprint?
  ) {
    guard var account = accounts[name] else { return }
    let subject: Subject? =
      if case .sendable(let subject) = permission { subject ?? knownSubject } else { knownSubject }
    if permission != account.permission || subject != account.knownSubject {
      account.isBound = subject == nil
      finished += account.withdrawAll()
    }
    if permission != account.permission || token != account.token {
      account.stalledUntil = nil
      account.hasGoodToken()
    }
    account.permission = permission
    account.knownSubject = subject
    account.formerSubject = former
    account.isHeardOf = true
    account.token = token
    account.mayHaveMore = .all
    accounts[name] = account
    decideContestedTokens(of: name)
    tellPause(of: name)
    wakeListeners()
    bell.ring()
  }

  /// Returns once each of these sessions has said whose it is, or `shutdown` is called: what is enqueued before that
  /// would be nobody's.
  package func receive(from names: [AccountName]) async {
    while stopsAt == nil, names.contains(where: { accounts[$0]?.isHeardOf == false }) {
      await withCheckedContinuation { listeners.append($0) }
    }
  }

  private func wakeListeners() {
    listeners.forEach { $0.resume() }
    listeners = []
  }

  /// The network may be back: what could not be reached is tried at once.
  package func networkReturned() {
    for name in accounts.keys { retryNow(name) }
    bell.ring()
  }

  /// A server told the time; `skew` is its clock less this one.
  package func timeTold(skew: Duration) {
    let skew = skew.magnitude <= Self.negligibleSkew ? .zero : skew
    guard skew != self.skew else { return }
    self.skew = skew
    for name in accounts.keys where accounts[name]?.timeNeededFrom != nil { accounts[name]?.mayHaveMore = .all }
    bell.ring()
  }

  /// The time that this clock and the servers' agree has come: nothing expires, and nothing is swept, by a clock that
  /// is ahead alone. Nil while no server has told the time.
  var agreedTime: Timestamp? { skew.map { clock.now() + min($0, .zero) } }

  /// The configuration was read again.
  package func accountsChanged(_ origins: [AccountName: Set<Origin>], settings: OutboxSettings) {
    self.settings = settings
    policy = DeliveryPolicy(settings)
    let retry = RetryPolicy(initial: settings.retryInitial, max: settings.retryMax)
    for name in accounts.keys where origins[name] == nil {
      finished += accounts[name]?.withdrawAll() ?? []
      accounts[name]?.contestedTokens.forEach { $0.verdict.resume(returning: .stopped) }
      accounts[name] = nil
    }
    for (name, origins) in origins {
      accounts[name, default: OutboxAccount(origins: origins, retry: retry)].origins = origins
      accounts[name]?.mayHaveMore = .all
    }
    arePausesRead = false
    wakeListeners()
    bell.ring()
  }

  /// Ends `run()`: what is under way may land within `grace`; what does not is sent again at the next start.
  package func shutdown(grace: Duration = .seconds(2)) {
    guard stopsAt == nil else { return }
    stopsAt = clock.now() + grace
    for name in accounts.keys {
      finished += accounts[name]?.withdrawAll() ?? []
      accounts[name]?.contestedTokens.forEach { $0.verdict.resume(returning: .stopped) }
      accounts[name]?.contestedTokens = []
    }
    flushes.values.forEach { $0.done.resume() }
    flushes = [:]
    wakeListeners()
    bell.ring()
  }

  func clockStepped(by shift: Duration) {
    for name in accounts.keys {
      accounts[name]?.reach.shift(by: shift)
      let stalledUntil = accounts[name]?.stalledUntil
      accounts[name]?.stalledUntil = stalledUntil.map { $0 + shift }
      let timeAskedAt = accounts[name]?.timeAskedAt
      accounts[name]?.timeAskedAt = timeAskedAt.map { $0 + shift }
      accounts[name]?.mayHaveMore = .all
    }
    storeRetryAt = storeRetryAt.map { $0 + shift }
    firstFinishedAt = firstFinishedAt.map { $0 + shift }
    nextSweepAt = nextSweepAt.map { $0 + shift }
    stopsAt = stopsAt.map { $0 + shift }
    if shift != .zero {
      skew = nil
      owedShift = (owedShift ?? .zero) + shift
      // What is not written down yet is not shifted there.
      finished = finished.map { delivery in
        guard case .waiting(var wait) = delivery.verdict else { return delivery }
        wait.until = wait.until + shift
        return FinishedDelivery(number: delivery.number, verdict: .waiting(wait))
      }
    }
    bell.ring()
  }

  func retryNow(_ name: AccountName) {
    accounts[name]?.reach.retryNow(at: clock.now())
    accounts[name]?.stalledUntil = nil
    accounts[name]?.mayHaveMore = .all
  }

  // MARK: - Telling

  /// What the loop heard from the store.
  func heard(_ failure: OutboxStoreFailure) {
    if storeFailure != failure, damage != failure { log.error("\(failure)") }
    storeFailure = failure
    if case .broken = failure { damage = failure }
  }

  /// What a call is answered. Damage is told of as well: the loop may never meet it.
  func refusal(_ failure: OutboxStoreFailure) -> OutboxError {
    if case .broken = failure, damage != failure {
      log.error("\(failure)")
      damage = failure
    }
    return OutboxError(failure)
  }

  /// Tells that sending stopped, goes on, or stands still for another reason. A session that is being read is not
  /// told of: what it was before, or will be in a moment, is.
  func tellPause(of name: AccountName) {
    guard let account = accounts[name], account.pausedReason != account.announcedReason,
      account.pausedReason != OutboxAccount.hydrating
    else { return tell([]) }
    let previous = account.announcedReason
    accounts[name]?.announcedReason = account.pausedReason
    if let reason = account.pausedReason {
      let event = OutboxEvent.paused(name, reason: reason)
      EventLog(logger: log).record(.outbox(event))
      tell([event])
    } else if let previous {
      let event = OutboxEvent.resumed(name, reason: previous)
      EventLog(logger: log).record(.outbox(event))
      tell([event])
    }
  }

  func tell(_ items: [OutboxItem], _ totals: OutboxTotals) {
    warn(of: items)
    tell(items.compactMap(OutboxEvent.init), totals)
  }

  /// After a change that is no news, but of the counts.
  func tellTotals() async throws(OutboxStoreFailure) {
    let totals = try await store.totals()
    tell([] as [OutboxEvent], totals)
  }

  func warn(of items: [OutboxItem]) {
    for event in items.compactMap(OutboxEvent.init) { EventLog(logger: log).record(.outbox(event)) }
  }

  /// Tells in the order in which it happened: callers hear from the store in another.
  func tell(_ news: [OutboxEvent], _ totals: OutboxTotals) {
    untold[totals.number] = (news, totals)
    while let number = untold.keys.min(),
      number <= lastTotals.number + 1 || untold.count > Self.batch
    {
      guard let next = untold.removeValue(forKey: number) else { return }
      if number > lastTotals.number { lastTotals = next.totals }
      tell(next.news)
    }
  }

  /// Tells what happened, all at once, for the totals have it all; and without it, whether they have changed.
  func tell(_ news: [OutboxEvent]) {
    let names = Set(accounts.keys).union(lastTotals.accounts.keys)
    let overview = OutboxOverview(
      all: shown(lastTotals.accounts.values.reduce(OutboxStats()) { $0.adding($1) }),
      accounts: Dictionary(
        uniqueKeysWithValues: names.map { ($0, shown(lastTotals.accounts[$0] ?? OutboxStats(), of: $0)) }))
    guard !news.isEmpty || overview != told else { return }
    told = overview
    announce(news, overview)
  }

  /// As people see it: what was taken ahead and not sent yet is pending.
  func shown(_ stats: OutboxStats, of name: AccountName? = nil) -> OutboxStats {
    var stats = stats
    let chosen = accounts.filter { name == nil || $0.key == name }.sorted { $0.key < $1.key }.map(\.value)
    let unsent = min(chosen.reduce(0) { $0 + $1.unsent.count }, stats.inFlight)
    stats.inFlight -= unsent
    stats.pending += unsent
    stats.isPaused = !chosen.isEmpty && chosen.allSatisfy { $0.pausedReason != nil }
    stats.pausedReason = stats.isPaused ? chosen.first?.pausedReason : nil
    return stats
  }

  /// The same for an item; one whose origin is out of reach is tried when its origin is.
  func shown(_ item: OutboxItem) -> OutboxItem {
    guard let account = accounts[item.account] else { return item }
    var item = item
    if item.state == .inFlight, account.unsent[item.id] != nil { item.state = .pending }
    if item.state == .waiting, let nextAttemptAt = item.nextAttemptAt, let url = try? HTTPURL(item.url),
      case .closed(let until) = account.reach.allowance(for: url.origin, at: clock.now()), until < .distantFuture
    {
      item.nextAttemptAt = max(nextAttemptAt, until)
    }
    return item
  }
}

extension Duration {
  fileprivate var magnitude: Duration { self < .zero ? .zero - self : self }
}
