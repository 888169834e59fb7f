import ArgumentParser
import HearthControl
import HearthCore

/// The options that every verb has.
struct DaemonOptions: ParsableArguments, DaemonAccess {
  @Option(help: ArgumentHelp("Path of the daemon's socket.", valueName: "path"), completion: .file())
  var socket: String?

  @Flag(help: "Print JSON.")
  var json = false

  @Option(help: ArgumentHelp("Maximum time to wait for the daemon's answer, in seconds.", valueName: "seconds"))
  var timeout: Double?

  func validate() throws { try choice.validate() }

  var choice: DaemonChoice { DaemonChoice(socket: socket, json: json, timeout: timeout) }
}

/// The required account of a verb.
struct NamedAccount: ParsableArguments {
  @Argument(help: "Name of the account.", completion: Completions.accounts)
  var account: String

  /// The parsed name. Throws an unknown-account error (1005) if the name is invalid.
  var name: AccountName { get throws { try AccountName(asked: account) } }
}

/// The optional account of a verb that otherwise applies to all accounts.
struct AccountChoice: ParsableArguments {
  @Argument(help: "Account (default: all).", completion: Completions.accounts)
  var account: String?

  /// The parsed name, or `nil` for all accounts. Throws an unknown-account error (1005) if the name is invalid.
  var name: AccountName? { get throws { try AccountName.asked(account) } }
}
