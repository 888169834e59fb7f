import TestSupport

@testable import HearthCore

/// One session in a world where everything goes wrong, in virtual time, decided by a seed.
///
/// The machine is the real one; disk and provider are honest models; this type carries out the actions. After every
/// step the rules are checked (`+Rules`).
struct SessionSimulation: Simulation {
  struct Flight {
    /// `nil` for the client's own first grant, or for the time.
    let credential: Credential?
    var asksTime = false
    let generation: Int
    let process: Int
    let sentAt: Duration
    /// When the provider handles it, or `nil` if it does not, or already has.
    var handledAt: Duration?
    var answeredAt: Duration
    var outcome: RefreshOutcome
    /// Whether the provider refused for good.
    var isFinal = false
    /// The refresh token that the provider granted with it.
    var granted: Token?
    /// Whether the answer names another user.
    var isMixedUp = false
  }

  struct Call {
    var askedAt: Duration
    let isShort: Bool
    var isAdoption = false
    /// The sign-in that a browser has come back to. It is answered together with that.
    var signIn: CallID?
    /// By how much a backward step of the clock may have extended its deadline.
    var extra: Duration = .zero
  }

  let seed: UInt64
  var random: SeededGenerator
  var settings: SessionSettings
  var machine: SessionMachine
  var disk = SimulatedDisk()
  var provider: SimulatedProvider
  let answers: SimulatedAnswers
  var weather = Weather.fine

  /// The time that passes, and how far the wall clock is ahead of it.
  var elapsed = Duration.zero
  var offset = Duration.zero
  var now: Timestamp { Timestamp.sample + elapsed + offset }
  /// When the process wakes up by itself, as planned after the last event, even if that is now.
  var armed: Timestamp?
  /// The ready token after the last event.
  private var ready: (bearer: Bearer, grant: Grant, validity: TokenValidity)?
  var lastEventAt = Duration.zero

  var jobs: [SimulatedDisk.Job] = []
  var jobStep = 0
  var jobReadyAt = Duration.zero
  var flights: [Flight] = []
  /// The imports and sign-ins whose grants have been asked for, and when these come.
  var awaited: [(id: CallID, comesAt: Duration)] = []
  var calls: [CallID: Call] = [:]
  var (callCount, process) = (0, 0)
  /// The number of boots of the machine.
  private var boots = 0
  var isStopping = false
  var locks: Set<Lock> = []
  /// A file that somebody moved away, and may move back.
  var movedAway: SimulatedDisk.File?
  /// Unused grants that still have to be revoked. They outlast the process.
  var leftovers: [Credential] = []

  var ledger = Ledger()
  var tally = Tally<SessionTallied>()
  let trace: Trace?

  init(seed: UInt64, isTraced: Bool = false) {
    self.seed = seed
    var random = SeededGenerator(seed: seed)
    let isClient = Int.random(in: 0..<8, using: &random) == 0
    settings = SessionSettings(
      locks: Set(Lock.allCases), locksWhenUnreadable: Int.random(in: 0..<4, using: &random) == 0,
      renewsWithoutRefreshToken: isClient)
    answers = SimulatedAnswers(&random)
    var manner = SimulatedProvider.Manner()
    manner.rotates = Int.random(in: 0..<3, using: &random) > 0
    manner.revokesByUser = Int.random(in: 0..<2, using: &random) == 0
    manner.cachesTokens = answers.style == .cachedJWT
    let lifetimes: [Duration] = [.seconds(2), .seconds(60), .seconds(3600), .seconds(86_400)]
    let graces: [Duration?] = [nil, .seconds(60), .seconds(600)]
    let lifetime = lifetimes[Int.random(in: 0..<4, using: &random)]
    let refreshLives: [Duration?] = [nil, nil, lifetime * 0.4, lifetime * 30]
    manner.refreshLifetime = refreshLives[Int.random(in: 0..<4, using: &random)].map { Swift.max($0, .seconds(4)) }
    provider = SimulatedProvider(
      grace: graces[Int.random(in: 0..<3, using: &random)], lifetime: lifetime, manner: manner)
    machine = SessionMachine(account: .sample, settings: settings, seed: seed, at: .sample)
    disk.isSealed = Int.random(in: 0..<4, using: &random) == 0
    self.random = random
    trace = isTraced ? Trace() : nil
  }

