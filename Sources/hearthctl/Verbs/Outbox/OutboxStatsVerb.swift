import ArgumentParser
import HearthControl

struct OutboxStatsVerb: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "stats", abstract: "Count the items.")

  @OptionGroup var daemonOptions: DaemonOptions

  @Argument(help: "One account; all of them without.")
  var account: String?

  func run() throws {
    var daemon = try daemonOptions.connect()
    let json = try daemon.call(.outboxGetStats, JSONObject(given: ["account": account.map(JSON.string)]))
    guard let stats = OutboxStatsReport(json: json) else { throw CommandFailure.notUnderstood("outbox.getStats") }
    daemonOptions.output.show(json) { Self.text(stats) }
  }

  static func text(_ stats: OutboxStatsReport) -> String {
    let counts = [
      ("pending", stats.pending), ("in flight", stats.inFlight), ("waiting", stats.waiting), ("held", stats.held),
      ("delivered", stats.delivered), ("dead", stats.dead), ("bytes", stats.bytes),
    ]
    var lines = counts.map { $0.padded(to: 11) + "\($1)" }
    if let oldest = stats.oldestPendingAt.flatMap({ Moment($0) }) {
      lines.append("oldest".padded(to: 11) + oldest.relative(to: .now))
    }
    if stats.paused { lines.append("paused".padded(to: 11) + (stats.pausedReason ?? "yes")) }
    return lines.joined(separator: "\n")
  }
}
