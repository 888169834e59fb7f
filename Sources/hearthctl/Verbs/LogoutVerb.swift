import ArgumentParser
import HearthControl
import HearthCore

struct LogoutVerb: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "logout", abstract: SignOut.summary)

  @OptionGroup var daemonOptions: DaemonOptions

  @Argument(help: "The account.")
  var account: String

  @Flag(name: .customLong("no-revoke"), help: "Do not tell the provider.")
  var keepsGrant = false

  @Flag(help: "Discard what waits in the account's outbox.")
  var discardOutbox = false

  func run() throws {
    var daemon = try daemonOptions.connect()
    let account = try AccountName(asked: account)
    let before = try daemon.call(GetSession(account)).value.state
    let reply = try daemon.call(SignOut(account, revoke: !keepsGrant, outbox: discardOutbox ? .discard : .keep))
    let wasSignedOut: Bool = if case .unauthenticated = before { true } else { false }
    daemonOptions.output.show(reply.json) {
      wasSignedOut ? "\(account) was signed out already." : reply.value.status.message
    }
    if !wasSignedOut, !keepsGrant, !reply.value.isRevoked, !daemonOptions.json {
      Output.note("The provider was not told, or took no notice.")
    }
  }
}
