import ArgumentParser
import HearthControl

struct OutboxFlushVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "flush", abstract: "Try what waits now, and wait until nothing is left that could be sent.",
    discussion: "Exits 5 where something is left when the time is up.")

  @OptionGroup var daemonOptions: DaemonOptions

  @Argument(help: "One account; all of them without.")
  var account: String?

  @Option(help: ArgumentHelp("How long to wait at most.", valueName: "seconds"))
  var timeout = 30

  func validate() throws {
    guard timeout >= 0 else { throw ValidationError("--timeout is a number of seconds, 0 or more.") }
  }

  func run() throws {
    var daemon = try daemonOptions.connect()
    let start = ContinuousClock.now
    let json = try daemon.call(
      .outboxFlush, JSONObject(given: ["account": account.map(JSON.string), "timeoutSeconds": JSON(timeout)]),
      within: .seconds(timeout + 30))
    guard let stats = OutboxStatsReport(json: json) else { throw CommandFailure.notUnderstood("outbox.flush") }
    let left = stats.pending + stats.inFlight + stats.waiting
    daemonOptions.output.show(json) { left == 0 ? "Nothing is left to send." : OutboxStatsVerb.text(stats) }
    guard left == 0 else {
      let reasons = try paused(&daemon)
      let isOver = ContinuousClock.now - start >= .seconds(timeout)
      let rest = isOver ? "time is up" : "what is left waits for its time"
      let reason = reasons.isEmpty ? rest : reasons.joined(separator: ", ")
      throw CommandFailure(.later, "\(left) \(left == 1 ? "item is" : "items are") left to send: \(reason).")
    }
  }

  /// The accounts whose outboxes hold items back, and why: nobody waited for those.
  private func paused(_ daemon: inout Daemon) throws -> [String] {
    var reasons: [String] = []
    for account in try account.map({ [$0] }) ?? daemon.sessions().map(\.account) {
      let json = try daemon.call(.outboxGetStats, ["account": .string(account)])
      guard let stats = OutboxStatsReport(json: json) else { throw CommandFailure.notUnderstood("outbox.getStats") }
      guard stats.paused, stats.pending + stats.inFlight + stats.waiting > 0 else { continue }
      reasons.append("the outbox of \(account) is paused\(stats.pausedReason.map { " (\($0))" } ?? "")")
    }
    return reasons
  }
}
