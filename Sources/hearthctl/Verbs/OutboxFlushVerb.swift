import ArgumentParser
import HearthClient
import HearthControl
import HearthCore

struct OutboxFlushVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "flush", abstract: FlushOutbox.summary,
    discussion: """
      Waits up to --timeout seconds (default 30). Exits with 5 if items are left to send. For example:

        hearthctl outbox flush work --timeout 120
      """)

  @OptionGroup var daemonOptions: DaemonOptions
  @OptionGroup var choice: OutboxAccount

  /// How long to wait for the daemon's answer after the timeout has passed.
  private static let grace: Duration = .seconds(5)

  func run() throws {
    // Round up to whole seconds, because the call does not support fractions.
    let limit = Duration.seconds((daemonOptions.timeout ?? 30).rounded(.up))
    var daemon = try ControlClient(path: daemonOptions.socketPath, timeout: limit + Self.grace)
    let start = ContinuousClock.now
    let account = try choice.name(&daemon)
    let call = FlushOutbox(account, timeout: limit)
    let reply = ProgressLine.isShown ? try showingProgress(call, &daemon) : try daemon.call(call)
    let left = reply.value.toSend
    daemonOptions.output.show(reply.json) { left == 0 ? "Nothing is left to send." : OutboxStatsVerb.text(reply.value) }
    guard left == 0 else {
      let reasons = try paused(account, &daemon)
      let isOver = ContinuousClock.now - start >= limit
      let waits = "the next attempt is not due yet" + (reply.value.held > 0 ? " or a held item blocks the lane" : "")
      let rest = isOver ? "the time limit was reached" : waits
      let reason = reasons.isEmpty ? rest : reasons.joined(separator: " and ")
      throw CommandFailure(.later, "\(left) \(left == 1 ? "item was" : "items were") not sent, because \(reason).")
    }
  }

  private func showingProgress(_ call: FlushOutbox, _ daemon: inout ControlClient) throws -> Reply<OutboxStats> {
    let begun = try daemon.begin(call)
    let hasBlocks = Screen.isUTF8(variable)
    let deadline = ContinuousClock.now + daemon.timeout
    var total = 0
    defer { ProgressLine.clear() }
    while true {
      let left = try daemon.call(GetOutboxStats(call.account)).value.toSend
      // Count newly queued items too.
      total = max(total, left)
      ProgressLine.show("Sending " + ProgressLine.bar(total - left, of: total, hasBlocks: hasBlocks))
      if let reply = try daemon.response(to: begun, within: LiveScreen.step) { return reply }
      guard ContinuousClock.now < deadline else { throw ControlClient.Failure.timedOut(after: daemon.timeout) }
    }
  }

  /// Returns a phrase with the reason for each paused outbox with items to send. The command does not wait for them.
  private func paused(_ chosen: AccountName?, _ daemon: inout ControlClient) throws -> [String] {
    var reasons: [String] = []
    for account in try chosen.map({ [$0] }) ?? daemon.call(ListSessions()).value.sessions.map(\.account) {
      let stats = try daemon.call(GetOutboxStats(account)).value
      guard stats.isPaused, stats.toSend > 0 else { continue }
      reasons.append("the outbox of \(account) is paused\(stats.pausedReason.map { " (\($0))" } ?? "")")
    }
    return reasons
  }
}

extension OutboxStats {
  /// The number of items that still have to be sent, without held items.
  fileprivate var toSend: Int { pending + inFlight + waiting }
}
