import ArgumentParser
import Glibc
import HearthClient
import HearthControl

/// What many accounts cost.
struct Accounts: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Enqueueing and delivering with 200 accounts against 1, and the start with 1,000.")

  @Option(help: "How often each is measured.")
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

  /// From the start of a daemon whose accounts are signed in until each has been read, and what `hearthctl status` of all
  /// costs others.
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
