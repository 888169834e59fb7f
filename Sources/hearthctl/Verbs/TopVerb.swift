import ArgumentParser
import Glibc
import HearthClient
import HearthControl
import HearthCore

struct TopVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "top", abstract: "Show the sessions and the outbox live, with keys to control them.",
    discussion: """
      For example:

        hearthctl top
      """)

  /// The interval for asking the daemon for the current state.
  private static let period: Duration = .seconds(1)

  @OptionGroup var daemonOptions: DaemonOptions

  func validate() throws {
    if daemonOptions.json {
      throw ValidationError(
        "top cannot print JSON. Use \"hearthctl events --json\" or \"hearthctl status --json\" instead.")
    }
  }

  func run() throws {
    guard Output.isTerminal, isatty(STDIN_FILENO) == 1, Screen.obeysSequences(variable) else {
      throw CommandFailure(
        .usage,
        "top needs a terminal with cursor control. Use \"hearthctl status\" or \"hearthctl events\" instead.")
    }
    var daemon = try daemonOptions.connect(timeout: ControlClient.shortTimeout)
    try LiveScreen.run(readingKeys: true) { screen in try follow(&daemon, screen) }
  }

  private func follow(_ daemon: inout ControlClient, _ screen: borrowing LiveScreen) throws {
    var model = TopModel(at: .now)
    var begun: [BegunAction] = []
    var events = EventFollower(Subscribe(account: nil))
    var lookAt = ContinuousClock.now
    while !Interruption.hasCome {
      if ContinuousClock.now >= lookAt {
        model.observe(try look(&daemon), at: .now)
        lookAt = ContinuousClock.now + Self.period
      }
      let size = screen.size
      screen.draw(
        TopPicture(
          model: model, now: .now, columns: size.columns, rows: size.rows, paint: .standard,
          hasBlocks: Screen.isUTF8(variable)
        ).text)
      for step in try events.burst(from: &daemon, within: .milliseconds(100)) {
        if case .notification(let notification) = step { model.note(notification, at: .now) }
        lookAt = .now
      }
      try begun.removeAll { action in
        guard let message = try action.result(&daemon) else { return false }
        (model.message, lookAt) = (message, .now)
        return true
      }
      for key in screen.keys?.pressed() ?? [] {
        switch key {
        case .quit: return
        case .up: model.choose(-1)
        case .down: model.choose(1)
        case .act(let action):
          guard let account = model.chosen else { continue }
          begun.append(try BegunAction(action, account, &daemon))
          model.message = begun.last.map { "\($0.name) ..." } ?? ""
        }
      }
      // Ignore the result, because every iteration redraws the screen.
      _ = screen.stopWhereAsked()
    }
  }

  private func look(_ daemon: inout ControlClient) throws -> [(SessionStatus, OutboxStats)] {
    let sessions = try daemon.call(ListSessions()).value.sessions
    return zip(sessions, try daemon.outboxStats(of: sessions.map(\.account))).map { ($0, $1 ?? OutboxStats()) }
  }
}
