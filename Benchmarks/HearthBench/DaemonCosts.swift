import ArgumentParser
import Glibc
import HearthControl

/// What the daemon and the command line cost: memory, a call as a whole process, and draining the outbox.
struct DaemonCosts: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "daemon", abstract: "Memory of the idle daemon, cost of the command line, speed of the outbox.")

  @Option(help: "How often a process is started.")
  var processes = 200

  @Option(help: "How many items the outbox is to drain.")
  var items = 5000

  @Option(help: "How often it drains them.")
  var drains = 5

  @Option(help: "The folder, on the disk that is to be measured, in which the state is kept.")
  var folder = "/var/tmp"

  func run() async throws {
    let scratch = try Scratch(in: folder)
    let sandbox = try BenchSandbox(in: scratch.makeFolder("sandbox"))
    let home = scratch.makeFolder("daemon")
    let daemon = try RunningDaemon(folder: home, configuration: configuration(of: sandbox))
    let grant = try await sandbox.grant()
    try daemon.call(ImportGrant.name, ["account": "work", "refreshToken": .string(grant.refreshToken)])
    await memory(of: daemon)
    try await commandLine(daemon)
    try await draining(daemon, sandbox, token: grant.accessToken)
    daemon.stop()
    try await sandbox.stop()
  }

  private func configuration(of sandbox: BenchSandbox) -> String {
    """
    [accounts.work]
    type = "oidc"
    issuer = "\(sandbox.url)"
    client_id = "bench"
    api_origins = ["\(sandbox.url)"]

    """
  }

  /// Signed in, and with nothing to do for a while.
  private func memory(of daemon: RunningDaemon) async {
    try? await ContinuousClock().sleep(for: .seconds(5))
    let status = Scratch.read("/proc/\(daemon.program.pid)/status")
    for field in ["VmRSS", "RssAnon", "RssFile", "Threads"] {
      let line = status.split(separator: "\n").first { $0.hasPrefix(field + ":") }
      print("idle hearthd:", line.map { $0.split(whereSeparator: \.isWhitespace).joined(separator: " ") } ?? field)
    }
  }

  private func commandLine(_ daemon: RunningDaemon) async throws {
    let commands = [
      ("/bin/true", [String]()), ("\(Program.folder)/hearthctl", ["--version"]),
      ("\(Program.folder)/hearthctl", ["status", "--socket", daemon.socket]),
    ]
    var samples = commands.map { _ in Sample() }
    for round in 0..<processes + processes / 10 {
      for (index, (path, arguments)) in commands.enumerated() {
        let start = ContinuousClock.now
        let status = try Program(path, arguments, environment: ["HOME": "/"]).wait()
        if round >= processes / 10 { samples[index].add(ContinuousClock.now - start) }
        guard status == 0 else { throw BenchFailure(description: "\(path) \(arguments) ended with \(status).") }
      }
    }
    print(Table.line("median of \(processes) processes", "time", "ratio"))
    for ((path, arguments), sample) in zip(commands, samples) {
      let name = ([path.split(separator: "/").last.map(String.init) ?? path] + arguments.prefix(1))
      print(
        Table.line(
          name.joined(separator: " "), Table.microseconds(sample.median),
          Table.ratio(sample.median, to: samples[0].median)))
    }
  }

  /// Items that wait in some lanes (none: unordered), and a loop that sends the same requests, as many at once, and
  /// keeps nothing.
  private struct Contest {
    let name: String
    let lanes: Int
    let atOnce: Int
    var items: Int
    /// How long the API takes.
    var delay = 0.0
    var bare = Sample()
    var outbox = Sample()
  }

  private func draining(_ daemon: RunningDaemon, _ sandbox: BenchSandbox, token: String) async throws {
    var contests = [
      Contest(name: "unordered, 8 at once", lanes: 0, atOnce: 8, items: items),
      Contest(name: "20 lanes, 8 at once", lanes: 20, atOnce: 8, items: items),
      Contest(name: "one lane", lanes: 1, atOnce: 1, items: items),
      Contest(name: "one lane, an API that takes 50 ms", lanes: 1, atOnce: 1, items: 100, delay: 0.05),
    ]
    for round in 0...drains {
      for index in contests.indices {
        let contest = contests[index]
        try fill(daemon, sandbox.url, contest)
        try await sandbox.setDelay(contest.delay)
        let start = ContinuousClock.now
        try daemon.call(ResumeOutbox.name, ["account": "work"])
        let stats = try daemon.call(
          FlushOutbox.name, ["account": "work", "timeoutSeconds": 300], within: .seconds(310))
        let duration = ContinuousClock.now - start
        guard stats["pending"] == 0, stats["inFlight"] == 0, stats["waiting"] == 0, stats["dead"] == 0 else {
          throw BenchFailure(description: "The outbox is not drained: \(stats)")
        }
        let bare = try await sandbox.drain(
          contest.items, atOnce: contest.atOnce, token: token, round: "\(index)-\(round)")
        // The first round warms up.
        guard round > 0 else { continue }
        contests[index].outbox.add(duration)
        contests[index].bare.add(bare)
      }
    }
    print(Table.line("requests a second, median of \(drains)", "bare loop", "outbox", "ratio"))
    for contest in contests {
      let rates = [contest.bare, contest.outbox].map { "\(Int(Double(contest.items) / ($0.median / .seconds(1))))" }
      let ratio = Table.ratio(contest.bare.median, to: contest.outbox.median)
      print(Table.line(contest.name, rates[0], rates[1], ratio))
    }
  }

  private func fill(_ daemon: RunningDaemon, _ url: String, _ contest: Contest) throws {
    try daemon.call(PauseOutbox.name, ["account": "work"])
    var left = contest.items
    while left > 0 {
      let number = min(left, 500)
      left -= number
      let drafts: [JSON] = (0..<number).map { index in
        [
          "account": "work", "method": "POST", "url": .string(url + "/api/notes"), "body": .string(BenchSandbox.body),
          "lane": .string("lane \(index % max(contest.lanes, 1))"), "unordered": .bool(contest.lanes == 0),
        ]
      }
      try daemon.call(EnqueueMany.name, ["items": .array(drafts)])
    }
  }
}
