import ArgumentParser
import HearthControl

struct OutboxPauseVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pause", abstract: "Send nothing until \"resume\", restarts and sign-ins included.")

  @OptionGroup var daemonOptions: DaemonOptions

  @Argument(help: "One account; all of them without.")
  var account: String?

  func run() throws {
    var daemon = try daemonOptions.connect()
    let json = try daemon.call(.outboxPause, JSONObject(given: ["account": account.map(JSON.string)]))
    daemonOptions.output.show(json) { "Paused." }
  }
}
