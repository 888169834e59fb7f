import HearthClient
import HearthControl
import HearthCore

/// Where the helpers of other programs have their tokens from: the daemon gives one only where it may be sent.
struct CredentialChoice: Hashable {
  /// It is nil for the first one that has the server among its `api_origins`.
  let account: String?
  let daemon: DaemonChoice

  /// A token for the first of these URLs that an account's `api_origins` has; nil where none has. Throws where there is
  /// such an account, and no token.
  func token(for urls: [String]) throws -> GivenToken? {
    var client = try daemon.connect()
    let accounts: [AccountName]
    if let account = try AccountName.asked(account) {
      accounts = [account]
    } else {
      accounts = try client.call(ListSessions()).value.sessions.map(\.account)
    }
    for account in accounts {
      for url in urls {
        if let token = try Self.token(of: account, for: url, &client) { return token }
      }
    }
    return nil
  }

  /// It is nil where the account's token may not be sent there.
  private static func token(
    of account: AccountName, for url: String, _ client: inout ControlClient
  ) throws(ControlClient.Failure) -> GivenToken? {
    do {
      return try client.call(GetToken(account, url: url)).value
    } catch .refused(let error) where [.originNotAllowed, .invalidParams].contains(error.kind) {
      return nil
    }
  }
}

extension HTTPURL {
  /// The root of a host, with its port where it has one; nil where `host` is anything else.
  static func root(_ scheme: String, _ host: String) -> HTTPURL? {
    (try? HTTPURL("\(scheme)://\(host)/")).flatMap { $0.target == "/" ? $0 : nil }
  }
}
