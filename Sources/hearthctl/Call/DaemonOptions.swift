import ArgumentParser
import HearthControl
import HearthCore

/// The options of every verb.
struct DaemonOptions: ParsableArguments, DaemonAccess {
  @Option(help: ArgumentHelp("Path of the daemon's socket.", valueName: "path"), completion: .file())
  var socket: String?

  @Flag(help: "Print JSON.")
  var json = false

  @Option(help: ArgumentHelp("Time to wait for the daemon's answer.", valueName: "seconds"))
  var timeout: Double?

  func validate() throws { try choice.validate() }

  var choice: DaemonChoice { DaemonChoice(socket: socket, json: json, timeout: timeout) }
}

/// The account of a verb that requires one.
struct NamedAccount: ParsableArguments {
  @Argument(help: "The account.", completion: Completions.accounts)
  var account: String

  /// The name. Throws the daemon's error if no account can have it.
  var name: AccountName { get throws { try AccountName(asked: account) } }
}

/// The account of a verb, or all accounts.
struct AccountChoice: ParsableArguments {
  @Argument(help: "Account (default: all).", completion: Completions.accounts)
  var account: String?

  /// The name, or `nil` for all. Throws the daemon's error if no account can have it.
  var name: AccountName? { get throws { try AccountName.asked(account) } }
}
