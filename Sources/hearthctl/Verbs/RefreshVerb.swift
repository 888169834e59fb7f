import ArgumentParser
import HearthControl
import HearthCore

struct RefreshVerb: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "refresh", abstract: RefreshSession.summary)

  @OptionGroup var daemonOptions: DaemonOptions

  @Argument(help: "The account.")
  var account: String

  func run() throws {
    var daemon = try daemonOptions.connect()
    let reply = try daemon.call(RefreshSession(try AccountName(asked: account)), within: .seconds(120))
    let session = reply.value
    daemonOptions.output.show(reply.json) {
      let left = session.token?.remaining(at: .now).map { " The new token lasts \($0.span)." } ?? ""
      return "Refreshed.\(left)"
    }
    let status = ExitStatus(session)
    guard status == .done else { throw CommandFailure(status, session.message) }
  }
}
