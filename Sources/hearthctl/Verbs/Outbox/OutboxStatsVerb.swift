import ArgumentParser
import HearthControl
import HearthCore

struct OutboxStatsVerb: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "stats", abstract: GetOutboxStats.summary)

  @OptionGroup var daemonOptions: DaemonOptions
  @OptionGroup var choice: AccountChoice

  func run() throws {
    var daemon = try daemonOptions.connect()
    let reply = try daemon.call(GetOutboxStats(try choice.name))
    daemonOptions.output.show(reply.json) { Self.text(reply.value) }
  }

  static func text(_ stats: OutboxStats) -> String {
    let counts = [
      ("pending", stats.pending), ("in flight", stats.inFlight), ("waiting", stats.waiting), ("held", stats.held),
      ("delivered", stats.delivered), ("dead", stats.dead), ("bytes", stats.bytes),
    ]
    var lines = counts.map { $0.padded(to: 11) + "\($1)" }
    if let oldest = stats.oldestPendingAt { lines.append("oldest".padded(to: 11) + oldest.relative(to: .now)) }
    if stats.isPaused { lines.append("paused".padded(to: 11) + (stats.pausedReason ?? "yes")) }
    return lines.joined(separator: "\n")
  }
}
