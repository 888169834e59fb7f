import ArgumentParser
import HearthControl

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
    let json = try daemon.call(
      .sessionGetToken,
      JSONObject(given: ["account": .string(account), "minValiditySeconds": minValid.map { JSON($0) }]))
    guard let token = json["accessToken"]?.string else { throw CommandFailure.notUnderstood("session.getToken") }
    daemonOptions.output.show(json) {
      header ? "Authorization: \(json["tokenType"]?.string ?? "Bearer") \(token)" : token
    }
  }
}
