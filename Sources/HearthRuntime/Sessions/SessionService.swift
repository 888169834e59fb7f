package import HearthCore
package import Logging

/// Carries out what one account's `SessionMachine` decides.
///
/// One inbox: every event goes through `take`. Work on the store runs one after another, everything else side by side;
/// all of it under `run`, whose results come back as events.
package actor SessionService {
  package typealias Work = @Sendable () async -> Void

  /// How long an attempt at a passphrase waits until it may be made.
  static let unlockPatience: Duration = .seconds(10)

  package nonisolated let account: AccountName
  private var machine: SessionMachine
  let store: any CredentialStore
  let endpoint: any TokenEndpoint
  let clock: any Clock
  private let logger: Logger
  /// Told of each measured difference between a server's clock and this one.
  private let timeTold: @Sendable (Duration) -> Void
  /// Told after each event that changed what clients see, in order, and before the next event is taken.
  private let announce: @Sendable ([SessionAnnouncement], SessionSnapshot) -> Void

  private var skew = ClockSkew()
  /// The steps of the clock that the machine has heard of.
  private var stepped: Duration
  private var waiting: [CallID: CheckedContinuation<SessionAnswer, Never>] = [:]
  private var callCount = 0
  /// The wake-ups that tasks are asleep for; superseded ones wake for nothing.
  private var armed: Set<Timestamp> = []
  private var announced: SessionSnapshot?
  var isStopped = false
  private var inherited: UnwrittenGrant?
  /// Passphrases are tried one after another: each gets its turn, however many are wrong before it.
  var isTryingPassphrase = false
  var passphraseTurns: [CheckedContinuation<Void, Never>] = []
  private var atRest: [CheckedContinuation<Void, Never>] = []

  private let work: AsyncStream<Work>
  private let workInbox: AsyncStream<Work>.Continuation
  private let storeWork: AsyncStream<Work>
  private let storeInbox: AsyncStream<Work>.Continuation

  package init(
    account: AccountName, settings: SessionSettings, store: any CredentialStore, endpoint: any TokenEndpoint,
    clock: any Clock, logger: Logger, seed: UInt64 = .random(in: 0 ... .max),
    timeTold: @escaping @Sendable (Duration) -> Void = { _ in },
    announce: @escaping @Sendable ([SessionAnnouncement], SessionSnapshot) -> Void
  ) {
    self.account = account
    self.store = store
    self.endpoint = endpoint
    self.clock = clock
    self.logger = logger
    self.timeTold = timeTold
    self.announce = announce
    let start = clock.moment()
    stepped = start.stepped
    machine = SessionMachine(account: account, settings: settings, seed: seed, at: start.now)
    (work, workInbox) = AsyncStream.makeStream()
    (storeWork, storeInbox) = AsyncStream.makeStream()
  }

  /// Runs until `stop`. All tasks of the session are children of this call.
  package func run() async {
    await withDiscardingTaskGroup { group in
      group.addTask { [store] in
        for await _ in store.changes() { await self.take(.credentialHinted) }
      }
      group.addTask { [clock] in
        for await _ in clock.steps() { await self.clockChanged() }
      }
      group.addTask { [storeWork, workInbox] in
        for await work in storeWork { await work() }
        workInbox.finish()
      }
      perform(.recall)
      for await work in work { group.addTask { await work() } }
      group.cancelAll()
    }
    for (_, call) in waiting { call.resume(returning: .refused(.stopping)) }
    waiting = [:]
  }

  /// Lets a refresh under way land, then ends `run`; gives up after `patience`.
  package func stop(patience: Duration = .seconds(4)) async {
    take(.stopping)
    if !machine.isAtRest {
      let deadline = clock.now() + patience
      await withTaskGroup { group in
        group.addTask { await self.rest() }
        group.addTask { [clock] in
          await clock.sleep(until: deadline)
          await self.giveUpResting()
        }
        await group.next()
        group.cancelAll()
      }
    }
    isStopped = true
    storeInbox.finish()
  }

  private func rest() async {
    guard !machine.isAtRest else { return }
    await withCheckedContinuation { atRest.append($0) }
  }

  private func giveUpResting() {
    atRest.forEach { $0.resume() }
    atRest = []
  }

  /// Before `run`: what the session before this one, at the same place, could not write.
  package func inherit(_ unwritten: UnwrittenGrant) { inherited = unwritten }

  /// After `stop`: what could not be written.
  package var unwritten: UnwrittenGrant? { machine.unwritten }

  // MARK: - What others ask

  package func snapshot() -> SessionSnapshot { machine.snapshot(at: now) }

  package var now: Timestamp {
    let moment = clock.moment()
    // The notice of a step may be behind what comes next: nothing is planned on one clock and shifted to another.
    if moment.stepped != stepped {
      let step = moment.stepped - stepped
      stepped = moment.stepped
      // Those asleep count on the old clock: they wake for nothing.
      armed = []
      handle(.clockChanged(by: step), at: moment.now)
    }
    return moment.now
  }

  package func call(_ call: SessionCall) async -> SessionAnswer {
    if isStopped { return .refused(.stopping) }
    callCount += 1
    let id = CallID(callCount)
    return await withCheckedContinuation { continuation in
      waiting[id] = continuation
      take(.called(id, call))
    }
  }

  var home: GrantHome? { machine.settings.home }

  package func networkReturned() { take(.networkReturned) }

  package func settingsChanged(_ settings: RefreshSettings) { take(.settingsChanged(settings)) }

  package func lock(_ lock: Lock) async {
    take(.locked(lock))
    await storeIsQuiet()
  }

  // MARK: - The inbox

  func take(_ event: SessionEvent) { handle(event, at: now) }

  private func handle(_ event: SessionEvent, at now: Timestamp) {
    let actions = machine.handle(event, at: now)
    let news = actions.compactMap { if case .announce(let news) = $0 { news } else { nil } }
    let snapshot = machine.snapshot(at: now)
    // Told before the calls are answered, so that a client that was answered finds everybody else informed.
    if !news.isEmpty || snapshot != announced {
      announced = snapshot
      announce(news, snapshot)
    }
    actions.forEach(perform)
    arm(after: now)
    if machine.isAtRest { giveUpResting() }
  }

  private func arm(after now: Timestamp) {
    guard let wake = machine.nextWake(after: now), armed.allSatisfy({ wake < $0 }) else { return }
    armed.insert(wake)
    workInbox.yield { [clock] in
      await clock.sleep(until: wake)
      await self.woke(for: wake)
    }
  }

  private func woke(for wake: Timestamp) {
    armed.remove(wake)
    take(.woke)
  }

  /// The clock was set, which the next look at it tells, or the machine resumed: every plan is made anew.
  private func clockChanged() {
    armed = []
    take(.clockChanged(by: .zero))
  }

  func observe(_ measured: Duration) {
    timeTold(measured)
    guard skew.observe(measured) else { return }
    logger.warning(
      "The clocks of this machine and of the provider of \(account) are \(measured.components.seconds) s apart.",
      metadata: ["HEARTH_ACCOUNT": "\(account)"])
  }

  private func perform(_ action: SessionAction) {
    let (store, endpoint) = (store, endpoint)
    switch action {
    case .recall:
      inStoreOrder { await self.recall() }
    case .read:
      inStoreOrder { .credentialRead(await store.read()) }
    case .write(let credential, let generation):
      inStoreOrder {
        do throws(Obstacle) {
          try await store.write(credential)
          return .credentialWritten(generation: generation, .success(()))
        } catch {
          return .credentialWritten(generation: generation, .failure(error))
        }
      }
    case .writeEnd(let record):
      inStoreOrder {
        do throws(Obstacle) {
          try await store.writeEnd(record)
          return .endWritten(.success(()))
        } catch {
          return .endWritten(.failure(error))
        }
      }
    case .remove(let record, let fingerprint):
      inStoreOrder {
        do throws(Obstacle) {
          return .removed(.success(try await store.remove(record, fingerprint: fingerprint)))
        } catch {
          return .removed(.failure(error))
        }
      }
    case .setAside:
      inStoreOrder {
        do throws(Obstacle) {
          return .credentialSetAside(.success(try await store.setAside()))
        } catch {
          return .credentialSetAside(.failure(error))
        }
      }
    case .rememberLockedByUser(let isLocked):
      let (account, logger) = (account, logger)
      inStoreOrder {
        do throws(Obstacle) {
          try await store.remember(lockedByUser: isLocked)
          return .lockRemembered(.success(()))
        } catch {
          logger.warning(
            "Whether \(account) is locked is not written down yet, and is tried again: \(error.detail)",
            metadata: ["HEARTH_ACCOUNT": "\(account)"])
          return .lockRemembered(.failure(error))
        }
      }
    case .lockStore:
      storeInbox.yield { await store.lock() }
    case .refresh(let credential, let generation):
      refresh(credential, generation: generation)
    case .identify(let credential, let generation):
      workInbox.yield {
        let origin = await endpoint.origin()
        let subject = credential.subject == nil ? await endpoint.identify(credential) : nil
        await self.take(.identified(generation: generation, subject, origin: origin))
      }
    case .revoke(let credential):
      workInbox.yield { _ = await self.revoke(credential) }
    case .answer(let id, let answer):
      waiting.removeValue(forKey: id)?.resume(returning: answer)
    case .announce:
      break
    }
  }

  private func recall() async -> SessionEvent {
    do throws(Obstacle) {
      var remembered = try await store.remembered()
      remembered.unwritten = inherited
      return .started(remembered)
    } catch {
      return .credentialRead(.unreadable(error))
    }
  }

  /// Room for the answer first, in the store's order; then the provider is asked, beside everything else.
  private func refresh(_ credential: Credential, generation: Int) {
    let (store, endpoint) = (store, endpoint)
    storeInbox.yield { [workInbox] in
      do throws(Obstacle) {
        try await store.prepare()
      } catch {
        await self.take(.refreshEnded(generation: generation, .notAsked(error)))
        return
      }
      workInbox.yield {
        do throws(RefreshFailure) {
          let response = try await endpoint.refresh(credential)
          await self.granted(response, generation: generation)
        } catch {
          await self.take(.refreshEnded(generation: generation, .failed(error)))
        }
      }
    }
  }

  private func granted(_ response: TokenResponse, generation: Int) {
    if let measured = response.skew { observe(measured) }
    take(.refreshEnded(generation: generation, .granted(response)))
  }

  private func inStoreOrder(_ work: @escaping @Sendable () async -> SessionEvent) {
    storeInbox.yield { await self.take(await work()) }
  }

  func inStoreOrder<Value: Sendable>(_ work: @escaping @Sendable () async -> Value) async -> Value {
    if isStopped { return await work() }
    return await withCheckedContinuation { continuation in
      storeInbox.yield { continuation.resume(returning: await work()) }
    }
  }

  /// Returns when the store has done everything asked of it so far.
  func storeIsQuiet() async {
    await inStoreOrder {}
  }

  /// Runs under the service, not under the caller: what a provider has granted is not lost with a client's connection.
  func shielded<Value: Sendable>(_ work: @escaping @Sendable () async -> Value) async -> Value {
    if isStopped { return await work() }
    return await withCheckedContinuation { continuation in
      workInbox.yield { continuation.resume(returning: await work()) }
    }
  }
}