  mutating func run() throws(Violation) {
    defer { note("\(machine)") }
    tellTime()
    if chances(3, in: 4), !settings.renewsWithoutRefreshToken {
      let credential = signedIn()
      for index in 0..<3 { _ = disk.step(.write(credential, generation: 0), index) }
      ledger.own.append(credential)
      ledger.durable.insert(credential.grant.accessToken.fingerprint)
    }
    try boot()
    for _ in 0..<130 {
      if chances(1, in: 3) { try disturb() } else { try advance() }
      try checkRules()
    }
    try heal()
  }

  // MARK: - The process

  mutating func boot() throws(Violation) {
    tellTime()
    ledger.counted = disk.known.clock.flatMap { $0.boot == disk.moment?.boot ? $0.token : nil }
    note("boots; disk: \(disk)")
    machine = SessionMachine(account: .sample, settings: settings, seed: random.next(), at: now)
    ready = nil
    disk.hasKey = !disk.isSealed || chances(1, in: 2)
    // The system reports screen and suspend again; the user's lock is remembered.
    locks = disk.known.lockedByUser ? [.user] : []
    if let end = disk.known.end { ledger.grounds.insert(end.reason) }
    try deliver(chances(1, in: 8) ? .credentialRead(.unreadable(.denied)) : .started(disk.remembered))
  }

  /// The process ends; requests that were sent stay sent.
  mutating func crash() throws(Violation) {
    note("crashes")
    tally[.crash] += 1
    try ledgerCrash()
    jobs = []
    jobStep = 0
    calls = [:]
    awaited = []
    process += 1
    isStopping = false
    for index in flights.indices { flights[index].answeredAt = .seconds(1 << 40) }
    flights.removeAll { $0.handledAt == nil }
    if chances(1, in: 3) { boots += 1 }
    misset()
    try boot()
  }

  private mutating func tellTime() { disk.moment = .init(now: now, stepped: offset, boot: "\(boots)") }

  /// The clock may be set between two processes without the next one knowing: a dual boot, no battery.
  private mutating func misset() {
    guard chances(1, in: 3) else { return }
    offset = chances(1, in: 2) ? .zero : .seconds(Int.random(in: -200_000...200_000, using: &random))
    ledger.hasClockStepped = true
  }

  mutating func stopAndStart() throws(Violation) {
    try stop()
    try crash()
  }

  private mutating func stop() throws(Violation) {
    try deliver(.stopping)
    isStopping = true
    let timeout = elapsed + settings.refresh.stopTimeout
    while !machine.isAtRest, elapsed < timeout {
      try advance(until: timeout)
      try checkRules()
    }
    // Requests that were sent in time have been answered by now, or never will be.
    for flight in flights where flight.process == process && flight.answeredAt < .seconds(1 << 39) {
      if let granted = flight.granted { throw Violation("a stop throws a rotated token away: \(granted.fingerprint)") }
    }
  }

  mutating func deliver(_ event: SessionInput) throws(Violation) {
    note("→ \(event)")
    let before = machine
    try noteEvent(event, before)
    let actions = machine.handle(event, at: now)
    if case .called(let id, .token(let minValidity)) = event, let ready, ready.validity.covers(minValidity, at: now) {
      tally[.readyToken] += 1
      guard actions == [.answer(id, .token(ready.bearer))] else {
        throw Violation("a call for a token that is ready does more")
      }
    }
    ready = machine.readyToken(at: now)
    lastEventAt = elapsed
    armed = machine.nextWake(after: now)
    if let armed, armed <= now { throw Violation("nextWake is not in the future") }
    try noteOutcome(event, before)
    ledger.noteActive(in: machine)
    for action in actions {
      note("   \(action)")
      try checkAction(action, of: event, before)
      try perform(action)
    }
    try checkSuperseded(event, before)
    try revokeLeftovers()
  }

