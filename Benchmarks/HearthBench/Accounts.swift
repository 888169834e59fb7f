import ArgumentParser
import Glibc
import HearthClient
import HearthControl

/// Measures the cost of many accounts.
struct Accounts: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Compare enqueueing and delivering with 200 accounts and with 1, and measure the start with 1,000.")

  @Option(help: "Number of measurements of each.")
  var rounds = 7

  @OptionGroup var place: Place

  func run() async throws {
    try await delivery()
    try await start()
  }

  private func delivery() async throws {
    let benches = [try await Workbench(in: place.folder), try await Workbench(in: place.folder, accounts: 199)]
    var samples = [Sample(), Sample()]
    for round in 0...rounds {
      for (side, bench) in benches.enumerated() {
        var client = try ControlClient(path: bench.daemon.socket)
        let draft = bench.draft(lane: "lane")
        let start = ContinuousClock.now
        for _ in 0..<500 { _ = try client.call(Enqueue.name, draft) }
        try bench.drain()
        if round > 0 { samples[side].add((ContinuousClock.now - start) / 500) }
      }
    }
    print(Table.line("median of \(rounds)", "1 account", "200 accounts", "ratio"))
    print(
      Table.line(
        "enqueue and deliver an item", Table.microseconds(samples[0].median), Table.microseconds(samples[1].median),
        Table.ratio(samples[1].median, to: samples[0].median)))
    for bench in benches { try await bench.stop() }
  }

  /// Measures the time from the daemon's start until it has read all signed-in accounts, and the cost of `hearthctl
  /// status` for other clients.
  private func start() async throws {
    let bench = try await Workbench(in: place.folder, accounts: 999)
    try bench.daemon.restart()
    var client = try ControlClient(path: bench.daemon.socket)
    while try client.call(ListSessions.name)["sessions"]?.array?.allSatisfy({ $0["state"] == "authenticated" }) != true
    {}
    let settled = ContinuousClock.now - bench.daemon.startedAt
    print("1,000 accounts, from start to settled: \(Table.milliseconds(settled)), \(bench.daemon.processorTime) of CPU")
    var status = Sample()
    for _ in 0..<20 {
      try await status.time {
        let code = try Program(
          "\(Program.folder)/hearthctl", ["status", "--socket", bench.daemon.socket], environment: ["HOME": "/"]
        ).wait()
        guard code == 0 else { throw BenchFailure(description: "hearthctl status ended with \(code).") }
      }
    }
    print("1,000 accounts, hearthctl status: \(Table.milliseconds(status.median)), median of 20")
    try await bench.stop()
  }
}
