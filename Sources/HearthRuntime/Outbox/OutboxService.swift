package import HearthCore
package import Logging

/// Carries out the decisions of the outbox machine: calls the store, gets tokens, sends requests and sleeps.
///
/// One loop (`run`) does most of the store's work. Each claim has its own task while it is being sent. Waiting items
/// need neither a task nor a connection.
package actor OutboxService {
  let store: any OutboxStore
  private let bearers: any BearerTokenProvider
  private let api: any APIEndpoint
  let access: APIAccess
  let clock: any Clock
  let makeID: @Sendable (Timestamp) -> String
  let publisher: OutboxPublisher
  private let log: Logger
  /// Wakes the loop. A wake-up while the loop is working makes it look once more.
  private let (wakeUps, wakeUp) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
  /// The sum of the clock steps that the machine has handled.
  private var stepped: Duration

  var machine: OutboxMachine
  var flushes = FlushWaiters()
  var storeFailures: StoreFailureLog {
    didSet {
      if storeFailures.lasting != oldValue.lasting { publisher.troubled(by: storeFailures.lasting?.description) }
    }
  }
  /// Senders that are suspended until the machine resumes them.
  private var waiting: [SenderID: CheckedContinuation<Void, Never>] = [:]
  /// Whether requests have been sent since the in-flight counts were last published.
  private var hasUnpublishedCounts = false
  private var countsPublishedAt = Timestamp(milliseconds: 0)
  private var readinessWaiters: [CheckedContinuation<Void, Never>] = []

  /// The minimum interval between publications of the in-flight counts. Commits publish them too.
  private static let countsInterval = Duration.milliseconds(100)
  /// The number of bytes of a response's body to search for tokens if the status is not 2xx. Hearth stores fewer bytes,
  /// so a token that is cut off there is still complete here and can be redacted.
  private static let keptOfRejection = 16_384

  package init(
    store: any OutboxStore, bearers: any BearerTokenProvider, api: any APIEndpoint, access: APIAccess,
    clock: any Clock, settings: OutboxSettings, log: Logger,
    random: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) },
    makeID: @escaping @Sendable (Timestamp) -> String = {
      OutboxItem.makeID(at: $0, random: (UInt64.random(in: 0...UInt64.max), UInt64.random(in: 0...UInt64.max)))
    },
    publish: @escaping @Sendable ([OutboxEvent], OutboxOverview) -> Void
  ) {
    (self.store, self.bearers, self.api, self.access, self.clock) = (store, bearers, api, access, clock)
    stepped = clock.moment().stepped
    self.makeID = makeID
    self.log = log
    publisher = OutboxPublisher(log, publish)
    storeFailures = StoreFailureLog(log)
    machine = OutboxMachine(settings: settings, accounts: access.all, random: random)
    publisher.configured(machine.names)
    publisher.changed(machine.takePauseChanges())
    store.observe { [publisher, wakeUp] commit in
      publisher.received(commit)
      if !commit.ready.isEmpty { wakeUp.yield() }
    }
  }

  // MARK: - Inputs

  /// Tells the machine that an account's session changed. `knownSubject` is the current or last user, but a subject in
  /// `permission` takes precedence. `former` is an earlier subject of the same user. `token` identifies the session's
  /// current token.
  package func sessionChanged(
    _ name: AccountName, permission: OutboxPermission, knownSubject: Subject?, formerly former: Subject? = nil,
    token: Fingerprint?
  ) {
    machine.sessionChanged(
      name, permission: permission, knownSubject: knownSubject, formerly: former, token: token, at: now())
    readinessWaiters.resumeAll()
    follow()
  }

  package func signedIn(_ name: AccountName) {
    machine.signedIn(name)
    follow()
  }

  /// Waits until these accounts' sessions have been reported and the store has been loaded or has failed, or until
  /// `shutdown` is called. Before that, enqueued items would have no user, and snapshots would have no counts.
  package func waitUntilReady(for names: [AccountName]) async {
    while !machine.isStopping, !machine.hasAskedStore || names.contains(where: { !machine.isSessionReported($0) }) {
      await withCheckedContinuation { readinessWaiters.append($0) }
    }
  }

  /// Tells the machine that the network may be back. The machine then retries unreachable origins immediately.
  package func networkReturned() {
    machine.networkReturned(at: now())
    follow()
  }

  /// Tells the machine the time at an account's provider. `skew` is the provider's clock minus the local clock.
  package func providerTimeReported(of name: AccountName, skew: Duration) {
    machine.serverAnswered(name, skew: skew)
    follow()
  }

  /// Returns the time. Tells the machine first if the clock has been set.
  func now() -> Timestamp {
    let moment = clock.moment()
    if moment.stepped != stepped { noteSteps(moment.stepped) }
    return moment.now
  }

  /// Recomputes deadlines after the clock was set or the computer resumed from sleep.
  func clockChanged() {
    noteSteps(clock.moment().stepped)
    follow()
  }

  /// Tells the machine that the clock was set. `total` is the sum of all changes to the clock so far.
  private func noteSteps(_ total: Duration) {
    let shift = total - stepped
    stepped = total
    machine.clockStepped(by: shift)
    countsPublishedAt = countsPublishedAt + shift
  }

  package func accountsChanged(settings: OutboxSettings) {
    machine.accountsChanged(access.all, settings: settings, at: now())
    publisher.configured(machine.names)
    readinessWaiters.resumeAll()
    follow()
  }

  /// Ends `run()`. Requests in flight may finish within `grace`, and other items are sent after the next start. The
  /// default is long enough for most APIs, and shorter than the 10 seconds after which container runtimes usually kill
  /// a process.
  package func shutdown(grace: Duration = .seconds(6)) {
    machine.stop(grace: grace, at: now())
    flushes.endAll()
    readinessWaiters.resumeAll()
    follow()
  }

  /// Carries out the machine's decisions after an event and wakes the loop.
  func follow() {
    publisher.changed(machine.takePauseChanges())
    for id in machine.takeResumed() { waiting.removeValue(forKey: id)?.resume() }
    wakeUp.yield()
  }

  // MARK: - The loop

  /// Sends items until `shutdown()` is called or the task is cancelled.
  package func run() async {
    let clock = clock
    await withDiscardingTaskGroup { group in
      var wakeUps = wakeUps.makeAsyncIterator()
      group.addTask { [weak self] in
        for await _ in clock.steps() { await self?.clockChanged() }
      }
      while !Task.isCancelled {
        let begun = now()
        if machine.isDone(at: begun) { break }
        machine.ready(publisher.takeReady())
        startSenders(&group)
        if let work = machine.nextStoreWork(at: begun) {
          await perform(work)
        } else if let countsDueAt, countsDueAt <= begun {
          (hasUnpublishedCounts, countsPublishedAt) = (false, begun)
          await store.publishCounts()
        } else {
          let now = now()
          noteNothingToSend()
          flushes.end { machine.isIdle($0, at: now) }
          let deadline = min(machine.nextWake(after: begun), countsDueAt ?? .distantFuture)
          let timer = clock.timer(at: deadline) { [wakeUp] in wakeUp.yield() }
          await wakeUps.next(isolation: #isolation)
          timer.cancel()
        }
      }
      machine.stop(grace: .zero, at: now())
      follow()
      group.cancelAll()
    }
    if let request = machine.lastRequest(at: now()) { await perform(.exchange(request)) }
  }

  /// The time to publish the in-flight counts, or `nil` if that is not necessary.
  private var countsDueAt: Timestamp? {
    hasUnpublishedCounts && machine.isSending ? countsPublishedAt + Self.countsInterval : nil
  }

  /// If nothing is left to send, clears a recurring failure to record requests (`.sending`). Otherwise, it would stay
  /// until the next request is recorded.
  private func noteNothingToSend() {
    guard storeFailures.lasting != nil, machine.names.allSatisfy({ machine.isIdle($0, at: now()) }) else { return }
    storeFailures.succeeded(at: .sending)
  }

  private func perform(_ work: OutboxStoreWork) async {
    do {
      try await carryOut(work)
      storeFailures.succeeded(at: .loop)
    } catch {
      storeFailures.failed(error, at: .loop)
      machine.storeFailed(work, at: now())
      noteDamage()
    }
    if case .recover = work { readinessWaiters.resumeAll() }
    follow()
  }

  /// If the store has broken, withdraws the claims that no sender has started, and stops claiming until it recovers.
  func noteDamage() {
    if store.isBroken { machine.storeBroke(at: now()) }
  }

  func carryOut(_ work: OutboxStoreWork) async throws(OutboxStoreFailure) {
    switch work {
    case .recover(let paused):
      try await store.recover(pausing: paused)
      publisher.noticed(store.notice)
      machine.recovered(at: now())
    case .configure(let accounts, let number):
      machine.pausesRead(try await store.configure(accounts), number: number)
    case .bind(let name, let subject, let former, let adopts):
      let binding = try await store.bind(
        name, to: subject, formerly: former, adopts: adopts, limit: OutboxMachine.batch)
      machine.bound(binding, work)
    case .free(let name, let configured, let signedIn):
      machine.freed(
        try await store.free(name, configured: configured, signedIn: signedIn, limit: OutboxMachine.batch), work)
    case .exchange(let request):
      let exchange = try await store.exchange(
        request.settled, releasing: request.released, claiming: request.demands)
      machine.ready(publisher.takeReady())
      machine.exchanged(exchange, request, at: now())
    case .expire(let time):
      machine.expired(next: try await store.expire(limit: OutboxMachine.batch, by: time))
    case .prune(let time):
      let pruning = try await store.prune(keeping: machine.settings, limit: OutboxMachine.batch, by: time)
      machine.pruned(pruning, at: now())
    case .publishHeld(let name, let cursor):
      let page = try await store.list(
        OutboxQuery(account: name, state: .held, limit: OutboxMachine.batch, cursor: cursor))
      publisher.found(page.items.filter { $0.reason == .otherUser })
      machine.heldPublished(name, cursor: page.cursor)
    }
  }

  // MARK: - Senders

  private func startSenders(_ group: inout DiscardingTaskGroup) {
    let now = self.now()
    for id in machine.startSenders(at: now) {
      group.addTask { await self.send(id) }
    }
    for (name, origin) in machine.timesToAsk(at: now) {
      group.addTask { await self.askTime(of: name, origin) }
    }
  }

  /// Carries out a sender's steps until the sender has nothing left to send.
  private func send(_ id: SenderID) async {
    while true {
      switch machine.next(of: id, at: now()) {
      case .getBearer(let name):
        let bearer = await Result(catching: bearers.bearer, name)
        machine.received(bearer, for: id, at: now())
      case .replaceBearer(let rejection, let name):
        let bearer = await Result(catching: bearers.tokenRejected, rejection, name)
        machine.received(bearer, for: id, at: now())
      case .send(let delivery, let epoch, let bearer):
        if mayLeave(delivery, of: epoch) {
          hasUnpublishedCounts = true
          noteSending(delivery, bearer)
          let response = await Result(catching: exchange, delivery, bearer)
          if machine.responded(response, for: id, isCancelled: Task.isCancelled, at: now()) {
            bearers.tokenAccepted(bearer.token.fingerprint, by: delivery.request.url, of: delivery.item.account)
          }
        } else {
          machine.revoked(id, at: now())
        }
      case .wait: await withCheckedContinuation { waiting[id] = $0 }
      case .end: return follow()
      }
      follow()
    }
  }

  private func noteSending(_ delivery: Delivery, _ bearer: Bearer) {
    let item = delivery.item
    log.debug(
      "Sending item \(item.id) with token \(bearer.token.fingerprint).",
      metadata: [
        "HEARTH_ACCOUNT": "\(item.account)", "HEARTH_ITEM": "\(item.id)",
        "HEARTH_FINGERPRINT": "\(bearer.token.fingerprint)",
      ])
  }

  /// Records that a request is about to be sent. Returns false if the request must not be sent.
  private func mayLeave(_ delivery: Delivery, of epoch: Int64) -> Bool {
    do {
      let isClaimed = try store.begin(delivery.number, of: epoch)
      storeFailures.succeeded(at: .sending)
      return isClaimed
    } catch {
      storeFailures.failed(error, at: .sending)
      machine.storeFailed(at: now())
      noteDamage()
      return false
    }
  }

  private func exchange(_ delivery: Delivery, _ bearer: Bearer) async throws(ExchangeFailure) -> APIResponse {
    var response = try await api.exchange(
      delivery.request, of: delivery.item.account, bearer: bearer.token, timeout: machine.settings.requestTimeout)
    if !(200...299).contains(response.status) {
      // The body is stored and displayed, so remove tokens that a careless server repeats in it.
      if response.isCompressed { response.body = [] }
      let isCut = response.isTruncated || response.body.count > Self.keptOfRejection
      response.body = Redactor(bearer.secrets)
        .redacted(Array(response.body.prefix(Self.keptOfRejection)), isCut: isCut)
    }
    return response
  }

  /// Sends a HEAD request to get the API's time (RFC 9110, section 6.6.1).
  private func askTime(of name: AccountName, _ origin: Origin) async {
    guard let url = try? HTTPURL(origin.description + "/") else { return }
    let request = APIRequest(method: "HEAD", url: url, headers: [], body: [], idempotencyKey: nil)
    let stepped = stepped
    let result = await Result { () async throws(ExchangeFailure) in
      try await api.exchange(request, of: name, bearer: nil, timeout: machine.settings.requestTimeout)
    }
    _ = now()
    // If the clock was set during the request, the measured difference may be wrong. Drop it, and the machine will ask
    // again.
    if stepped == self.stepped { machine.timeAnswered(result, name, origin) }
    follow()
  }
}
