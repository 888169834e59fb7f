import ArgumentParser
import Glibc
import HearthClient
import HearthControl
import HearthCore

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

/// The account of a verb that needs one. If the user omits it, a default is used.
struct DefaultedAccount: ParsableArguments {
  @Argument(
    help: "Account (default: see \"hearthctl which\").", completion: Completions.accounts)
  var account: String?

  @OptionGroup var option: AccountOption

  func name(for url: String?, _ daemon: inout ControlClient) throws -> AccountName {
    try DefaultAccount.name(account ?? option.account, for: url, &daemon)
  }
}

/// The account of an outbox verb, or all accounts.
struct OutboxAccount: ParsableArguments {
  @Argument(
    help: "Account (default: the one that HEARTH_ACCOUNT, [[use]] or default_account selects, otherwise all).",
    completion: Completions.accounts)
  var account: String?

  @OptionGroup var option: AccountOption

  @Flag(help: "All accounts, even if one is selected by default.")
  var all = false

  func validate() throws {
    guard !all || account == nil && option.account == nil else {
      throw ValidationError("--all cannot be combined with an account.")
    }
  }

  /// Returns the account, or `nil` for all accounts.
  func name(_ daemon: inout ControlClient) throws -> AccountName? {
    all ? nil : try DefaultAccount.selected(account ?? option.account, &daemon)
  }
}

struct AccountOption: ParsableArguments {
  @Option(
    help: ArgumentHelp("Account, if it is not given as an argument.", valueName: "name"),
    completion: Completions.accounts)
  var account: String?
}

/// Finds the account for commands that do not specify an account.
enum DefaultAccount {
  static let variableName = "HEARTH_ACCOUNT"

  /// Returns `named` or else the account that the environment or the configuration selects, or the only account. `url`
  /// is the token's destination, if known. Throws a usage error if there is no such account.
  static func name(_ named: String?, for url: String?, _ daemon: inout ControlClient) throws -> AccountName {
    if let named = named ?? variable(variableName) { return try AccountName(asked: named) }
    let choice = try choice(for: url, &daemon).value
    if let account = choice.account { return account }
    guard !choice.accounts.isEmpty else {
      throw CommandFailure(
        .usage, "There are no accounts. Add one with \"hearthctl account add NAME --provider PROVIDER\".")
    }
    throw CommandFailure(
      .usage,
      "There are several accounts: \(choice.accounts.listed). Name one of them, set HEARTH_ACCOUNT, or add "
        + "default_account or a [[use]] rule to the configuration.")
  }

  /// Returns `named` or else the account that the environment or the configuration selects. Returns `nil` if neither
  /// selects an account, even if there is only one account.
  static func selected(_ named: String?, _ daemon: inout ControlClient) throws -> AccountName? {
    if let named = named ?? variable(variableName) { return try AccountName(asked: named) }
    let choice = try choice(for: nil, &daemon).value
    return choice.reason == .only ? nil : choice.account
  }

  static func choice(for url: String?, _ daemon: inout ControlClient) throws -> Reply<ChosenAccount> {
    try daemon.call(ChooseAccount(url: url, directories: workingDirectories))
  }

  /// The paths of the working directory: the kernel's path and, if the user entered the directory through a symbolic
  /// link, the path that the shell shows.
  private static var workingDirectories: [String] {
    guard let buffer = getcwd(nil, 0) else { return [] }
    defer { free(buffer) }
    let directory = String(cString: buffer)
    var (one, other) = (stat(), stat())
    guard let shown = variable("PWD"), shown.hasPrefix("/"), shown != directory, stat(directory, &one) == 0,
      stat(shown, &other) == 0, one.st_dev == other.st_dev, one.st_ino == other.st_ino
    else { return [directory] }
    return [directory, shown]
  }
}
