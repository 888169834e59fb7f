import Glibc
import HearthClient
import HearthControl
import HearthCore
import TestSupport
import Testing

/// `make torture` runs it, with the programs as they are released: it is about figures, which others' work would blur.
@Suite("A siege", .serialized, .mayBlock, .enabled(if: Torture.isAsked(for: SiegeRun.seconds)))
struct SiegeTests {
  @Test(
    "by a provider, an API and neighbours that are hostile: nothing is lost, and memory, processor and waits are bounded"
  )
  func siege() async throws {
    let outcome = try await SiegeRun.run()
    #expect(outcome.problems == [])
    #expect(outcome.acknowledged > 50, "fewer items prove nothing")
    #expect(outcome.requests > 50 && outcome.connections > 100, "less of a siege proves nothing")
    let (quiet, siege) = (outcome.quiet, outcome.siege)
    #expect(quiet.failures == [] && siege.failures == [], "the innocent client is always answered")
    // Where all share two processors, half of the calls wait for the turns of the others, and few for long.
    #expect(siege.median < 40 * max(quiet.median, 0.5), "\(siege)")
    #expect(siege.worstOfHundred < 100 * max(quiet.worstOfHundred, 10), "\(siege)")
    #expect(outcome.peak.memory < outcome.before.memory + (256 << 10), "\(outcome.peak)")
    #expect(outcome.after.memory < outcome.before.memory + (64 << 10), "\(outcome.after)")
    #expect(outcome.after.descriptors <= outcome.before.descriptors + 40, "\(outcome.after)")
    #expect(outcome.serversShare < 0.9, "of a processor, with hostile servers alone")
    #expect(outcome.logLines < 3000)
  }
}

/// Keeps a daemon under load, quiet at first and then under siege, and compares.
struct SiegeRun {
  struct Outcome {
    var problems: [String] = []
    var acknowledged = 0
    /// What the hostile server was sent, and how often neighbours connected.
    var requests = 0
    var connections = 0
    var quiet: InnocentClient.Figures
    var siege: InnocentClient.Figures
    var before: ProcessFigures
    var peak: ProcessFigures
    var after: ProcessFigures
    /// The processor time, as a share of one, that hostile servers alone cost.
    var serversShare: Double
    var logLines: Int
  }

  private let environment: TestEnvironment
  private let sandbox: Sandbox
  private let server: HostileServer
  private let daemon: Daemon
  private let process: pid_t
  private let writers: [Writer]
  private let innocent: InnocentClient
  /// What the test itself asks for: a new connection would wait among those of the neighbours.
  private let line: ControlLine
  private let neighbour: HostileNeighbour
  private let torture: Torture

  /// The variable that says how long it lasts.
  static let seconds = "HEARTH_SIEGE_SECONDS"

  static func run() async throws -> Outcome {
    var outcome: Outcome?
    try await TestEnvironment.run { environment in
      let run = try SiegeRun(environment)
      let result = try await withThrowingTaskGroup(of: Void.self) { group in
        for writer in run.writers { group.addTask { writer.run() } }
        group.addTask { [innocent = run.innocent] in innocent.run() }
        group.addTask { [server = run.server] in await server.run() }
        defer { run.stop() }
        return try run.phases { attack in group.addTask { attack() } }
      }
      outcome = result
      print(
        """
        siege: seed \(run.torture.seed), \(result.acknowledged) items, \(result.requests) hostile answers, \
        \(result.connections) hostile connections
          innocent, quiet: \(result.quiet)
          innocent, siege: \(result.siege)
          memory and descriptors: \(result.before) before, at most \(result.peak), \(result.after) after
          processor for hostile servers alone: \(Int(result.serversShare * 100)) % of one; \(result.logLines) lines of log
        """)
    }
    guard let outcome else { throw NeverHappened(description: "There was no siege.") }
    return outcome
  }

