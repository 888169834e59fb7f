import Glibc
import HearthControl
import TestSupport
import Testing

@Suite("A crash under load", .serialized, .mayBlock) struct OutboxCrashTests {
  @Test("whenever the daemon is killed, what was acknowledged takes effect once, in its lane's order, and nothing else")
  func killed() async throws {
    let outcome = try await OutboxCrashRun.run()
    #expect(outcome.problems == [])
    #expect(outcome.acknowledged > 10 * outcome.cycles, "fewer items prove nothing")
    #expect(outcome.resent.count == outcome.cycles, "what was in flight is sent again")
  }
}

/// Kills the daemon again and again while clients fill its outbox, and compares what they were told with what the API
/// did.
struct OutboxCrashRun {
  struct Outcome {
    var problems: [String] = []
    var cycles = 0
    var acknowledged = 0
    /// For how long the daemon took items.
    var up = Duration.zero
    /// From the first answer after a crash until an item that was in flight was delivered.
    var resent: [Duration] = []

    /// Acknowledged items a second.
    var rate: Double { Double(acknowledged) / (up / .seconds(1)) }
  }

  /// What is compared at once: the list of effects is read whole.
  private static let cyclesBetweenComparisons = 20

  private let environment: TestEnvironment
  private let sandbox: Sandbox
  private let daemon: Daemon
  private let writers: [Writer]
  private var torture: Torture
  private var outcome = Outcome()
  private var stuck: (number: Int, id: String)?
  private var stuckNumbers: [Int] = []

  static func run() async throws -> Outcome {
    var result = Outcome()
    try await TestEnvironment.run { environment in
      var run = try OutboxCrashRun(environment)
      let start = ContinuousClock.now
      let writers = run.writers
      try await withThrowingTaskGroup(of: Void.self) { group in
        for writer in writers { group.addTask { writer.run() } }
        defer { writers.forEach { $0.stop() } }
        do {
          for cycle in 1...run.torture.cycles {
            try run.cycle(cycle)
            run.outcome.cycles = cycle
            guard run.outcome.problems.isEmpty else { break }
          }
        } catch {
          throw NeverHappened(description: "Seed \(run.torture.seed): \(error)")
        }
      }
      result = run.outcome
      let delays = result.resent.sorted()
      print(
        "kill -9 under load: \(run.torture.cycles) cycles, seed \(run.torture.seed), \(result.acknowledged) items, "
          + "\(Int(result.rate)) a second, sent again after \(Self.milliseconds(delays[delays.count / 2])) ms, "
          + "at most \(Self.milliseconds(delays[delays.count - 1])) ms; took \((ContinuousClock.now - start) / .seconds(1)) s"
      )
      if !result.problems.isEmpty { print("seed \(run.torture.seed)") }
    }
    return result
  }

  private static func milliseconds(_ duration: Duration) -> Int { Int(duration / .milliseconds(1)) }

  private init(_ environment: TestEnvironment) throws {
    self.environment = environment
    torture = Torture("HEARTH_OUTBOX_CRASH_CYCLES", cycles: 20)
    sandbox = try environment.sandbox()
    let configuration =
      Configuration.oidc(sandbox) + Configuration.impatient + """
        keep_delivered = "5s"

        """
    daemon = try Daemon(on: environment, configuration: configuration)
    daemon.logLevel = "info"
    try daemon.start()
    try daemon.signIn(at: sandbox)
    let (socket, url) = (daemon.socket, sandbox.notes)
    writers = [
      Writer("careless", .careless, socket: socket, url: url), Writer("keyed", .keyed, socket: socket, url: url),
      Writer("batched", .batched, socket: socket, url: url), Writer("unordered", .unordered, socket: socket, url: url),
    ]
    try Files.makeFolder("\(environment.folder)/check")
  }

