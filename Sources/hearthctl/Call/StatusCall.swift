import HearthClient
import HearthControl
import HearthCore

/// What `status` is asked for.
struct StatusCall: PlainCall {
  /// It is nil for all of them.
  let account: String?
  let watch: Bool
  let daemon: DaemonChoice

  func validate() {}

  func run() throws {
    var client = try daemon.connect(timeout: ControlClient.shortTimeout)
    if watch { return try self.watch(&client) }
    let look = try look(&client)
    show(look)
    guard look.status == .done else { throw CommandFailure(look.status, nil) }
  }

  /// The sessions at one time: for people, as JSON, and what they are to scripts.
  private struct Look {
    let text: String
    let json: JSON
    /// What is wrong around the daemon.
    let warnings: [String]
    let status: ExitStatus
  }

  private func look(_ client: inout ControlClient) throws -> Look {
    let sessions: [SessionStatus]
    let json: JSON
    if let account = try AccountName.asked(account) {
      let reply = try client.call(GetSession(account))
      (sessions, json) = ([reply.value], reply.json)
    } else {
      let reply = try client.call(ListSessions())
      (sessions, json) = (reply.value.sessions, reply.json)
    }
    var blocks: [String] = []
    if !daemon.json {
      let bar = Output.isTerminal ? (width: min(40, max(Screen.room - 12, 1)), hasBlocks: Screen.isUTF8(variable)) : nil
      for (session, outbox) in zip(sessions, try client.outboxStats(of: sessions.map(\.account))) {
        blocks.append(StatusBlock(session: session, outbox: outbox, now: .now, paint: .standard, bar: bar).text)
      }
    }
    if sessions.isEmpty {
      blocks = ["There are no accounts in the configuration: add one with \"hearthctl account add\"."]
    }
    let warnings = (try? client.call(GetInfo()).value.warnings) ?? []
    blocks += warnings.map { Paint.standard(.bold, "Warning: ") + $0.shown() }
    return Look(
      text: blocks.joined(separator: "\n\n"), json: json, warnings: warnings,
      status: ExitStatus.worst(sessions.map { ExitStatus($0) }))
  }

  private func show(_ look: Look) {
    guard daemon.json else { return daemon.output.painted(look.text) }
    daemon.output.json(look.json)
    for warning in look.warnings { Output.error(warning) }
  }

  /// Prints now and at every change, until the daemon stops. On a terminal that can be drawn on each print takes the
  /// place of the one before, its times stay current, and Ctrl-C ends it.
  private func watch(_ client: inout ControlClient) throws {
    if Output.isTerminal, Screen.obeysSequences(variable), !daemon.json {
      return try LiveScreen.run { screen in
        try follow(&client, looking: .seconds(1), isGone: { screen.stopWhereAsked() }) { screen.draw($0.text) }
      }
    }
    try follow(&client, looking: nil) { look in
      show(look)
      if !daemon.json { daemon.output.line("") }
    }
  }

  /// Looks now, at every change, as often as `looking` says and where what was shown `isGone`; returns when it is
  /// interrupted.
  private func follow(
    _ client: inout ControlClient, looking: Duration?, isGone: () -> Bool = { false }, _ body: (Look) -> Void
  ) throws {
    var events = EventFollower(Subscribe(account: try AccountName.asked(account)))
    while true {
      let deadline = looking.map { ContinuousClock.now + $0 }
      var steps: [EventFollower.Step] = []
      repeat {
        if Interruption.hasCome { return }
        if isGone() { break }
        steps = try events.burst(from: &client, within: looking.map { _ in LiveScreen.step })
      } while steps.isEmpty && deadline.map { ContinuousClock.now < $0 } ?? true
      do {
        body(try look(&client))
      } catch ControlClient.Failure.disconnected {
        // Between the event and the look.
        throw CommandFailure.daemonStopped
      }
    }
  }
}
