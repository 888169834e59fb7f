import ArgumentParser
import HearthControl
import HearthCore

/// Where the helpers of other programs have their tokens from: the daemon gives one only where it may be sent.
struct CredentialSource: ParsableArguments {
  @OptionGroup var daemonOptions: DaemonOptions

  @Option(
    help: ArgumentHelp(
      "The account; without it the first one that has the server among its api_origins.", valueName: "name"),
    completion: Completions.accounts)
  var account: String?

  /// A token for the first of these URLs that an account's `api_origins` has; nil where none has. Throws where there is
  /// such an account, and no token.
  func token(for urls: [String]) throws -> GivenToken? {
    var daemon = try daemonOptions.connect()
    let accounts: [AccountName]
    if let account = try AccountName.asked(account) {
      accounts = [account]
    } else {
      accounts = try daemon.call(ListSessions()).value.sessions.map(\.account)
    }
    for account in accounts {
      for url in urls {
        if let token = try Self.token(of: account, for: url, &daemon) { return token }
      }
    }
    return nil
  }

  /// Nil where the account's token may not be sent there.
  private static func token(
    of account: AccountName, for url: String, _ daemon: inout ControlClient
  ) throws(ControlClient.Failure) -> GivenToken? {
    do {
      return try daemon.call(GetToken(account, url: url)).value
    } catch .refused(let error) where [.originNotAllowed, .invalidParams].contains(error.kind) {
      return nil
    }
  }
}
