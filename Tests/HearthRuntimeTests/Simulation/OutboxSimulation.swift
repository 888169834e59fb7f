import HearthCore
import HearthRuntime
import TestSupport

/// The real outbox and the real sessions in a world of accounts, providers, APIs, disks and time that a seed chooses.
///
/// Nothing here runs beside anything else: whatever a daemon waits for stands on the agenda, and only `advance` brings
/// it, one thing a step. Hence a class without locks.
final class OutboxSimulation: Simulation, @unchecked Sendable {
  /// Something that will come at a time, whoever waits for it.
  struct Appointment {
    let at: Duration
    let order: Int
    /// The daemon that waits for it; nil for what happens anyway.
    let daemon: Int?
    let happens: @Sendable () -> Void
  }

  let seed: UInt64
  var random: SeededGenerator
  let executor: SteppedExecutor
  let clock = ManualClock(.sample)
  let folder = TemporaryFolder(isFast: true)
  let settings: OutboxSettings

  /// The time that always goes on, and what the wall clock is ahead of it.
  var elapsed = Duration.zero
  var offset = Duration.zero
  /// By how much the clock was set back, and ahead, in all.
  var setBack = Duration.zero
  var setAhead = Duration.zero
  /// How often the clock was set, or stood still for everybody, and how much time that was.
  var timeBreaks = 0
  var lastBreak = Duration.seconds(-3600)
  var looseness = Duration.zero
  var now: Timestamp { clock.now() }

  var agenda: [Appointment] = []
  private var lastOrder = 0
  private var stepsSinceTimeMoved = 0

  var accounts: [SimulatedAccount] = []
  var trackedRequests: [TrackedRequest] = []
  var lastWritten = 0
  var origins: [Origin: OriginMood] = [:]
  /// What the clocks of some are wrong by.
  var clockErrors: [Origin: Duration] = [:]
  var isOnline = true
  var disk = DiskMood.fine
  var daemon: SimulatedDaemon?
  var daemons = 0
  var flights: [Int: APIFlight] = [:]
  var lastFlight = 0
  var calls: [Int: OpenCall] = [:]
  var lastCall = 0
  /// As they were when everybody last came to rest.
  var callsBefore: [OpenCall] = []
  var rows: [String: OutboxItem] = [:]
  /// In the order of their places.
  var order: [String] = []
  /// When items came to their ends, and how often time had been broken by then, or -1 where that is not clear.
  var ended: [String: (at: Timestamp, breaks: Int)] = [:]
  var swept: Set<String> = []
  /// The requests that were sent since the rows were last looked at.
  var sent: [(trackedRequest: Int, id: String?)] = []
  var isChanged = true
  /// When what was taken last was asked for.
  var takenAt = Duration.zero

  var violation: Violation?
  var tally = Tally<OutboxTallied>()
  let trace: Trace?

  init(seed: UInt64, isTraced: Bool = false) {
    self.seed = seed
    var random = SeededGenerator(seed: seed)
    executor = SteppedExecutor(seed: random.next())
    var settings = OutboxSettings()
    settings.concurrency = [1, 2, 3, 8].randomElement(using: &random) ?? 1
    settings.maxAttempts = [2, 3, 30].randomElement(using: &random) ?? 3
    settings.retryMax = [.seconds(30), .seconds(600)].randomElement(using: &random) ?? .seconds(30)
    settings.idempotencyHorizon = [.seconds(600), .seconds(86_400)].randomElement(using: &random) ?? .seconds(600)
    settings.keepDelivered = [.seconds(3600), .seconds(86_400)].randomElement(using: &random) ?? .seconds(3600)
    settings.keepDead = [.seconds(7200), .seconds(30 * 86_400)].randomElement(using: &random) ?? .seconds(7200)
    settings.maxItems = [20, 10_000].randomElement(using: &random) ?? 20
    self.settings = settings
    trace = isTraced ? Trace() : nil
    let names = [Sample.work, Sample.other].prefix(Int.random(in: 1...2, using: &random))
    for (index, name) in names.enumerated() {
      let lifetimes: [Duration] = [.seconds(60), .seconds(3600), .seconds(86_400)]
      let graces: [Duration?] = [nil, .seconds(60)]
      accounts.append(
        SimulatedAccount(
          name,
          SimulatedProvider(
            grace: graces.randomElement(using: &random) ?? nil,
            lifetime: lifetimes.randomElement(using: &random) ?? .seconds(3600), after: (index + 1) * 100_000)))
    }
    for origin in [Sample.origin, Sample.secondOrigin] {
      let isFine = Int.random(in: 0..<3, using: &random) == 0
      origins[origin] = isFine ? .fine : OriginMood.allCases.randomElement(using: &random)
      let errors: [Int64] = [0, 0, 0, -7200, -11 * 365 * 86_400, 9 * 365 * 86_400]
      clockErrors[origin] = .seconds(errors.randomElement(using: &random) ?? 0)
    }
    self.random = random
  }

  func run() throws(Violation) {
    defer { tearDown() }
    for account in accounts where chances(3, in: 4) {
      let credential = signedIn(account)
      for index in 0..<3 { _ = account.disk.step(.write(credential, generation: 0), index) }
    }
    try start()
    for _ in 0..<240 {
      if chances(1, in: 4) { try disturb() } else { try advance() }
    }
    try heal()
    try end()
  }

  // MARK: - Daemons

