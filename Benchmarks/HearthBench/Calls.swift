import ArgumentParser
import CReferences
import Glibc
import HearthControl

/// Measures the cost of a call over the socket.
struct Calls: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Compare a call for a token with a C program, and enqueueing an item with inserting a row.")

  @Option(help: "Number of measurements of each.")
  var rounds = 9

  @OptionGroup var place: Place

  func run() async throws {
    let bench = try await Workbench(in: place.folder)
    try tokens(bench)
    try enqueueing(bench)
    try await bench.stop()
  }

  private func line(_ method: String, _ params: JSONObject) -> String {
    String(decoding: Request(id: 1, method: method, params: params).line, as: UTF8.self)
  }

  /// The total duration of `count` calls over a number of connections, and the median of one call.
  private func calls(
    _ path: String, _ request: String, connections: Int, count: Int
  ) throws -> (all: Duration, median: Duration) {
    var latencies = [Int](repeating: 0, count: count)
    let all = bench_calls(path, request, Int32(connections), Int32(count), &latencies)
    guard all > 0 else { throw BenchFailure(description: "\(path) does not answer.") }
    return (.nanoseconds(all), .nanoseconds(latencies.sorted()[count / 2]))
  }

  private func tokens(_ bench: Workbench) throws {
    let request = line(GetToken.name, ["account": "work"])
    let echo = bench.daemon.socket + ".echo"
    let process = bench_echo_start(echo, bench_answer_size(bench.daemon.socket, request))
    guard process > 0 else { throw BenchFailure(description: "\(echo) cannot be served.") }
    defer {
      kill(process, SIGKILL)
      waitpid(process, nil, 0)
    }
    var samples = [[Sample(), Sample()], [Sample(), Sample()]]
    for round in 0...rounds {
      for (side, path) in [echo, bench.daemon.socket].enumerated() {
        let alone = try calls(path, request, connections: 1, count: 5000)
        let many = try calls(path, request, connections: 64, count: 20_000)
        // The first round is a warm-up.
        guard round > 0 else { continue }
        samples[0][side].add(alone.median)
        samples[1][side].add(many.all / 20_000)
      }
    }
    print(Table.line("session.getToken, median of \(rounds)", "C echo", "hearthd", "ratio"))
    print(
      Table.line(
        "duration of a call", Table.microseconds(samples[0][0].median), Table.microseconds(samples[0][1].median),
        Table.ratio(samples[0][1].median, to: samples[0][0].median)))
    print(
      Table.line(
        "calls a second, 64 connections", Table.rate(samples[1][0].median), Table.rate(samples[1][1].median),
        Table.ratio(samples[1][0].median, to: samples[1][1].median)))
  }

  private func enqueueing(_ bench: Workbench) throws {
    try bench.daemon.call(PauseOutbox.name, ["account": "work"])
    let request = line(Enqueue.name, bench.draft(lane: "lane"))
    guard let inserts = bench_inserts_open(bench.daemon.socket + ".sqlite") else {
      throw BenchFailure(description: "SQLite cannot make a database.")
    }
    defer { bench_inserts_close(inserts) }
    var samples = [Sample(), Sample(), Sample()]
    for round in 0...rounds {
      let raw = bench_inserts_run(inserts, 500, Int32(request.utf8.count))
      guard raw > 0 else { throw BenchFailure(description: "SQLite cannot insert a row.") }
      let alone = try calls(bench.daemon.socket, request, connections: 1, count: 500)
      let many = try calls(bench.daemon.socket, request, connections: 64, count: 4000)
      guard round > 0 else { continue }
      samples[0].add(.nanoseconds(raw) / 500)
      samples[1].add(alone.all / 500)
      samples[2].add(many.all / 4000)
    }
    print(Table.line("rows and items a second, median of \(rounds)", "SQLite", "hearthd", "ratio"))
    for (name, sample) in [("one caller", samples[1]), ("64 callers", samples[2])] {
      print(
        Table.line(
          "outbox.enqueue, \(name)", Table.rate(samples[0].median), Table.rate(sample.median),
          Table.ratio(samples[0].median, to: sample.median)))
    }
  }
}
