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
    try daemon.call(.sessionImport, ["account": "work", "refreshToken": .string(grant.refreshToken)])
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

  /// The outbox against a loop that sends the same requests, as many at once, and keeps nothing.
  private func draining(_ daemon: RunningDaemon, _ sandbox: BenchSandbox, token: String) async throws {
    var bare = Sample()
    var outbox = (unordered: Sample(), lanes: Sample())
    for round in 0...drains {
      var durations: [Duration] = []
      for isUnordered in [true, false] {
        try fill(daemon, sandbox.url, isUnordered: isUnordered)
        let start = ContinuousClock.now
        try daemon.call(.outboxResume, ["account": "work"])
        let stats = try daemon.call(
          .outboxFlush, ["account": "work", "timeoutSeconds": 300], within: .seconds(310))
        durations.append(ContinuousClock.now - start)
        guard stats["pending"] == 0, stats["inFlight"] == 0, stats["waiting"] == 0, stats["dead"] == 0 else {
          throw BenchFailure(description: "The outbox is not drained: \(stats)")
        }
      }
      durations.append(try await sandbox.drain(items, atOnce: 8, token: token, round: round))
      // The first round warms up.
      guard round > 0 else { continue }
      outbox.unordered.add(durations[0])
      outbox.lanes.add(durations[1])
      bare.add(durations[2])
    }
    print(Table.line("median of \(drains), \(items) requests", "a second", "ratio"))
    for (name, sample) in [
      ("bare loop, 8 at once", bare), ("outbox, unordered", outbox.unordered), ("outbox, 20 lanes", outbox.lanes),
    ] {
      print(
        Table.line(
          name, "\(Int(Double(items) / (sample.median / .seconds(1))))", Table.ratio(bare.median, to: sample.median)))
    }
  }

  private func fill(_ daemon: RunningDaemon, _ url: String, isUnordered: Bool) throws {
    try daemon.call(.outboxPause, ["account": "work"])
    var left = items
    while left > 0 {
      let number = min(left, 500)
      left -= number
      let drafts: [JSON] = (0..<number).map { index in
        [
          "account": "work", "method": "POST", "url": .string(url + "/api/notes"), "body": .string(BenchSandbox.body),
          "lane": .string("lane \(index % 20)"), "unordered": .bool(isUnordered),
        ]
      }
      try daemon.call(.outboxEnqueueMany, ["items": .array(drafts)])
    }
  }
}
