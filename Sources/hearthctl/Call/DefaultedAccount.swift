import ArgumentParser
import Glibc
import HearthClient
import HearthControl
import HearthCore

/// The account of a verb that needs one; the command line may omit it.
struct DefaultedAccount: ParsableArguments {
  @Argument(
    help: "Account (default: the one that \"hearthctl which\" shows).", completion: Completions.accounts)
  var account: String?

  @OptionGroup var option: AccountOption

  func name(for url: String?, _ daemon: inout ControlClient) throws -> AccountName {
    try DefaultAccount.name(account ?? option.account, for: url, &daemon)
  }
}

/// The account of a verb about the outbox, or all accounts.
struct OutboxAccount: ParsableArguments {
  @Argument(
    help: "Account (default: the one that HEARTH_ACCOUNT, [[use]] or default_account selects, else all).",
    completion: Completions.accounts)
  var account: String?

  @OptionGroup var option: AccountOption

  @Flag(help: "All accounts.")
  var all = false

  func validate() throws {
    guard !all || account == nil && option.account == nil else {
      throw ValidationError("--all cannot be combined with an account.")
    }
  }

  /// The account, or `nil` for all.
  func name(_ daemon: inout ControlClient) throws -> AccountName? {
    all ? nil : try DefaultAccount.selected(account ?? option.account, &daemon)
  }
}

/// The same as an option.
struct AccountOption: ParsableArguments {
  @Option(
    help: ArgumentHelp("Account, if it is not given as an argument.", valueName: "name"),
    completion: Completions.accounts)
  var account: String?
}

/// The account for commands that name none.
enum DefaultAccount {
  /// The environment variable with its name.
  static let variableName = "HEARTH_ACCOUNT"

  /// The account in `named`, else the default for this directory. `url` is where the token will be sent, if known.
  static func name(_ named: String?, for url: String?, _ daemon: inout ControlClient) throws -> AccountName {
    if let named = named ?? variable(variableName) { return try AccountName(asked: named) }
    let choice = try choice(for: url, &daemon).value
    if let account = choice.account { return account }
    guard !choice.accounts.isEmpty else {
      throw CommandFailure(
        .usage, "There are no accounts: add one with \"hearthctl account add NAME --provider PROVIDER\".")
    }
    throw CommandFailure(
      .usage,
      "Name an account: there are \(choice.accounts.listed). Or set HEARTH_ACCOUNT, or default_account "
        + "or [[use]] in the configuration.")
  }

  /// The same, or `nil` if nothing selects an account. That it is the only one does not count.
  static func selected(_ named: String?, _ daemon: inout ControlClient) throws -> AccountName? {
    if let named = named ?? variable(variableName) { return try AccountName(asked: named) }
    let choice = try choice(for: nil, &daemon).value
    return choice.reason == .only ? nil : choice.account
  }

  /// What the configuration chooses.
  static func choice(
    for url: String?, _ daemon: inout ControlClient
  ) throws(ControlClient.Failure) -> Reply<ChosenAccount> {
    try daemon.call(ChooseAccount(url: url, directories: workingDirectories))
  }

  /// The working directory as the kernel names it, and as the shell names it if the user got there through a link.
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
