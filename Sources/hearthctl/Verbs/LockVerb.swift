import ArgumentParser
import HearthControl

struct LockVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "lock", abstract: "Lock: no token is given and nothing is sent until \"unlock\".")

  @OptionGroup var daemonOptions: DaemonOptions

  @Argument(help: "One account; all of them without.")
  var account: String?

  func run() throws {
    var daemon = try daemonOptions.connect()
    let json = try daemon.call(.sessionLock, JSONObject(given: ["account": account.map(JSON.string)]))
    let sessions = try Daemon.sessions(json, from: .sessionLock)
    daemonOptions.output.show(json) { sessions.map { "\($0.account): \($0.message)" }.joined(separator: "\n") }
  }
}
