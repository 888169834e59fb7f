import ArgumentParser
import Glibc
import HearthControl

/// Measures the speed and the cost of delivering the outbox.
struct Drain: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Compare delivery with a loop that sends the same requests and stores nothing.")

  @Option(help: "Number of items to deliver.")
  var items = 5000

  @Option(help: "Number of deliveries of all items.")
  var drains = 5

  @OptionGroup var place: Place

  func run() async throws {
    let bench = try await Workbench(in: place.folder)
    try await compare(bench)
    try await bench.stop()
    try await countCommits()
  }

  /// A comparison of waiting items in `lanes` lanes (0 for unordered) with a loop that sends the same requests with the
  /// same concurrency and stores nothing.
  private struct Contest {
    let name: String
    let lanes: Int
    let atOnce: Int
    var items: Int
    /// The time that the API takes to answer, in seconds.
    var delay = 0.0
    var bare = Sample()
    var outbox = Sample()
    /// The processor time of hearthd for all items.
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
        // The first round is a warm-up.
        guard round > 0 else { continue }
        contests[index].outbox.add(duration)
        contests[index].processorTime.add(processorTime)
        contests[index].bare.add(bare)
      }
    }
    print(Table.line("requests a second, median of \(drains)", "bare loop", "outbox", "ratio", "CPU per item"))
    for contest in contests {
      let rates = [contest.bare, contest.outbox].map { "\(Int(Double(contest.items) / ($0.median / .seconds(1))))" }
      print(
        Table.line(
          contest.name, rates[0], rates[1], Table.ratio(contest.bare.median, to: contest.outbox.median),
          Table.microseconds(contest.processorTime.median / contest.items)))
    }
  }

  /// Counts the calls of fdatasync(2) of a daemon under strace(1). That is slower, so it is not timed.
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
