import ArgumentParser
import HearthControl
import HearthCore

struct StatusVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Show the status of the sessions; the exit status is that of the worst.")

  @OptionGroup var daemonOptions: DaemonOptions
  @OptionGroup var choice: AccountChoice

  @Flag(help: "Go on and print again whenever something changes.")
  var watch = false

  func run() throws {
    var daemon = try daemonOptions.connect(patience: ControlClient.shortPatience)
    if watch { try self.watch(&daemon) }
    let status = try printStatus(&daemon)
    guard status == .done else { throw CommandFailure(status, nil) }
  }

  /// Prints once.
  private func printStatus(_ daemon: inout ControlClient) throws -> ExitStatus {
    let sessions: [SessionStatus]
    let json: JSON
    if let account = try choice.name {
      let reply = try daemon.call(GetSession(account))
      (sessions, json) = ([reply.value], reply.json)
    } else {
      let reply = try daemon.call(ListSessions())
      (sessions, json) = (reply.value.sessions, reply.json)
    }
    if daemonOptions.json {
      daemonOptions.output.json(json)
    } else if sessions.isEmpty {
      daemonOptions.output.line("There are no accounts in the configuration.")
    } else {
      var blocks: [String] = []
      for session in sessions {
        let outbox = try daemon.outboxStats(of: session.account)
        blocks.append(StatusBlock(session: session, outbox: outbox, now: .now, paint: .standard).text)
      }
      daemonOptions.output.painted(blocks.joined(separator: "\n\n"))
    }
    return ExitStatus.worst(sessions.map { ExitStatus($0) })
  }

  /// Prints now and at every change, until the daemon stops. On a terminal each print takes the place of the one before,
  /// and its times stay current.
  private func watch(_ daemon: inout ControlClient) throws -> Never {
    let isScreen = Output.isTerminal && !daemonOptions.json
    while true {
      _ = try daemon.call(Subscribe(account: try choice.name))
      var isSubscribed = true
      while isSubscribed {
        if isScreen { Output.clearScreen() }
        _ = try printStatus(&daemon)
        if !isScreen, !daemonOptions.json { daemonOptions.output.line("") }
        var next = isScreen ? try daemon.awaitNotification(within: .seconds(10)) : try daemon.awaitNotification()
        // Events that come together are printed together.
        while let notification = next {
          if notification.event == .eventsClosed { isSubscribed = false }
          next = try daemon.awaitNotification(within: .milliseconds(50))
        }
      }
    }
  }
}