  func start() throws(Violation) {
    daemons += 1
    note("daemon \(daemons) starts")
    for account in accounts { account.starts() }
    let daemon: SimulatedDaemon
    do { daemon = try SimulatedDaemon(daemons, in: self) } catch {
      throw Violation("the outbox cannot be opened: \(error)")
    }
    self.daemon = daemon
    daemon.start()
    try settle()
  }

  /// The process is gone: what it waited for never comes, what was sent stays sent.
  func crash() throws(Violation) {
    guard let daemon else { return }
    note("daemon \(daemon.number) crashes")
    tally[.crash] += 1
    guard cut(daemon) else { throw Violation("a daemon without a world does not end") }
    try bury()
  }

  /// What a daemon waits for is over, and what it does reaches nobody.
  private func detach(_ daemon: SimulatedDaemon) {
    daemon.isAlive = false
    for id in flights.keys.sorted() { giveUp(id) }
    for appointment in agenda where appointment.daemon == daemon.number { appointment.happens() }
    agenda.removeAll { $0.daemon == daemon.number }
  }

  /// False where it does not end.
  private func cut(_ daemon: SimulatedDaemon) -> Bool {
    detach(daemon)
    daemon.dismantle()
    return executor.settle() && daemon.hasEnded
  }

  /// So that no task and no file stays behind.
  private func tearDown() {
    if let daemon { _ = cut(daemon) }
    folder.remove()
  }

  /// Stops in order, and may take its time.
  func stop() throws(Violation) {
    guard let daemon else { return }
    note("daemon \(daemon.number) stops")
    daemon.stop()
    try settle()
    let limit = elapsed + .seconds(30)
    while !daemon.hasEnded {
      guard elapsed < limit else { throw Violation("a daemon that was told to stop does not end") }
      try advance(until: limit)
    }
    detach(daemon)
    try bury()
  }

  private func bury() throws(Violation) {
    daemon?.store.close()
    daemon = nil
    tally[.lostCall] += calls.count
    (calls, callsBefore) = ([:], [])
    for trackedRequest in trackedRequests {
      trackedRequest.daemonIsGone(
        attempts: trackedRequest.isTaken ? nil : trackedRequest.ids.first.flatMap { rows[$0]?.attempts })
    }
    try checkFile()
  }

  func lives(_ number: Int) -> Bool { daemon?.number == number && daemon?.isAlive == true }

  // MARK: - Time

  /// Something that a daemon waits for comes after `duration`.
  func wait(_ duration: Duration, _ daemon: Int) async {
    guard lives(daemon) else { return }
    await withCheckedContinuation { continuation in
      at(elapsed + duration, for: daemon) { continuation.resume() }
    }
  }

  /// The same on the network, where what is cancelled waits no longer.
  func travel(_ duration: Duration, _ daemon: Int) async {
    guard lives(daemon), !Task.isCancelled else { return }
    let order = lastOrder + 1
    await withTaskCancellationHandler {
      await wait(duration, daemon)
    } onCancel: {
      agenda.firstIndex { $0.order == order }.map { agenda.remove(at: $0).happens() }
    }
  }

  func at(_ time: Duration, for daemon: Int? = nil, _ happens: @escaping @Sendable () -> Void) {
    lastOrder += 1
    // The clock knows whole milliseconds.
    let time = Duration.milliseconds(time.wholeMilliseconds)
    agenda.append(Appointment(at: time, order: lastOrder, daemon: daemon, happens: happens))
  }

  /// Brings what comes next, in the order of time, and lets everybody do what follows from it.
  func advance(until limit: Duration = .seconds(1 << 39)) throws(Violation) {
    var next = limit
    var chosen: Int?
    for (index, appointment) in agenda.enumerated() where appointment.at <= next {
      if let chosen, agenda[chosen].at == appointment.at, agenda[chosen].order < appointment.order { continue }
      (next, chosen) = (appointment.at, index)
    }
    if let deadline = clock.nextDeadline, deadline < .distantFuture {
      let wake = Swift.max(elapsed + (deadline - now), elapsed)
      if wake < next { (next, chosen) = (wake, nil) }
    }
    if next >= .seconds(1 << 38) { next = elapsed + .seconds(number(1...(chances(1, in: 6) ? 7200 : 60))) }
    stepsSinceTimeMoved = next > elapsed ? 0 : stepsSinceTimeMoved + 1
    if stepsSinceTimeMoved > 3000 { throw Violation("there is no end of work, and no time passes") }
    pass(next - elapsed)
    if let chosen { agenda.remove(at: chosen).happens() }
    try settle()
  }

  func pass(_ duration: Duration) {
    guard duration > .zero else { return }
    elapsed += duration
    clock.advance(by: duration)
  }

  /// Everybody does what can be done now; then every rule is looked at.
  func settle() throws(Violation) {
    for account in accounts { account.mightSend = account.maySend }
    guard executor.settle() else { throw Violation("there is no end of work") }
    if let violation { throw violation }
    try checkRules()
  }

  // MARK: - Chance

  func chances(_ part: Int, in whole: Int) -> Bool { Int.random(in: 0..<whole, using: &random) < part }

  func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

  func note(_ text: @autoclosure () -> String) {
    trace?.lines.append("\(elapsed) \(now) \(text())")
  }

  func violated(_ text: String) {
    note("VIOLATED: \(text)")
    if violation == nil { violation = Violation(text) }
  }
}
