import HearthControl
import HearthCore

/// What `status` is asked for.
struct StatusCall: PlainCall {
  /// Nil for all of them.
  let account: String?
  let watch: Bool
  let daemon: DaemonChoice

  func validate() {}

  func run() throws {
    var client = try daemon.connect(patience: ControlClient.shortPatience)
    if watch { try self.watch(&client) }
    let status = try printStatus(&client)
    guard status == .done else { throw CommandFailure(status, nil) }
  }

  /// Prints once.
  private func printStatus(_ client: inout ControlClient) throws -> ExitStatus {
    let sessions: [SessionStatus]
    let json: JSON
    if let account = try AccountName.asked(account) {
      let reply = try client.call(GetSession(account))
      (sessions, json) = ([reply.value], reply.json)
    } else {
      let reply = try client.call(ListSessions())
      (sessions, json) = (reply.value.sessions, reply.json)
    }
    if daemon.json {
      daemon.output.json(json)
    } else if sessions.isEmpty {
      daemon.output.line("There are no accounts in the configuration.")
    } else {
      var blocks: [String] = []
      for session in sessions {
        let outbox = try client.outboxStats(of: session.account)
        blocks.append(StatusBlock(session: session, outbox: outbox, now: .now, paint: .standard).text)
      }
      daemon.output.painted(blocks.joined(separator: "\n\n"))
    }
    return ExitStatus.worst(sessions.map { ExitStatus($0) })
  }

  /// Prints now and at every change, until the daemon stops. On a terminal each print takes the place of the one before,
  /// and its times stay current.
  private func watch(_ client: inout ControlClient) throws -> Never {
    let isScreen = Output.isTerminal && !daemon.json
    while true {
      _ = try client.call(Subscribe(account: try AccountName.asked(account)))
      var isSubscribed = true
      while isSubscribed {
        if isScreen { Output.clearScreen() }
        _ = try printStatus(&client)
        if !isScreen, !daemon.json { daemon.output.line("") }
        var next = isScreen ? try client.awaitNotification(within: .seconds(10)) : try client.awaitNotification()
        // Events that come together are printed together.
        while let notification = next {
          if notification.event == .eventsClosed { isSubscribed = false }
          next = try client.awaitNotification(within: .milliseconds(50))
        }
      }
    }
  }
}
