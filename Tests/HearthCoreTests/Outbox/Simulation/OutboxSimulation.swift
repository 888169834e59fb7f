import TestSupport

@testable import HearthCore

/// The outbox's machine in a world of sessions, APIs, users, a store and time that a seed determines. Nothing is
/// concurrent: everything under way is on the agenda, and one thing happens in each step.
final class OutboxSimulation: Simulation {
  enum Event {
    case start, look, workDone, workAnswered
    case step(SenderID), bearer(SenderID, APIRejection?), response(SenderID), time(AccountName, Origin)
    case callDone(Int), callAnswered(Int), flushTimedOut(Int), sessionReported(AccountName)
  }

  struct SentKey: Hashable {
    let account: AccountName
    let subject: Subject
    let key: String
  }

  struct Appointment {
    let at: Int
    let order: Int
    let event: Event
  }

  static let names = ["work", "other", "third"].map { AccountName($0)! }
  static let apis = ["one", "two", "three"].compactMap { try? HTTPURL("https://\($0).example.com/").origin }
  /// Their names look alike: K, and the Kelvin sign.
  static let users: [Name] = ["K", "\u{212A}"]
  static let large = [UInt8](repeating: 0x61, count: 1 << 20)

  let seed: UInt64
  var chance: SeededGenerator
  var settings = OutboxSettings()

  /// The milliseconds that have passed, and how far the clock is ahead of them.
  var elapsed = 0
  var offset = 0
  /// Whether the store has a clock of its own, which nobody sets, and how far it is ahead of the time that has passed.
  var isStoreApart = false
  var storeOffset = 0
  var agenda: [Appointment] = []
  private var lastOrder = 0
  private var ticks = 0
  private var stepsAtOnce = 0

  var model = OutboxModel()
  var daemon: SimulatedDaemon?
  var sessions: [AccountName: SimulatedSession] = [:]
  var origins: [Origin: SimulatedOrigin] = [:]
  /// The configured accounts with their origins.
  var configured: [AccountName: Set<Origin>] = [:]
  var overrides: [AccountName: DeliveryOverrides] = [:]
  var apis: [AccountName: APISettings] {
    Dictionary(
      uniqueKeysWithValues: configured.map {
        ($0, APISettings(origins: $1, expect: .json, overrides: overrides[$0] ?? DeliveryOverrides()))
      })
  }
  var items: [Int64: TrackedItem] = [:]
  /// The item that each key was first sent for.
  var sentKeys: [SentKey: OutboxModel.Item] = [:]
  /// Whether the disk fails, and how slow it is.
  var isDiskFailing = false
  var slowestDisk = 4
  var storeFreeAt = 0
  var lastToken = 0
  var lastItem = 0
  var isHealed = false
  var hasLargeItems = false
  /// Whether the APIs answer so fast that deliveries are read ahead, and there are many of them.
  var isQuick = false
  /// When something was last disturbed.
  var lastDisturbance = 0
  /// By how much waits may be wrong: steps of the store's clock while nothing ran that could follow them.
  var untoldSteps = 0
  /// The steps that the store still has to follow.
  var untoldShift = 0
  /// The latest time that the store has used.
  private(set) var latestStoreTime = Timestamp(milliseconds: 0)
  /// The accounts that the user has certainly paused.
  var paused: Set<AccountName> = []

  var violation: Violation?
  var tally = Tally<OutboxTallied>()
  let trace: Trace?

  init(seed: UInt64, isTraced: Bool = false) {
    self.seed = seed
    trace = isTraced ? Trace() : nil
    chance = SeededGenerator(seed: seed)
    settings.concurrency = one(of: [1, 2, 3, 8])
    settings.maxAttempts = one(of: [2, 3, 30])
    settings.retryMax = one(of: [.seconds(30), .seconds(300)])
    settings.idempotencyHorizon = one(of: [.seconds(600), .seconds(86_400)])
    settings.keepDelivered = one(of: [.seconds(600), .seconds(86_400)])
    settings.maxItems = one(of: [20, 10_000, 10_000])
    hasLargeItems = chances(1, in: 30)
    isQuick = chances(1, in: 8)
    if isQuick { settings.maxItems = 10_000 }
    isStoreApart = chances(1, in: 3)
    if isStoreApart { storeOffset = number(-100_000_000...100_000_000) / one(of: [1, 1000]) }
    for origin in Self.apis {
      let mood: SimulatedOrigin.Mood = chances(1, in: 2) ? .fine : one(of: SimulatedOrigin.Mood.allCases)
      origins[origin] = SimulatedOrigin(
        origin: origin, mood: mood, tellsTime: chances(2, in: 3),
        clockError: chances(2, in: 3) ? 0 : one(of: [-7_200_000, 3_600_000, -347_000_000_000, 284_000_000_000]),
        refusesHEAD: chances(1, in: 4))
    }
    for name in Self.names.prefix(number(2...3)) {
      configured[name] = Set(Self.apis.filter { _ in chances(3, in: 4) } + [Self.apis[0]])
      let isNamed = chances(4, in: 6)
      sessions[name] = SimulatedSession(name, isNamed: isNamed, isUnnamed: !isNamed && chances(1, in: 2))
      if chances(1, in: 2) { overrides[name] = drawnOverrides() }
      if chances(3, in: 4) { signIn(name, as: Self.users[0]) }
    }
  }

