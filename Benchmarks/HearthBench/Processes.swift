import ArgumentParser
import Glibc
import HearthControl

/// Measures the daemon's memory, and the cost of hearthctl as a process.
struct Processes: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "processes", abstract: "Measure the memory of the idle daemon, and compare hearthctl with /bin/true.")

  @Option(help: "Number of processes to start.")
  var processes = 200

  @OptionGroup var place: Place

  func run() async throws {
    let bench = try await Workbench(in: place.folder)
    await memory(of: bench.daemon)
    try await commandLine(bench.daemon)
    try await bench.stop()
  }

  /// Measures the memory of a signed-in daemon that has been idle for a while.
  private func memory(of daemon: RunningDaemon) async {
    try? await ContinuousClock().sleep(for: .seconds(5))
    let status = Scratch.read("/proc/\(daemon.pid)/status")
    for field in ["VmRSS", "RssAnon", "RssFile", "Threads"] {
      let line = status.split(separator: "\n").first { $0.hasPrefix(field + ":") }
      print("idle hearthd:", line.map { $0.split(whereSeparator: \.isWhitespace).joined(separator: " ") } ?? field)
    }
  }

  private func commandLine(_ daemon: RunningDaemon) async throws {
    let commands = [
      ("/bin/true", [String]()), ("\(Program.folder)/hearthctl", ["--version"]),
      ("\(Program.folder)/hearthctl", ["token", "work", "--socket", daemon.socket]),
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
}
