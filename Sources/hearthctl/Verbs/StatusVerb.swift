import ArgumentParser
import HearthControl

struct StatusVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Say how the sessions are; the exit status is that of the worst.")

  @OptionGroup var daemonOptions: DaemonOptions

  @Argument(help: "One account; all of them without.")
  var account: String?

  @Flag(help: "Go on and print again whenever something changes.")
  var watch = false

  func run() throws {
    var daemon = try daemonOptions.connect()
    if watch { try self.watch(&daemon) }
    let status = try report(&daemon)
    guard status == .done else { throw CommandFailure(status, nil) }
  }

  /// Prints once.
  private func report(_ daemon: inout Daemon) throws -> ExitStatus {
    let json = try daemon.call(
      account == nil ? .sessionList : .sessionGet, JSONObject(given: ["account": account.map(JSON.string)]))
    let sessions =
      account == nil
      ? try Daemon.sessions(json, from: .sessionList) : [try Daemon.session(json, from: .sessionGet)]
    if daemonOptions.json {
      daemonOptions.output.json(json)
    } else if sessions.isEmpty {
      daemonOptions.output.line("There are no accounts in the configuration.")
    } else {
      var blocks: [String] = []
      for session in sessions {
        let stats = try daemon.attempt(.outboxGetStats, ["account": .string(session.account)])
        let outbox = (try? stats.get()).flatMap { OutboxStatsReport(json: $0) }
        blocks.append(StatusBlock(session: session, outbox: outbox, now: .now, paint: .standard).text)
      }
      daemonOptions.output.line(blocks.joined(separator: "\n\n"))
    }
    return ExitStatus.worst(sessions.map { ExitStatus($0) })
  }

  /// Prints now and at every change, until the daemon stops. On a terminal each report takes the place of the one
  /// before, and the times in it are kept up.
  private func watch(_ daemon: inout Daemon) throws -> Never {
    let isScreen = Output.isTerminal && !daemonOptions.json
    while true {
      _ = try daemon.call(.eventsSubscribe, JSONObject(given: ["account": account.map(JSON.string)]))
      var isSubscribed = true
      while isSubscribed {
        if isScreen { Output.clearScreen() }
        _ = try report(&daemon)
        if !isScreen, !daemonOptions.json { daemonOptions.output.line("") }
        var next = try daemon.nextNotification(within: isScreen ? .seconds(10) : nil)
        // What comes at once is told at once.
        while let notification = next {
          if notification.method == Event.eventsClosed.rawValue { isSubscribed = false }
          next = try daemon.nextNotification(within: .milliseconds(50))
        }
      }
    }
  }
}