  func run() throws(Violation) {
    start()
    for _ in 0..<160 {
      if chances(1, in: 4) { disturb() } else { advance() }
      try check()
    }
    try heal()
  }

  // MARK: - Time

  var now: Timestamp { Timestamp(milliseconds: 1_800_000_000_000 + Int64(elapsed + offset)) }

  /// The time by the store's clock.
  var storeNow: Timestamp { Timestamp(milliseconds: 1_800_000_000_000 + Int64(elapsed + storeOffset)) }

  /// The same, for an action of the store: its schedule follows its clock first.
  func storeActs() -> Timestamp {
    if untoldShift != 0 {
      note("the schedule is shifted by \(untoldShift)")
      model.shiftSchedule(by: .milliseconds(untoldShift), at: storeNow)
      untoldShift = 0
    }
    latestStoreTime = max(latestStoreTime, storeNow)
    return storeNow
  }

  func at(_ time: Int, _ event: Event) {
    lastOrder += 1
    agenda.append(Appointment(at: max(time, elapsed), order: lastOrder, event: event))
  }

  /// Numbers events, to order those that happen at the same time.
  func tick() -> Int {
    ticks += 1
    return ticks
  }

  func after(_ wait: ClosedRange<Int>, _ event: Event) { at(elapsed + number(wait), event) }

  /// The next event happens, or the daemon's deadline passes.
  func advance(until limit: Int = .max) {
    var chosen: Int?
    var next = min(limit, elapsed + 3_600_000)
    for index in agenda.indices where agenda[index].at <= next {
      if let chosen, agenda[chosen].at == agenda[index].at, agenda[chosen].order < agenda[index].order { continue }
      (chosen, next) = (index, agenda[index].at)
    }
    var wakes = false
    if let until = daemon?.restsUntil, until < .distantFuture {
      let wake = elapsed + max(Int((until - now).wholeMilliseconds), 0)
      if wake < next || wake == next && chosen == nil { (next, wakes) = (wake, true) }
    }
    if next > elapsed {
      stepsAtOnce = 0
      timePasses(to: next)
    } else {
      stepsAtOnce += 1
      if stepsAtOnce > 2000 { violated("there is no end of work, and no time passes") }
    }
    if wakes { return look() }
    if let chosen { happens(agenda.remove(at: chosen).event) }
  }

  private func timePasses(to time: Int) {
    if time - elapsed >= 100 {
      checkPromptness(until: time)
      checkFlushes(until: time)
    }
    elapsed = time
  }

  private func happens(_ event: Event) {
    switch event {
    case .start: start()
    case .look:
      daemon?.isSignalled = false
      look()
    case .workDone: workDone()
    case .workAnswered: workAnswered()
    case .step(let id): step(id)
    case .bearer(let id, let rejection): answerBearer(id, rejection)
    case .response(let id): answerRequest(id)
    case .time(let name, let origin): answerTime(name, origin)
    case .callDone(let id): callDone(id)
    case .callAnswered(let id): callAnswered(id)
    case .flushTimedOut(let id): daemon?.flushes[id] = nil
    case .sessionReported(let name): reportSession(name)
    }
  }

  // MARK: - Chance

  func chances(_ part: Int, in whole: Int) -> Bool { Int.random(in: 0..<whole, using: &chance) < part }

  func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &chance) }

  func one<Value>(of values: [Value]) -> Value { values[number(0...(values.count - 1))] }

  // MARK: - What is found

  func note(_ text: @autoclosure () -> String) {
    trace?.lines.append("\(elapsed) \(text())")
  }

  func violated(_ text: String) {
    note("VIOLATED: \(text)")
    if violation == nil { violation = Violation(text) }
  }

  func check() throws(Violation) {
    if let violation { throw violation }
  }
}
