import ArgumentParser
import Glibc
import HearthControl

/// How fast what lies in the outbox is delivered, and what that costs.
struct Drain: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Delivery against a loop that sends the same requests and keeps nothing.")

  @Option(help: "How many items the outbox is to drain.")
  var items = 5000

  @Option(help: "How often it drains them.")
  var drains = 5

  @OptionGroup var place: Place

  func run() async throws {
    let bench = try await Workbench(in: place.folder)
    try await compare(bench)
    try await bench.stop()
    try await countCommits()
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
    /// Of hearthd, for all items.
    var processorTime = Sample()
  }

  private func compare(_ bench: Workbench) async throws {
    var contests = [
      Contest(name: "unordered, 8 at once", lanes: 0, atOnce: 8, items: items),
      Contest(name: "20 lanes, 20 at once", lanes: 20, atOnce: 20, items: items),
      Contest(name: "one lane", lanes: 1, atOnce: 1, items: items),
      Contest(name: "one lane, an API that takes 50 ms", lanes: 1, atOnce: 1, items: min(items, 100), delay: 0.05),
    ]
    for round in 0...drains {
      for index in contests.indices {
        let contest = contests[index]
        try bench.fill(contest.items, lanes: contest.lanes)
        try await bench.sandbox.setDelay(contest.delay)
        let before = bench.daemon.processorTime
        let duration = try bench.drain()
        let processorTime = bench.daemon.processorTime - before
        let bare = try await bench.sandbox.drain(
          contest.items, atOnce: contest.atOnce, token: bench.token, round: "\(index)-\(round)")
        // The first round warms up.
        guard round > 0 else { continue }
        contests[index].outbox.add(duration)
        contests[index].processorTime.add(processorTime)
        contests[index].bare.add(bare)
      }
    }
    print(Table.line("requests a second, median of \(drains)", "bare loop", "outbox", "ratio", "CPU an item"))
    for contest in contests {
      let rates = [contest.bare, contest.outbox].map { "\(Int(Double(contest.items) / ($0.median / .seconds(1))))" }
      print(
        Table.line(
          contest.name, rates[0], rates[1], Table.ratio(contest.bare.median, to: contest.outbox.median),
          Table.microseconds(contest.processorTime.median / contest.items)))
    }
  }

  /// Of a daemon that strace(1) watches, which is slower: counted, not timed.
  private func countCommits() async throws {
    guard access(RunningDaemon.strace, X_OK) == 0 else {
      return print("fdatasync: not counted, for \(RunningDaemon.strace) is not installed.")
    }
    let bench = try await Workbench(in: place.folder, isCounted: true)
    print(Table.line("fdatasync for \(2 * items) items drained", "count"))
    for (name, lanes) in [("unordered", 0), ("20 lanes", 20), ("one lane", 1)] {
      try bench.fill(2 * items, lanes: lanes)
      let before = bench.daemon.syncs
      try bench.drain()
      print(Table.line(name, "\(bench.daemon.syncs - before)"))
    }
    try await bench.stop()
  }
}
