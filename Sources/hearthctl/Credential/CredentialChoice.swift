import HearthClient
import HearthControl
import HearthCore

/// Chooses the account for a helper. The daemon returns a token only for the account's `api_origins`.
struct CredentialChoice: Hashable {
  /// The account. If `nil`, the account chosen for the server is used, or else the first account that has a token and
  /// lists the server in its `api_origins`.
  let account: String?
  let daemon: DaemonChoice

  /// An account's answer to a request for a token, or `nil` if its token may not be sent to the server.
  typealias Answer = Result<GivenToken, RPCError>

  /// Returns a token for the first of these URLs that is in an account's `api_origins`, or `nil` if there is no such
  /// account. If an account cannot provide a token, other accounts are tried, unless the environment or the
  /// configuration chose that account. Throws if no account that lists the server can provide a token.
  func token(for urls: [String]) throws -> GivenToken? {
    var client = try daemon.connect()
    let accounts: [AccountName]
    var chosen: AccountName?
    if let account = try AccountName.asked(account) {
      accounts = [account]
    } else {
      let (first, all) = try Self.candidates(for: urls.first, &client)
      chosen = first
      accounts = [first].compactMap(\.self) + all.filter { $0 != first }
    }
    var refusal: RPCError?
    for account in accounts {
      switch try Self.ask(account, urls, &client) {
      case .success(let token): return token
      case .failure(let error) where account == chosen: throw ControlClient.Failure.refused(error)
      case .failure(let error): refusal = refusal ?? error
      case nil: break
      }
    }
    if let refusal { throw ControlClient.Failure.refused(refusal) }
    return nil
  }

  /// Returns all accounts, and the one that the environment or configuration chooses for this URL. If that account
  /// lists the server in its `api_origins`, no other account may answer. Otherwise, programs would act as the wrong
  /// user while that account is locked.
  static func candidates(
    for url: String?, _ client: inout ControlClient
  ) throws -> (chosen: AccountName?, all: [AccountName]) {
    guard let choice = try choice(for: url, &client) else { return (nil, []) }
    let accounts = try choice.accounts.map { try AccountName(asked: $0) }
    let named = accounts.count > 1 ? variable(DefaultAccount.variableName) : nil
    return (try named.map { try AccountName(asked: $0) } ?? choice.account, accounts)
  }

  /// Returns `nil` if the daemon cannot parse the URL.
  private static func choice(for url: String?, _ client: inout ControlClient) throws -> ChosenAccount? {
    do {
      return try DefaultAccount.choice(for: url, &client).value
    } catch .refused {
      return nil
    }
  }

  /// Asks for a token. If `names` is set, the answer includes the user's names.
  static func ask(
    _ account: AccountName, _ urls: [String], names: Bool = false, _ client: inout ControlClient
  ) throws(ControlClient.Failure) -> Answer? {
    for url in urls {
      do {
        return .success(try client.call(GetToken(account, url: url, wantsNames: names)).value)
      } catch .refused(let error) {
        guard [.originNotAllowed, .invalidParams].contains(error.kind) else { return .failure(error) }
      }
    }
    return nil
  }
}

extension HTTPURL {
  /// Returns the root URL of a host with an optional port. Returns `nil` if `host` is anything else.
  static func root(_ scheme: String, _ host: String) -> HTTPURL? {
    (try? HTTPURL("\(scheme)://\(host)/")).flatMap { $0.target == "/" ? $0 : nil }
  }
}
