import ArgumentParser
import CReferences
import Glibc
import HearthControl

/// Measures what subscribers that read nothing cost other clients.
struct StalledReaders: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stalled-readers",
    abstract: "Compare delivery and the duration of a call with 64 subscribers that read nothing, and with none.")

  @Option(help: "Number of measurements of each.")
  var rounds = 9

  @Option(help: "Number of items to deliver each time.")
  var items = 5000

  @OptionGroup var place: Place

  private static let readers = 64
  private static let calls = 10_000

  func run() async throws {
    let bench = try await Workbench(in: place.folder)
    let request = String(
      decoding: Request(id: 1, method: GetToken.name, params: ["account": "work"]).line, as: UTF8.self)
    var samples = [[Sample(), Sample()], [Sample(), Sample()], [Sample(), Sample()]]
    for round in 0...rounds {
      // Alternates, so that neither gets the quieter half of the run.
      for side in round.isMultiple(of: 2) ? [0, 1] : [1, 0] {
        try bench.fill(items, lanes: 20)
        // Hearth closes each subscription when it is 256 events behind. The connection stays open.
        let connections = try (0..<(side == 0 ? 0 : Self.readers)).map { _ in try stalledReader(bench.daemon.socket) }
        defer { for connection in connections { close(connection) } }
        let start = ContinuousClock.now
        try bench.daemon.call(ResumeOutbox.name, ["account": "work"])
        var latencies = [Int](repeating: 0, count: Self.calls)
        guard bench_calls(bench.daemon.socket, request, 1, Int32(Self.calls), &latencies) > 0 else {
          throw BenchFailure(description: "The daemon does not answer.")
        }
        try bench.drain()
        guard round > 0 else { continue }
        latencies.sort()
        samples[0][side].add((ContinuousClock.now - start) / items)
        samples[1][side].add(.nanoseconds(latencies[Self.calls / 2]))
        samples[2][side].add(.nanoseconds(latencies[Self.calls * 99 / 100]))
      }
    }
    print(Table.line("median of \(rounds)", "no reader", "64 stalled", "ratio"))
    print(
      Table.line(
        "items delivered a second", Table.rate(samples[0][0].median), Table.rate(samples[0][1].median),
        Table.ratio(samples[0][0].median, to: samples[0][1].median)))
    for (name, sample) in [("median of a call", samples[1]), ("99th percentile of a call", samples[2])] {
      print(
        Table.line(
          name, Table.microseconds(sample[0].median), Table.microseconds(sample[1].median),
          Table.ratio(sample[1].median, to: sample[0].median)))
    }
    try await bench.stop()
  }

  /// A connection that subscribes to everything and then reads nothing.
  private func stalledReader(_ path: String) throws -> Int32 {
    let connection = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(107)) }
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(connection, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    let line = Request(id: 1, method: Subscribe.name).line
    var answer = [UInt8](repeating: 0, count: 1)
    guard result == 0, send(connection, line, line.count, Int32(MSG_NOSIGNAL)) == line.count,
      recv(connection, &answer, 1, 0) == 1
    else { throw BenchFailure(description: "\(path) takes no subscriber.") }
    return connection
  }
}
