import ArgumentParser

/// Measures what Hearth costs, as ratios within one run (see BENCHMARKS.md).
@main
struct Bench: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "hearth-bench",
    abstract: "Measure what Hearth costs, as ratios within one run.",
    subcommands: [Drain.self, Calls.self, StalledReaders.self, Accounts.self, OutboxScale.self, Processes.self])
}
