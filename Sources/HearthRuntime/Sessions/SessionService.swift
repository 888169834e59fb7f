package import HearthCore
package import Logging
internal import Synchronization

/// Carries out what one account's `SessionMachine` decides.
///
/// One inbox: every input goes through `receive`. Work on the store runs one after another, everything else side by side;
/// all of it under `run`, and its results come back as inputs.
package actor SessionService: PlanningService, RunningService {
  package nonisolated let account: AccountName
  private(set) var machine: SessionMachine
  private(set) var store: any CredentialStore
  /// The store that is configured now, until the machine has it used.
  private var nextStore: (any CredentialStore)?
  private let storeReplaced = AsyncSignal()
  private(set) var endpoint: any TokenEndpoint
  let clock: any Clock
  let logger: Logger
  /// Receives each measured difference between a server's clock and this one.
  private let skewMeasured: @Sendable (Duration) -> Void
  /// Receives each grant that nobody uses, to be revoked when that harms nobody.
  let leave: @Sendable (Credential) async -> Void
  /// Receives what clients see, in order, after each input that changed it and before the next input is handled.
  private let publish: @Sendable ([SessionEvent], SessionStatus) -> Void

  private var skew = ClockSkew()
  private var waiting: [CallID: CheckedContinuation<SessionAnswer, Never>] = [:]
  private var callCount = 0
  private var published: SessionStatus?
  /// The token of the machine as it is, with the steps of the clock that it knows. It is nil if a call has to be handled.
  private let ready = Mutex<(token: ReadyToken, stepped: Duration)?>(nil)
  private let verdicts = Mutex(RecentVerdicts())
  private var isRunning = false
  private(set) var isStopping = false
  /// Later inputs are handled, and published to nobody.
  private(set) var isStopped = false
  private var isMuted = false
  let passphraseMutex = AsyncMutex()
  var imports = PendingImports()
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

  /// Runs until `stop`. All tasks of the session are children of this call. The store is not used before `isFree` returns.
  package func run(after isFree: @escaping @Sendable () async -> Void) async {
    if !isStopped { await doWork(after: isFree) }
    for call in waiting.values { call.resume(returning: stopped) }
    waiting = [:]
    imports.stop()
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

  /// Watches the store, and each that takes its place.
  private func followStore() async {
    var isFirst = true
    while !Task.isCancelled {
      await withDiscardingTaskGroup { group in
        let changes = store.changes()
        // It may have changed before it was watched.
        if !isFirst { receive(.credentialHinted) }
        group.addTask { for await _ in changes { await self.receive(.credentialHinted) } }
        await storeReplaced.wait()
        group.cancelAll()
      }
      isFirst = false
    }
  }

  /// Publishes nothing from now on: the account is no longer configured.
  package func mute() { isMuted = true }

  /// Lets a refresh under way land, then ends `run`. Gives up after `timeout`, or, if that is nil, after as long as a
  /// request may take, and 5 s.
  package func stop(timeout: Duration? = nil) async {
    let deadline = clock.now() + (timeout ?? machine.settings.refresh.stopTimeout)
    if !isStopped {
      isStopping = true
      receive(.stopping)
      if !isAtRest { await rest(until: deadline) }
      isStopped = true
      ready.withLock { $0 = nil }
      storeWork.finish()
    }
    // A place that hangs is not waited for any longer.
    if isRunning { await rest(until: deadline) }
  }

  private var isAtRest: Bool { machine.isAtRest && imports.isEmpty }

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
    guard isStopped ? isRunning : !isAtRest else { return }
    await withCheckedContinuation { resting.append($0) }
  }

  private func rested() { resting.resumeAll() }

  /// Awaits an import, or the sign-in or sign-out that supersedes it. The import itself runs to its end before the session
  /// stops: a provider that has granted something is not asked twice, and what it granted for nothing is revoked.
  func untilSuperseded(
    _ body: @escaping @Sendable (_ id: Int) async throws(AdoptionFailure) -> Void
  ) async throws(AdoptionFailure) {
    let result = await withCheckedContinuation { continuation in
      let id = imports.begin(continuation)
      work.add {
        await self.importEnded(id, await Result { () async throws(AdoptionFailure) in try await body(id) })
      }
    }
    try result.get()
  }

  private func importEnded(_ id: Int, _ result: Result<Void, AdoptionFailure>) {
    imports.end(id, result)
    if !isStopped, isAtRest { rested() }
  }

  // MARK: - What others ask

  package func snapshot() -> SessionStatus { machine.snapshot(at: catchUp()) }

  package func call(_ call: SessionCall) async -> SessionResponse { await ask(call).response }

  /// The answer to a call, with the status at that time.
  package func ask(_ call: SessionCall) async -> SessionAnswer {
    if isStopped { return stopped }
    if case .token(let minValidity) = call, let published, let token = readyToken(minValidity) {
      return SessionAnswer(response: .token(token.bearer), status: published, at: clock.now())
    }
    callCount += 1
    let id = CallID(callCount)
    var call = call
    if case .reportUnauthorized(let rejection) = call {
      call = .reportUnauthorized(verdicts.withLock { $0.judge(rejection, at: clock.steadyNow()) })
    }
    return await withCheckedContinuation { continuation in
      waiting[id] = continuation
      receive(.called(id, call))
    }
  }

  /// Returns the token that satisfies a usual call, without a turn of the machine, or nil if the session has to be asked.
  /// May be called on any thread.
  package nonisolated func readyToken(_ minValidity: Duration?) -> ReadyToken? {
    let moment = clock.moment()
    guard let ready = ready.withLock(\.self), ready.stepped == moment.stepped,
      ready.token.satisfies(minValidity, at: moment.now)
    else { return nil }
    return ready.token
  }

  /// The token in use, if one is given out, even when something is due. May be called on any thread.
  package nonisolated var heldToken: ReadyToken? { ready.withLock(\.self)?.token }

  /// An API answered 2xx to this token. May be called on any thread.
  package nonisolated func tokenAccepted(_ fingerprint: Fingerprint, by url: HTTPURL) {
    verdicts.withLock { $0.accepted(fingerprint, by: url, at: clock.steadyNow()) }
  }

  private var stopped: SessionAnswer {
    let now = catchUp()
    return SessionAnswer(response: .rejected(.stopping), status: machine.snapshot(at: now), at: now)
  }

  package func signInChanged(_ progress: SignInProgress?) { receive(.signInChanged(progress)) }

  package func networkReturned() { receive(.networkReturned) }

  /// The configuration was read again. What is nil is as before, and what the provider and the store are doing goes on.
  package func configured(
    _ settings: SessionSettings, endpoint: (any TokenEndpoint)? = nil, isOtherProvider: Bool = false,
    store: (any CredentialStore)? = nil
  ) {
    self.endpoint = endpoint ?? self.endpoint
    nextStore = store ?? nextStore
    let changed: [SessionPart: Bool] = [.endpoint: endpoint != nil, .provider: isOtherProvider, .store: store != nil]
    receive(.configured(settings, changed: Set(changed.filter(\.value).keys)))
  }

  /// Uses the store that is configured now. The one before it keeps no key.
  func replaceStore() {
    guard let next = nextStore else { return }
    storeWork.add { [store] in await store.lock() }
    (store, nextStore) = (next, nil)
    storeReplaced.send()
  }

  /// Returns true if this lock is set, even if there is no session to lock and nobody sees it.
  package func isSet(_ lock: Lock) -> Bool { machine.locks.all.contains(lock) }

  /// Sets the lock, and returns once what it wipes is wiped.
  package func lock(_ lock: Lock) async {
    change(lock, isSet: true)
    await storeIsQuiet()
  }

  /// Reads the credential again. Returns once what the reading has given cause to write is written, or has failed to be: a
  /// credential whose protection is no longer the configured one is sealed anew.
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
    ready.withLock { [stepped = time.stepped] ready in ready = token.map { ($0, stepped) } }
    if machine.epoch.generation != generation {
      imports.supersede()
      verdicts.withLock { $0 = RecentVerdicts() }
    }
    let events = actions.compactMap { if case .publish(let event) = $0 { event } else { nil } }
    let status = machine.snapshot(at: now)
    // Published before the calls are answered, so that everybody knows when a caller has its answer.
    if !isStopped, !isMuted, !events.isEmpty || status != published {
      published = status
      publish(events, status)
    }
    for action in actions {
      if case .answer(let id, let response) = action {
        waiting.removeValue(forKey: id)?.resume(returning: SessionAnswer(response: response, status: status, at: now))
      } else {
        perform(action)
      }
    }
    arm(machine.nextWake(after: now))
    if !isStopped, isAtRest { rested() }
  }

  func woke() { receive(.woke) }

  func clockStepped(by step: Duration, at now: Timestamp) { handle(.clockChanged(by: step), at: now) }

  func planAnew() { receive(.clockChanged(by: .zero)) }

  func observe(_ measured: Duration) {
    skewMeasured(measured)
    guard skew.observe(measured) else { return }
    logger.warning(
      "The clocks of this machine and of the provider of \(account) are \(measured.components.seconds) s apart.",
      metadata: ["HEARTH_ACCOUNT": "\(account)"])
  }

  // MARK: - Work

  func inStoreOrder<Value: Sendable>(_ work: @escaping @Sendable () async -> Value) async -> Value {
    if isStopped { await work() } else { await storeWork.result(of: work) }
  }

  /// Returns when the store has done everything asked of it so far.
  func storeIsQuiet() async {
    await inStoreOrder {}
  }

  /// Runs under the service, not under the caller: what a provider has granted is not lost with a client's connection.
  func shielded<Value: Sendable>(_ work: @escaping @Sendable () async -> Value) async -> Value {
    if isStopped { await work() } else { await self.work.result(of: work) }
  }
}
