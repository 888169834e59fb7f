package import HearthCore
package import Logging
internal import Synchronization

/// Carries out the decisions of one account's `SessionMachine`.
///
/// Every input goes through `handle`. Work on the store runs in order, and other work runs concurrently. All work runs
/// within `run`, and its results return as inputs.
package actor SessionService: PlanningService {
  /// The machine's response to a call, with the status at that time.
  private typealias Reply = (response: SessionResponse, status: SessionStatus, at: Timestamp)

  package nonisolated let account: AccountName
  private(set) var machine: SessionMachine
  private(set) var store: any CredentialStore
  /// The store of a new configuration, until the machine switches to it.
  private var nextStore: (any CredentialStore)?
  private let (replacements, storeReplaced) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
  private(set) var endpoint: any TokenEndpoint
  let clock: any Clock
  let logger: Logger
  /// Called with each measured difference between a server's clock and this machine's clock.
  private let skewMeasured: @Sendable (Duration) -> Void
  /// Called with each unused grant that must still be revoked. The grant is revoked once its revocation can no longer
  /// end a session that is in use.
  let leave: @Sendable (Credential) async -> Void
  /// Called with each visible change, in order, before the next input is handled.
  private let publish: @Sendable ([SessionEvent], SessionStatus) -> Void

  private var skew = ClockSkew()
  private var waiting: [CallID: CheckedContinuation<Reply, Never>] = [:]
  private var callCount = 0
  private var published: SessionStatus?
  /// The machine's current token, and the total clock change that the machine has taken into account. `nil` if calls
  /// must go through the machine.
  private let ready = Mutex<(bearer: Bearer, grant: Grant, validity: TokenValidity, stepped: Duration)?>(nil)
  private let verdicts = Mutex(RecentVerdicts())
  private var isRunning = false
  private(set) var isStopping = false
  /// Whether the session has stopped. Later inputs are handled but not published.
  private(set) var isStopped = false
  private var isMuted = false
  let passphraseMutex = AsyncMutex()
  /// How to carry out the imports and sign-ins whose callers are waiting.
  private(set) var steps: [CallID: GrantSteps] = [:]
  private var resting: [CheckedContinuation<Void, Never>] = []

  let work = WorkInbox()
  let storeWork = WorkInbox()
  var time: ServiceTime

  package init(
    account: AccountName, settings: SessionSettings, store: any CredentialStore, endpoint: any TokenEndpoint,
    clock: any Clock, logger: Logger, seed: UInt64 = .random(in: 0 ... .max),
    skewMeasured: @escaping @Sendable (Duration) -> Void = { _ in },
    leave: @escaping @Sendable (Credential) async -> Void = { _ in },
    publish: @escaping @Sendable ([SessionEvent], SessionStatus) -> Void
  ) {
    (self.account, self.store, self.endpoint, self.clock, self.logger) = (account, store, endpoint, clock, logger)
    (self.skewMeasured, self.leave, self.publish) = (skewMeasured, leave, publish)
    let start = clock.moment()
    time = ServiceTime(stepped: start.stepped)
    machine = SessionMachine(account: account, settings: settings, seed: seed, at: start.now)
  }

  package func run() async { await run {} }

  /// Runs until `stop`. All tasks of the session are child tasks of this call. The credential is neither read nor
  /// written until `isFree` returns.
  package func run(after isFree: @escaping @Sendable () async -> Void) async {
    if !isStopped { await doWork(after: isFree) }
    for call in waiting.values { call.resume(returning: stopped) }
    waiting = [:]
    isRunning = false
    rested()
  }

  private func doWork(after isFree: @escaping @Sendable () async -> Void) async {
    isRunning = true
    perform(.recall)
    let doStoreWork: WorkInbox.Work = { [storeWork, work] in
      await isFree()
      await storeWork.runInOrder()
      work.finish()
    }
    await work.run(beside: [{ await self.followStore() }, { await self.followClock() }, doStoreWork])
  }

  /// Watches the store, and each store that replaces it.
  private func followStore() async {
    var isFirst = true
    while !Task.isCancelled {
      await withDiscardingTaskGroup { group in
        let changes = store.changes()
        // The file may have changed before Hearth started to watch it.
        if !isFirst { receive(.credentialHinted) }
        group.addTask { for await _ in changes { await self.receive(.credentialHinted) } }
        var replacements = replacements.makeAsyncIterator()
        await replacements.next(isolation: #isolation)
        group.cancelAll()
      }
      isFirst = false
    }
  }

  /// Stops publishing changes, because the account is no longer configured.
  package func mute() { isMuted = true }

  /// Lets a refresh in progress finish, and then ends `run`. Waits up to `timeout` (default: the account's
  /// `request_timeout` plus 5 s).
  package func stop(timeout: Duration? = nil) async {
    let deadline = clock.now() + (timeout ?? machine.settings.refresh.stopTimeout)
    if !isStopped {
      isStopping = true
      receive(.stopping)
      if !machine.isAtRest { await rest(until: deadline) }
      isStopped = true
      ready.withLock { $0 = nil }
      storeWork.finish()
    }
    // Wait only until the deadline, because a file system may hang.
    if isRunning { await rest(until: deadline) }
  }

  private func rest(until deadline: Timestamp) async {
    await withTaskGroup { group in
      group.addTask { await self.rest() }
      group.addTask { [clock] in
        await clock.sleep(until: deadline)
        if !Task.isCancelled { await self.rested() }
      }
      await group.next()
      group.cancelAll()
    }
  }

  private func rest() async {
    guard isStopped ? isRunning : !machine.isAtRest else { return }
    await withCheckedContinuation { resting.append($0) }
  }

  private func rested() { resting.resumeAll() }

  // MARK: - Calls from other services

  package func snapshot() -> SessionStatus {
    // Catch up first, because that may change the machine.
    let now = catchUp()
    return machine.snapshot(at: now)
  }

  package func call<Answer>(_ call: TypedCall<Answer>) async -> Result<Answer, Failure> { await ask(call).result }

  /// Returns the answer to a call, with the status at that time. `steps` says how to obtain the grant of an import or a
  /// sign-in.
  package func ask<Answer>(
    _ call: TypedCall<Answer>, _ steps: GrantSteps? = nil
  ) async -> SessionAnswer<Answer> {
    let (response, status, now) = await reply(to: call.kind, steps)
    let result: Result<Answer, Failure>
    if case .rejected(let failure) = response {
      result = .failure(failure)
    } else if let answer = call.answer(response) {
      result = .success(answer)
    } else {
      // The machine has made a mistake. Do not trap, because other sessions may hold grants that are not written yet.
      result = .failure(Failure(.internalError, "\(account)'s session gave a wrong answer.", account: account))
    }
    return SessionAnswer(result: result, status: status, at: now)
  }

  private func reply(to call: SessionCall, _ steps: GrantSteps?) async -> Reply {
    if isStopped { return stopped }
    if case .token(let minValidity) = call, let published, let bearer = readyToken(minValidity) {
      return (.token(bearer), published, clock.now())
    }
    callCount += 1
    let id = CallID(callCount)
    self.steps[id] = steps
    defer { self.steps[id] = nil }
    var call = call
    if case .reportUnauthorized(let rejection) = call {
      call = .reportUnauthorized(verdicts.withLock { $0.judge(rejection, at: clock.steadyNow()) })
    }
    return await withCheckedContinuation { continuation in
      waiting[id] = continuation
      receive(.called(id, call))
    }
  }

  /// Returns a token without running the machine, or `nil` if the caller has to ask the session. May be called on any
  /// thread.
  package nonisolated func readyToken(_ minValidity: Duration?) -> Bearer? {
    let moment = clock.moment()
    return ready.withLock { ready in
      let isReady = ready?.stepped == moment.stepped && ready?.validity.covers(minValidity, at: moment.now) == true
      return isReady ? ready?.bearer : nil
    }
  }

  /// The token in use, even if a refresh is due. May be called on any thread.
  package nonisolated var heldToken: (bearer: Bearer, grant: Grant)? {
    ready.withLock { $0.map { ($0.bearer, $0.grant) } }
  }

  /// Records that an API accepted this token with a 2xx status. May be called on any thread.
  package nonisolated func tokenAccepted(_ fingerprint: Fingerprint, by url: HTTPURL) {
    verdicts.withLock { $0.accepted(fingerprint, by: url, at: clock.steadyNow()) }
  }

  private var stopped: Reply {
    let now = catchUp()
    return (.rejected(.shuttingDown), machine.snapshot(at: now), now)
  }

  package func networkReturned() { receive(.networkReturned) }

  /// Applies a new configuration. If `endpoint` or `store` is `nil`, the current one is kept. Requests and store work
  /// in progress continue.
  package func configured(
    _ settings: SessionSettings, endpoint: (any TokenEndpoint)? = nil, isOtherProvider: Bool = false,
    store: (any CredentialStore)? = nil
  ) {
    self.endpoint = endpoint ?? self.endpoint
    nextStore = store ?? nextStore
    let changed: [SessionPart: Bool] = [.endpoint: endpoint != nil, .provider: isOtherProvider, .store: store != nil]
    receive(.configured(settings, changed: Set(changed.filter(\.value).keys)))
  }

  /// Switches to the newly configured store, and wipes the old store's key.
  func replaceStore() {
    guard let next = nextStore else { return }
    storeWork.add { [store] in await store.lock() }
    (store, nextStore) = (next, nil)
    storeReplaced.yield()
  }

  /// Returns whether this lock is set, even if it is not visible because there is no session to lock.
  package func isSet(_ lock: Lock) -> Bool { machine.locks.all.contains(lock) }

  /// Sets the lock. Returns once the secrets are wiped, except those that a refresh in progress or an unfinished write
  /// still needs.
  package func lock(_ lock: Lock) async {
    change(lock, isSet: true)
    await storeIsQuiet()
  }

  /// Returns the reason why a restart would remove the user's lock. Returns `nil` if the lock is saved or not set.
  package func whyLockIsForgotten() -> AccessFailure? { machine.locks.whyForgotten }

  /// Reads the credential again, and seals it anew if its protection differs from the configured one. Returns once that
  /// write has ended.
  package func rehydrate() async {
    _ = await call(.rehydrate)
    await storeIsQuiet()
  }

  package func change(_ lock: Lock, isSet: Bool) { receive(isSet ? .locked(lock) : .unlocked(lock)) }

  // MARK: - The inbox

  func receive(_ input: SessionInput) { handle(input, at: catchUp()) }

  private func handle(_ input: SessionInput, at now: Timestamp) {
    let generation = machine.epoch.generation
    let actions = machine.handle(input, at: now)
    let token = isStopped ? nil : machine.readyToken(at: now)
    ready.withLock { [stepped = time.stepped] in $0 = token.map { ($0.bearer, $0.grant, $0.validity, stepped) } }
    if machine.epoch.generation != generation { verdicts.withLock { $0 = RecentVerdicts() } }
    let events = actions.compactMap { if case .publish(let event) = $0 { event } else { nil } }
    let status = machine.snapshot(at: now)
    // Publish before answering the calls, so that subscribers learn of a change before a caller gets its response.
    if !isStopped, !isMuted, !events.isEmpty || status != published {
      published = status
      publish(events, status)
    }
    let hasNotes = actions.contains { if case .remember = $0 { true } else { false } }
    for action in actions {
      guard case .answer(let id, let response) = action else {
        perform(action)
        continue
      }
      let reply: Reply = (response, status, now)
      if hasNotes { storeWork.add { await self.answer(id, reply) } } else { answer(id, reply) }
    }
    arm(machine.nextWake(after: now))
    if !isStopped, machine.isAtRest { rested() }
  }

  private func answer(_ id: CallID, _ reply: Reply) {
    waiting.removeValue(forKey: id)?.resume(returning: reply)
  }

  func woke() { receive(.woke) }

  func clockStepped(by step: Duration, at now: Timestamp) { handle(.clockChanged(by: step), at: now) }

  func planAnew() { receive(.clockChanged(by: .zero)) }

  func observe(_ measured: Duration) {
    skewMeasured(measured)
    guard skew.observe(measured) else { return }
    logger.warning(
      "This machine's clock and the clock of \(account)'s provider differ by \(abs(measured.components.seconds)) s.",
      metadata: ["HEARTH_ACCOUNT": "\(account)"])
  }

  // MARK: - Work

  func inStoreOrder<Value: Sendable>(_ work: @escaping @Sendable () async -> Value) async -> Value {
    if isStopped { await work() } else { await storeWork.result(of: work) }
  }

  /// Returns once all store work requested so far is done.
  func storeIsQuiet() async {
    await inStoreOrder {}
  }

  /// Runs the work in the service's task instead of the caller's, so that a grant is not lost if a client disconnects.
  func shielded<Value: Sendable>(_ work: @escaping @Sendable () async -> Value) async -> Value {
    if isStopped { await work() } else { await self.work.result(of: work) }
  }
}
