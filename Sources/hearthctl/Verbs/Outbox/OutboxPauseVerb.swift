import ArgumentParser
import HearthControl

struct OutboxPauseVerb: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "pause", abstract: PauseOutbox.summary)

  @OptionGroup var daemonOptions: DaemonOptions
  @OptionGroup var choice: AccountChoice

  func run() throws {
    var daemon = try daemonOptions.connect()
    let reply = try daemon.call(PauseOutbox(try choice.name))
    daemonOptions.output.show(reply.json) { "Paused." }
  }
}