  private init(_ environment: TestEnvironment) throws {
    self.environment = environment
    torture = Torture(Self.seconds, cycles: 12)
    sandbox = try environment.sandbox()
    server = try HostileServer()
    daemon = try Daemon(on: environment, configuration: Self.configuration(sandbox, server))
    daemon.logLevel = "info"
    try daemon.start()
    guard let process = daemon.process?.pid else { throw NeverHappened(description: "There is no daemon.") }
    self.process = process
    try daemon.signIn(at: sandbox)
    try daemon.waitUntil("the outbox may send") { $0.state == "authenticated" }
    let (socket, notes) = (daemon.socket, sandbox.notes)
    writers = [("keyed", Writer.Kind.keyed), ("batched", .batched), ("unordered", .unordered)].map {
      Writer($0.0, $0.1, socket: socket, url: notes, pace: 20_000)
    }
    innocent = InnocentClient(path: socket)
    line = try ControlLine(path: socket)
    neighbour = HostileNeighbour(path: socket, seed: torture.seed)
    // Another user reaches the socket only where its folders let everybody through, which Hearth does not do by itself.
    if getuid() == 0 {
      for folder in [environment.folder, daemon.folder, daemon.folder + "/run"] { try Files.setMode(folder, 0o711) }
      try Files.setMode(socket, 0o666)
    }
  }

  /// One good account, one for the hostile API, and one for each trick of the hostile provider.
  private static func configuration(_ sandbox: Sandbox, _ server: HostileServer) -> String {
    let good = Configuration.oidc(sandbox)
    let api = Configuration.oidc(sandbox, account: "api").replacing(
      "api_origins = [\"\(sandbox.url)\"]", with: "api_origins = [\"\(server.url)\"]")
    let evil = HostileServer.Trick.allCases.map { trick in
      """
      [accounts.\(trick.rawValue)]
      type = "oauth2"
      token_endpoint = "\(server.url)/token/\(trick.rawValue)"
      client_id = "hearth"
      api_origins = ["\(server.url)"]
      subject = "me"

      """
    }
    return good + api + evil.joined() + """
      [refresh]
      backoff_initial = "500ms"
      backoff_max = "2s"
      request_timeout = "5s"

      [outbox]
      retry_initial = "500ms"
      retry_max = "2s"

      """
  }

  private func stop() {
    writers.forEach { $0.stop() }
    innocent.stop()
    neighbour.stop()
    server.stop()
  }

  /// `attack`: runs beside all others, until it ends.
  private func phases(_ attack: (@escaping @Sendable () -> Void) -> Void) throws -> Outcome {
    let share = max(Double(torture.cycles) / 6, 2)
    try pass(share) { _ in }
    let quiet = innocent.takeFigures()
    let before = ProcessFigures(of: process)
    try putServersToWork()
    for deed in [neighbour.readNothing, neighbour.comeAndGo, neighbour.subscribe, neighbour.talkNonsense] {
      attack(deed)
    }
    var peak = before
    try pass(4 * share) { number in
      let now = ProcessFigures(of: process)
      if now.memory > peak.memory { peak = now }
      if number.isMultiple(of: 10) { try enqueueForServer() }
      if getuid() == 0, number.isMultiple(of: 2) { comeAsAnother() }
    }
    let siege = innocent.takeFigures()
    neighbour.stop()
    let problems = try compare()
    innocent.stop()
    // What neighbours asked before they left is still carried out.
    try? eventually("what neighbours asked is done", within: .seconds(120)) { try self.share(of: 1) < 0.5 }
    try enqueueForServer()
    let serversShare = try self.share(of: share)
    server.stop()
    // Memory is given back a moment after the last connection that did not read has gone.
    let limit = before.memory + (64 << 10)
    try? eventually("memory is given back") { ProcessFigures(of: process).memory < limit }
    let lines = daemon.process?.errors.split(separator: "\n").count ?? 0
    return Outcome(
      problems: problems, acknowledged: writers.reduce(0) { $0 + $1.count }, requests: server.count,
      connections: neighbour.count, quiet: quiet, siege: siege, before: before, peak: peak,
      after: ProcessFigures(of: process), serversShare: serversShare, logLines: lines)
  }

