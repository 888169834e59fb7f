import HearthClient
import HearthControl
import HearthCore

/// Where the helpers of other programs get their tokens: the daemon gives a token only for the account's `api_origins`.
struct CredentialChoice: Hashable {
  /// If it is nil, the first account that has the server among its `api_origins` and has a token.
  let account: String?
  let daemon: DaemonChoice

  /// What an account says when it is asked for a token. It is nil if the token may not be sent there.
  typealias Answer = Result<GivenToken, RPCError>

  /// Returns a token for the first of these URLs that an account's `api_origins` has, or nil if no account has one. An
  /// account that is locked or signed out keeps no other one from answering. Throws if only such accounts have the server.
  func token(for urls: [String]) throws -> GivenToken? {
    var client = try daemon.connect()
    let accounts: [AccountName]
    if let account = try AccountName.asked(account) {
      accounts = [account]
    } else {
      accounts = try client.call(ListSessions()).value.sessions.map(\.account)
    }
    var refusal: RPCError?
    for account in accounts {
      switch try Self.ask(account, urls, &client) {
      case .success(let token): return token
      case .failure(let error): refusal = refusal ?? error
      case nil: break
      }
    }
    if let refusal { throw ControlClient.Failure.refused(refusal) }
    return nil
  }

  /// `names`: the answer also says what names the token's user has.
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
  /// The root of a host, with its port where it has one; nil where `host` is anything else.
  static func root(_ scheme: String, _ host: String) -> HTTPURL? {
    (try? HTTPURL("\(scheme)://\(host)/")).flatMap { $0.target == "/" ? $0 : nil }
  }
}
