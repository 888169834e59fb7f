import ArgumentParser
import HearthClient
import HearthControl
import HearthCore

struct StatusVerb: ParsableCommand {
  private static let logLines = 10
  /// The number of waiting items to search for an item with an error.
  private static let itemsRead = 20

  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Show the status of each session. Exits with the status of the worst one.",
    discussion: """
      On a terminal, a bar shows how much of the token's lifetime is left. The line in the bar marks when Hearth will \
      refresh the token. For example:

        hearthctl status --watch
        hearthctl status work --log
        hearthctl status work --json | jq -r .state
      """)

  @OptionGroup var daemonOptions: DaemonOptions
  @OptionGroup var choice: AccountChoice

  @Flag(help: "Keep running, and print the status again whenever it changes.")
  var watch = false

  @Flag(help: "Also show the last lines of the journal.")
  var log = false

  @Flag(
    help: "Also exit with 1 if the daemon has a warning, or if the outbox has dead or held items or cannot be used.")
  var strict = false

  func run() throws {
    var client = try daemonOptions.connect(timeout: ControlClient.shortTimeout)
    if watch { return try self.watch(&client) }
    let look = try look(&client)
    show(look)
    guard look.status == .done else { throw CommandFailure(look.status, nil) }
    if strict, let complaint = look.complaint { throw CommandFailure(.failed, complaint) }
  }

  private func look(_ client: inout ControlClient) throws -> StatusLook {
    let sessions: [SessionStatus]
    let json: JSON
    if let account = try choice.name {
      let reply = try client.call(GetSession(account))
      (sessions, json) = ([reply.value], reply.json)
    } else {
      let reply = try client.call(ListSessions())
      (sessions, json) = (reply.value.sessions, reply.json)
    }
    let outboxes = try client.outboxStats(of: sessions.map(\.account))
    let warnings = (try? client.call(GetInfo()).value.warnings) ?? []
    return StatusLook(
      sessions: Array(zip(sessions, outboxes)), waiting: try waiting(sessions, outboxes, &client), warnings: warnings,
      log: log ? Journal.lines(Self.logLines, of: choice.account) ?? [] : nil, told: json)
  }

  /// Returns the first waiting item with an error for each account, if its first `itemsRead` waiting items include one.
  /// Returns nothing for JSON output.
  private func waiting(
    _ sessions: [SessionStatus], _ outboxes: [OutboxStats?], _ client: inout ControlClient
  ) throws -> [AccountName: OutboxItem] {
    let accounts = zip(sessions, outboxes).filter { ($1?.waiting ?? 0) > 0 && !daemonOptions.json }.map(\.0.account)
    let pages = try client.call(
      each: accounts.map { ListItems(OutboxQuery(account: $0, state: .waiting, limit: Self.itemsRead)) })
    return zip(accounts, pages).reduce(into: [:]) { waiting, found in
      waiting[found.0] = try? found.1.get().items.first { $0.lastError != nil }
    }
  }

  private func show(_ look: StatusLook) {
    guard daemonOptions.json else { return daemonOptions.output.painted(text(look)) }
    daemonOptions.output.json(look.json)
    for warning in look.warnings { Output.error(warning) }
  }

  private func text(_ look: StatusLook) -> String {
    look.text(
      at: .now, columns: Output.columns, paint: .standard,
      hasBlocks: Output.isTerminal ? Screen.isUTF8(variable) : nil)
  }

  /// Prints the status now and whenever it changes, until the user presses Ctrl-C or the daemon stops. On terminals
  /// that support it, redraws the screen in place instead, at every change and at least every second.
  private func watch(_ client: inout ControlClient) throws {
    if Output.isTerminal, Screen.obeysSequences(variable), !daemonOptions.json {
      return try LiveScreen.run { screen in
        try follow(&client, looking: .seconds(1), isGone: { screen.stopWhereAsked() }) { screen.draw(text($0)) }
      }
    }
    try follow(&client, looking: nil) { look in
      show(look)
      if !daemonOptions.json { daemonOptions.output.line("") }
    }
  }

  /// Calls `body` immediately, after each change, after each interval of `looking`, and whenever `isGone` returns true.
  /// Returns when the user presses Ctrl-C.
  private func follow(
    _ client: inout ControlClient, looking: Duration?, isGone: () -> Bool = { false }, _ body: (StatusLook) -> Void
  ) throws {
    var events = EventFollower(Subscribe(account: try choice.name))
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
        // The daemon stopped between the event and this call.
        throw CommandFailure.daemonStopped
      }
    }
  }
}
