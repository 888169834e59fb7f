import ArgumentParser
import HearthControl

struct LogoutVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "logout", abstract: "Sign out: revoke the grant and remove the credential. Works offline too.")

  @OptionGroup var daemonOptions: DaemonOptions

  @Argument(help: "The account.")
  var account: String

  @Flag(name: .customLong("no-revoke"), help: "Do not tell the provider.")
  var keepsGrant = false

  @Flag(help: "Discard what waits in the account's outbox.")
  var discardOutbox = false

  func run() throws {
    var daemon = try daemonOptions.connect()
    let wasSignedOut = try daemon.session(account).state == "unauthenticated"
    let json = try daemon.call(
      .sessionSignOut,
      [
        "account": .string(account), "revoke": .bool(!keepsGrant),
        "outbox": .string(discardOutbox ? "discard" : "keep"),
      ])
    let session = try Daemon.session(json, from: .sessionSignOut)
    daemonOptions.output.show(json) { wasSignedOut ? "\(account) was signed out already." : session.message }
    if !wasSignedOut, !keepsGrant, json["revoked"]?.bool == false, !daemonOptions.json {
      Output.note("The provider was not told, or took no notice.")
    }
  }
}
