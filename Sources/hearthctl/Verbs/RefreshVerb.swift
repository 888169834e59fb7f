import ArgumentParser
import HearthControl

struct RefreshVerb: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "refresh", abstract: "Refresh the grant now.")

  @OptionGroup var daemonOptions: DaemonOptions

  @Argument(help: "The account.")
  var account: String

  func run() throws {
    var daemon = try daemonOptions.connect()
    let json = try daemon.call(.sessionRefresh, ["account": .string(account)], within: .seconds(120))
    let session = try Daemon.session(json, from: .sessionRefresh)
    daemonOptions.output.show(json) {
      let left = session.token?.remainingSeconds.map { " The new token lasts \(Moment.span($0))." } ?? ""
      return "Refreshed.\(left)"
    }
    let status = ExitStatus(session)
    guard status == .done else { throw CommandFailure(status, session.message) }
  }
}
