import ArgumentParser
import HearthControl

struct OutboxResumeVerb: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "resume", abstract: "Send again.")

  @OptionGroup var daemonOptions: DaemonOptions

  @Argument(help: "One account; all of them without.")
  var account: String?

  func run() throws {
    var daemon = try daemonOptions.connect()
    let json = try daemon.call(.outboxResume, JSONObject(given: ["account": account.map(JSON.string)]))
    daemonOptions.output.show(json) { "Resumed." }
  }
}