  /// Of one processor, what the daemon takes in so many seconds.
  private func share(of seconds: Double) throws -> Double {
    let (start, begun) = (ProcessFigures(of: process), ContinuousClock.now)
    try pass(seconds) { _ in }
    return (ProcessFigures(of: process).processorTime - start.processorTime)
      / ((ContinuousClock.now - begun) / .seconds(1))
  }

  /// Lets so many seconds pass, and calls `body` five times in each.
  private func pass(_ seconds: Double, _ body: (Int) throws -> Void) throws {
    let end = ContinuousClock.now + .seconds(seconds)
    var number = 0
    while ContinuousClock.now < end {
      if let refusal = writers.compactMap(\.refusal).first { throw NeverHappened(description: "Refused: \(refusal)") }
      try body(number)
      number += 1
      usleep(200_000)
    }
  }

  /// Gives each hostile provider a grant to refresh, and the hostile API items.
  private func putServersToWork() throws {
    for trick in HostileServer.Trick.allCases {
      try line.call(
        "session.import",
        [
          "account": .string(trick.rawValue), "accessToken": "at_0123456789abcdef",
          "refreshToken": "rt_0123456789abcdef",
          "expiresIn": 2,
        ])
    }
    let grant = try sandbox.grant()
    try line.call("session.import", ["account": "api", "refreshToken": .string(grant.refreshToken)])
    try enqueueForServer()
  }

  private func enqueueForServer() throws {
    for trick in HostileServer.Trick.allCases {
      let url = "\(server.url)/api/\(trick.rawValue)"
      try line.call("outbox.enqueue", daemon.draft("x", to: url, account: "api", ["unordered": true]))
    }
  }

  /// A process of another user that connects; the daemon closes without a word, and hearthctl would say nothing to it.
  private func comeAsAnother() {
    _ = try? environment.hearthctl(["status", "--timeout", "1", "--socket", daemon.socket], user: 65_534)
    environment.forgetEnded()
  }

  /// Goes on as long as fewer are left each time.
  private func flush() throws -> JSON {
    var left = Int.max
    while true {
      let stats = try line.call("outbox.flush", ["account": "work", "timeoutSeconds": 20])
      let still = ["pending", "inFlight", "waiting"].reduce(0) { $0 + (stats[$1]?.int ?? 0) }
      if still == 0 || still >= left { return stats }
      left = still
    }
  }

  /// Lets the good account's items be delivered and compares them with what its API did.
  private func compare() throws -> [String] {
    writers.forEach { $0.pause() }
    try eventually("clients rest", within: .seconds(60)) { writers.allSatisfy(\.isResting) }
    var problems: [String] = []
    let stats = try flush()
    for state in ["pending", "inFlight", "waiting", "held", "dead"] where stats[state] != 0 {
      problems.append("After a flush there are \(state) items: \(stats)")
    }
    var effects: [String: [Int]] = [:]
    for body in try sandbox.written {
      let words = body.split(separator: " ")
      guard words.count == 2, let number = Int(words[1]) else {
        problems.append("Nobody wrote \(body)")
        continue
      }
      effects[String(words[0]), default: []].append(number)
    }
    for writer in writers { problems += writer.problems(in: effects.removeValue(forKey: writer.name) ?? []) }
    if !effects.isEmpty { problems.append("Nobody wrote \(effects)") }
    return problems
  }
}

/// One connection that is kept for all calls.
private final class ControlLine {
  private var client: ControlClient

  init(path: String) throws { client = try ControlClient(path: path) }

  @discardableResult
  func call(_ method: String, _ params: JSONObject) throws -> JSON { try client.call(method, params) }
}
