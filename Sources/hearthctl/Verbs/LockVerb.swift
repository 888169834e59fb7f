import ArgumentParser
import HearthControl
import HearthCore

struct LockVerb: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "lock", abstract: LockSessions.summary)

  @OptionGroup var daemonOptions: DaemonOptions
  @OptionGroup var choice: AccountChoice

  func run() throws {
    var daemon = try daemonOptions.connect()
    let reply = try daemon.call(LockSessions(try choice.name))
    daemonOptions.output.show(reply.json) { reply.value.messages }
  }
}

extension Sessions {
  /// A line for each: the account and what is to be said of it.
  var messages: String { sessions.map { "\($0.account): \($0.message)" }.joined(separator: "\n") }
}
