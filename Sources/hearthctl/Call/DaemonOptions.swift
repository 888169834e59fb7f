import ArgumentParser
import HearthControl
import HearthCore

/// What every verb takes.
struct DaemonOptions: ParsableArguments, DaemonAccess {
  @Option(help: ArgumentHelp("The daemon's socket.", valueName: "path"), completion: .file())
  var socket: String?

  @Flag(help: "Print JSON.")
  var json = false

  @Option(help: ArgumentHelp("How long to wait for the daemon's answer.", valueName: "seconds"))
  var timeout: Double?

  func validate() throws { try choice.validate() }

  var choice: DaemonChoice { DaemonChoice(socket: socket, json: json, timeout: timeout) }
}

/// The account of a verb that is for one, and has it named.
struct NamedAccount: ParsableArguments {
  @Argument(help: "The account.", completion: Completions.accounts)
  var account: String

  /// Fails as the daemon would where no account can have this name.
  var name: AccountName { get throws { try AccountName(asked: account) } }
}

/// The account that a verb is asked about, or all of them.
struct AccountChoice: ParsableArguments {
  @Argument(help: "One account; all of them without.", completion: Completions.accounts)
  var account: String?

  /// Fails as the daemon would where no account can have this name.
  var name: AccountName? { get throws { try AccountName.asked(account) } }
}
