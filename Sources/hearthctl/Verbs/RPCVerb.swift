import ArgumentParser
import HearthControl

struct RPCVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rpc", abstract: "Call any method and print its result; with --json, its error too.")

  @OptionGroup var daemonOptions: DaemonOptions

  @Argument(help: "For example session.list.")
  var method: String

  @Argument(help: "The parameters, a JSON object; - reads them from standard input.")
  var params: String?

  @Option(help: ArgumentHelp("How long to wait for the answer.", valueName: "seconds"))
  var timeout = 60

  func validate() throws {
    guard timeout > 0 else { throw ValidationError("--timeout is a number of seconds, 1 or more.") }
  }

  func run() throws {
    let params = try readParams()
    var daemon = try daemonOptions.connect()
    do {
      daemonOptions.output.json(try daemon.call(method, params, within: .seconds(timeout)))
    } catch {
      if case .refused(let refusal) = error, daemonOptions.json { daemonOptions.output.json(refusal.json) }
      throw error
    }
  }

  private func readParams() throws -> JSONObject {
    guard let params else { return [:] }
    let bytes = params == "-" ? try Input.all() : Array(params.utf8)
    let json: JSON
    do {
      json = try JSON(parsing: bytes)
    } catch {
      throw ValidationError("The parameters are no JSON: \(error).")
    }
    guard let object = json.object else { throw ValidationError("The parameters are a JSON object.") }
    return object
  }
}