  private mutating func cycle(_ number: Int) throws {
    let start = ContinuousClock.now
    let before = writers.reduce(0) { $0 + $1.count }
    try putInFlight(number)
    let goal = before + Int.random(in: 5...60, using: &torture.random)
    try eventually("clients go on", while: { [writers] in writers.reduce(0) { $0 + $1.count } }) { [writers] in
      if let refusal = writers.compactMap(\.refusal).first { throw NeverHappened(description: "Refused: \(refusal)") }
      return writers.reduce(0) { $0 + $1.count } >= goal
    }
    torture.waitAtMost(0.02)
    try daemon.crash()
    outcome.acknowledged += writers.reduce(0) { $0 + $1.count } - before
    outcome.up += ContinuousClock.now - start
    try check()
    try sandbox.clearFaults()
    try daemon.start()
    try awaitResent()
    if number.isMultiple(of: Self.cyclesBetweenComparisons) || number == torture.cycles { try compare() }
    environment.forgetEnded()
  }

  /// Makes sure that something is in flight when the daemon is killed: a request that the API never answers.
  private mutating func putInFlight(_ number: Int) throws {
    let path = "/api/stuck/\(number)"
    let isHandled = Bool.random(using: &torture.random)
    try sandbox.fault(["path": .string(path), "hang": true, "handle": .bool(isHandled), "times": 1])
    stuck = (number, try daemon.enqueue("stuck \(number)", to: sandbox.url + path, ["lane": "stuck"]))
    stuckNumbers.append(number)
    try eventually("the request has arrived") {
      try sandbox.call("GET", "/__fault")["faults"]?.array?.isEmpty == true
    }
  }

  private mutating func awaitResent() throws {
    guard let stuck else { return }
    let start = ContinuousClock.now
    try daemon.waitForItem(stuck.id, "delivered")
    outcome.resent.append(ContinuousClock.now - start)
  }

  /// `--check-outbox` on a copy: the daemon itself is to meet the files as the crash left them.
  private mutating func check() throws {
    let folder = "\(environment.folder)/check"
    for suffix in ["", "-wal"] {
      try Files.copy("\(daemon.state)/outbox.sqlite\(suffix)", to: "\(folder)/outbox.sqlite\(suffix)")
    }
    let run = try environment.hearthd([
      "--config", daemon.configurationPath, "--state-dir", folder, "--check-outbox",
    ])
    if run.status != 0 { outcome.problems.append("The outbox is not sound: \(run.errors)") }
  }

  /// Goes on as long as fewer are left each time: how fast a busy machine is, is not what this is about.
  private func flush() throws -> JSON {
    var left = Int.max
    while true {
      let stats = try daemon.call("outbox.flush", ["account": "work", "timeoutSeconds": 20])
      let still = ["pending", "inFlight", "waiting"].reduce(0) { $0 + (stats[$1]?.int ?? 0) }
      if still == 0 || still >= left { return stats }
      left = still
    }
  }

  /// Lets everything be delivered and compares it with the effects at the API.
  private mutating func compare() throws {
    writers.forEach { $0.pause() }
    try eventually("clients rest") { [writers] in writers.allSatisfy(\.isResting) }
    let stats = try flush()
    for state in ["pending", "inFlight", "waiting", "held", "dead"] where stats[state] != 0 {
      outcome.problems.append("After a flush there are \(state) items: \(stats)")
    }
    var effects: [String: [Int]] = [:]
    for body in try sandbox.written {
      let words = body.split(separator: " ")
      guard words.count == 2, let number = Int(words[1]) else {
        outcome.problems.append("Nobody wrote \(body)")
        continue
      }
      effects[String(words[0]), default: []].append(number)
    }
    for writer in writers { outcome.problems += writer.problems(in: effects.removeValue(forKey: writer.name) ?? []) }
    if effects.removeValue(forKey: "stuck") != stuckNumbers {
      outcome.problems.append("stuck: not once each, in order")
    }
    if !effects.isEmpty { outcome.problems.append("Nobody wrote \(effects)") }
    stuckNumbers = []
    try sandbox.forgetStats()
    if torture.cycles > Self.cyclesBetweenComparisons {
      print("kill -9 under load: \(outcome.resent.count) of \(torture.cycles) cycles, seed \(torture.seed)")
      fflush(nil)
    }
    writers.forEach { $0.goOn() }
  }
}
