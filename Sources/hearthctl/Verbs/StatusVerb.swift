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
    if watch { return try self.watch(&daemon) }
    let look = try look(&daemon)
    show(look)
    guard look.status == .done else { throw CommandFailure(look.status, nil) }
  }

  /// The sessions at one time: for people, as JSON, and what they are to scripts.
  private struct Look {
    let text: String
    let json: JSON
    let status: ExitStatus
  }

  private func look(_ daemon: inout ControlClient) throws -> Look {
    let sessions: [SessionStatus]
    let json: JSON
    if let account = try choice.name {
      let reply = try daemon.call(GetSession(account))
      (sessions, json) = ([reply.value], reply.json)
    } else {
      let reply = try daemon.call(ListSessions())
      (sessions, json) = (reply.value.sessions, reply.json)
    }
    var blocks: [String] = []
    for session in sessions where !daemonOptions.json {
      let outbox = try daemon.outboxStats(of: session.account)
      let bar = Output.isTerminal ? (width: 40, hasBlocks: Screen.isUTF8(variable)) : nil
      blocks.append(StatusBlock(session: session, outbox: outbox, now: .now, paint: .standard, bar: bar).text)
    }
    if sessions.isEmpty { blocks = ["There are no accounts in the configuration."] }
    return Look(
      text: blocks.joined(separator: "\n\n"), json: json, status: ExitStatus.worst(sessions.map { ExitStatus($0) }))
  }

  private func show(_ look: Look) {
    if daemonOptions.json { daemonOptions.output.json(look.json) } else { daemonOptions.output.painted(look.text) }
  }

  /// Prints now and at every change, until the daemon stops. On a terminal each print takes the place of the one before,
  /// its times stay current, and Ctrl-C ends it.
  private func watch(_ daemon: inout ControlClient) throws {
    if Output.isTerminal, !daemonOptions.json {
      return try LiveScreen.run { screen in
        try follow(&daemon, looking: .seconds(1)) { screen.draw($0.text) }
      }
    }
    try follow(&daemon, looking: nil) { look in
      show(look)
      if !daemonOptions.json { daemonOptions.output.line("") }
    }
  }

  /// Looks now, at every change, and as often as `looking` says; returns when it is interrupted.
  private func follow(
    _ daemon: inout ControlClient, looking: Duration?, _ body: (Look) -> Void
  ) throws {
    while true {
      _ = try daemon.call(Subscribe(account: try choice.name))
      var isSubscribed = true
      while isSubscribed {
        body(try look(&daemon))
        let deadline = looking.map { ContinuousClock.now + $0 }
        var next: HearthControl.Notification?
        repeat {
          if Interruption.hasCome { return }
          next =
            looking == nil ? try daemon.awaitNotification() : try daemon.awaitNotification(within: LiveScreen.step)
        } while next == nil && deadline.map { ContinuousClock.now < $0 } ?? true
        // Events that come together are shown together.
        while let notification = next {
          if notification.event == .eventsClosed { isSubscribed = false }
          next = try daemon.awaitNotification(within: .milliseconds(50))
        }
      }
    }
  }
}
