import ArgumentParser
import HearthControl

struct OutboxShowVerb: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "show", abstract: GetItem.summary)

  @OptionGroup var daemonOptions: DaemonOptions

  @Argument(help: "The item.")
  var id: String

  func run() throws {
    var daemon = try daemonOptions.connect()
    let reply = try daemon.call(GetItem(id))
    daemonOptions.output.show(reply.json) { reply.json.rows }
  }
}