  private mutating func perform(_ action: SessionAction) throws(Violation) {
    switch action {
    case .recall: enqueue(.recall)
    case .read: enqueue(.read)
    case .write(let credential, let generation):
      enqueue(.write(credential, generation: generation, over: machine.storedVersion))
    case .writeEnd(let record): enqueue(.writeEnd(record))
    case .remove(let record, let mark, _): enqueue(.remove(record, mark))
    case .setAside: enqueue(.setAside)
    case .refresh(let credential, let generation):
      enqueue(.prepare(credential, generation: generation, over: machine.storedVersion))
    case .requestGrant(let generation):
      enqueue(.prepare(nil, generation: generation, over: machine.storedVersion))
    case .askTime(let generation): try send(nil, generation, asksTime: true)
    case .rememberLockedByUser(let isLocked):
      // A sign-in removes the user's lock.
      if !isLocked { locks.remove(.user) }
      enqueue(.remember(lockedByUser: isLocked))
    case .remember(let note): enqueue(.note(note))
    case .lockStore: enqueue(.lock)
    case .makeRoom(let id):
      calls[id]?.askedAt = elapsed
      enqueue(.makeRoom(id))
    case .obtain(let id, _), .beginSignIn(let id):
      awaited.append((id, elapsed + .seconds(Int.random(in: 0...20, using: &random))))
    case .replaceStore: replaceStore()
    case .revoke(let credential): leftovers.append(credential)
    case .revokeAtOnce(let credential): revoke(credential)
    case .answer(let id, let response):
      guard calls.removeValue(forKey: id) != nil else { throw Violation("call \(id.number) is answered twice") }
      if case .rejected(let why) = response, Failure.givenUp.contains(why) {
        tally[.interruptedSignIn] += 1
      }
      if case .signedOut(let credentials, _) = response { credentials.forEach { revoke($0) } }
    case .identify, .complete, .showSignIn, .publish: break
    }
  }

  mutating func revoke(_ credential: Credential) {
    provider.revoke(credential.grant.refreshToken ?? credential.grant.accessToken)
  }

  mutating func enqueue(_ job: SimulatedDisk.Job) {
    if jobs.isEmpty { jobReadyAt = elapsed + diskTime }
    jobs.append(job)
  }

  // MARK: - Time

  /// Does the next thing in time.
  mutating func advance(until limit: Duration = .seconds(1 << 39)) throws(Violation) {
    var next = limit
    var step: (inout SessionSimulation) throws(Violation) -> Void = { (_) throws(Violation) in }
    if !jobs.isEmpty, jobReadyAt < next {
      next = jobReadyAt
      step = { (world) throws(Violation) in try world.stepDisk() }
    }
    for index in flights.indices {
      let flight = flights[index]
      if let handledAt = flight.handledAt, handledAt < next {
        next = handledAt
        step = { (world) throws(Violation) in try world.handle(index) }
      }
      if flight.process == process, flight.answeredAt < next {
        next = flight.answeredAt
        step = { (world) throws(Violation) in try world.answer(index) }
      }
    }
    for (index, grant) in awaited.enumerated() where grant.comesAt < next {
      next = grant.comesAt
      step = { (world) throws(Violation) in try world.bring(index) }
    }
    if let armed, elapsed + (armed - now) < next {
      next = elapsed + (armed - now)
      step = { (world) throws(Violation) in try world.deliver(.woke) }
    }
    if next >= .seconds(1 << 38) { next = elapsed + .seconds(Int.random(in: 1...7200, using: &random)) }
    elapsed = Swift.max(elapsed, next)
    try step(&self)
  }

