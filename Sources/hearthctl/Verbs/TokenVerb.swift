import ArgumentParser
import HearthControl
import HearthCore

struct TokenVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "token", abstract: "Print a token that is valid, refreshed where needed, and nothing else.")

  @OptionGroup var daemonOptions: DaemonOptions

  @Argument(help: "The account.")
  var account: String

  @Option(help: ArgumentHelp("It is to be valid this long at least.", valueName: "seconds"))
  var minValid: Int?

  @Flag(help: "Print it as an Authorization header.")
  var header = false

  func validate() throws {
    if let minValid, minValid < 0 { throw ValidationError("--min-valid is a number of seconds, 0 or more.") }
  }

  func run() throws {
    var daemon = try daemonOptions.connect()
    let reply = try daemon.call(
      GetToken(try AccountName(asked: account), minValidity: minValid.map { .seconds($0) }))
    let token = reply.value.accessToken.reveal()
    daemonOptions.output.show(reply.json) {
      header ? "Authorization: \(reply.value.tokenType) \(token)" : token
    }
  }
}