  private mutating func stepDisk() throws(Violation) {
    tellTime()
    let (job, before, known) = (jobs[0], disk.grant, disk.known.grants)
    let isOnDisk = before.flatMap { $0.grant.refreshToken?.fingerprint } == ledger.newest
    let progress = disk.step(job, jobStep)
    try checkOverwritten(before, by: job)
    note("disk: \(job) step \(jobStep)")
    if case .write(let credential, _, _) = job, jobStep == 0, disk.grant == credential {
      ledger.durable.insert(credential.grant.accessToken.fingerprint)
      ledger.isTampered = false
    }
    switch (job, progress) {
    case (.write(let credential, _, _), .done(.success)): ledger.own.append(credential)
    // The user who configures another place may move the file there, or not.
    case (.replace, _): if isOnDisk, disk.grant != before { ledger.isTampered = true }
    case (.remove, .goesOn):
      // This includes another program's grant that was taken over and has gone since.
      ledger.signedOut.formUnion(ledger.own.compactMap { $0.grant.refreshToken?.fingerprint } + known.former)
      if let current = known.current { ledger.signedOut.insert(current) }
    default: break
    }
    jobStep += 1
    jobReadyAt = elapsed + diskTime
    switch progress {
    case .goesOn: return
    case .read(let reading):
      finishJob()
      try deliver(.credentialRead(reading))
    case .superseded:
      finishJob()
      tally[.superseded] += 1
      switch job {
      case .write(_, let generation, _): try deliver(.credentialSuperseded(generation: generation))
      case .prepare(_, let generation, _): try notMyTurn(generation)
      case .recall, .read, .writeEnd, .remove, .setAside, .makeRoom, .remember, .note, .lock, .unlock,
        .replace:
        break
      }
    case .done(let result):
      finishJob()
      try deliver(job, result)
    }
  }

  private mutating func finishJob() {
    jobs.removeFirst()
    jobStep = 0
  }

  private mutating func deliver(_ job: SimulatedDisk.Job, _ result: Result<Void, AccessFailure>) throws(Violation) {
    switch job {
    case .recall:
      switch result {
      case .failure(let accessFailure): try deliver(.credentialRead(.unreadable(accessFailure)))
      case .success: try deliver(.started(disk.remembered))
      }
    case .read, .lock, .note: break
    case .replace: if chances(1, in: 2) { try deliver(.credentialHinted) }
    case .remember: try deliver(.lockRemembered(result))
    case .unlock:
      locks.remove(.user)
      try deliver(.credentialHinted)
      try deliver(.unlocked(.user))
    case .write(_, let generation, _): try deliver(.credentialWritten(generation: generation, result))
    case .writeEnd(let record): try deliver(.endWritten(result.mapError { disk.notWritten(record, $0) }))
    case .remove(let record, _):
      try deliver(.removed(result.map { RemovedCredentials() }.mapError { disk.notWritten(record, $0) }))
    case .setAside: try deliver(.credentialSetAside(result.map { "work.json.corrupt-1" }, why: "cut off"))
    case .makeRoom(let id): try deliver(.roomMade(id, result))
    case .prepare(let credential, let generation, _):
      switch result {
      case .failure(let accessFailure): try deliver(.refreshEnded(generation: generation, .notAsked(accessFailure)))
      case .success where generation != machine.epoch.generation: try notMyTurn(generation)
      case .success: try send(credential, generation)
      }
    }
  }

  /// Called if nothing was sent.
  private mutating func notMyTurn(_ generation: Int) throws(Violation) {
    ledger.lastAttemptAt = ledger.attemptBefore
    try deliver(.refreshEnded(generation: generation, .superseded))
  }

  private var diskTime: Duration {
    mutating get {
      guard chances(1, in: 12) else { return .milliseconds(3) }
      ledger.hadTrouble = true
      return .milliseconds(Int.random(in: 0...4000, using: &random))
    }
  }

  // MARK: - Chance

  mutating func chances(_ part: Int, in whole: Int) -> Bool { Int.random(in: 0..<whole, using: &random) < part }

  func note(_ text: @autoclosure () -> String) {
    trace?.lines.append("\(elapsed) \(now) \(text())")
  }
}
