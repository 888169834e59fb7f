import HearthClient
import HearthControl
import HearthCore

/// A token for a caller that may ask for a certain user. git takes the user from a URL or from `credential.username`.
struct NamedCredential {
  let token: GivenToken
  /// The account's configured `username`, if any.
  let username: String?

  struct Refusal: Error {
    let error: RPCError
    /// Whether the caller definitely means this account. If so, no other account may answer.
    let isFinal: Bool
  }

  /// Finds the token for the server's `url`. `page` is the URL with its path, if git sends the path. If `user` is
  /// `nil`, any account matches. Otherwise, the account must belong to that user, as far as Hearth knows the user's
  /// names. Returns `nil` if no account matches.
  init?(_ choice: CredentialChoice, for url: String, page: String, user: String?) throws {
    var client = try choice.daemon.connect()
    let sessions = try client.call(ListSessions()).value.sessions
    let chosen = try AccountName.asked(choice.account)
    var accounts = chosen.map { [$0] } ?? sessions.map(\.account)
    // If git names a user, ignore the account that the environment or the configuration chooses.
    let isOpen = user == nil && accounts.count > 1
    let first = isOpen ? try CredentialChoice.candidates(for: page, &client).chosen : nil
    if let first { accounts = [first] + accounts.filter { $0 != first } }
    let named = Set(sessions.filter { session in user.map(session.isCalled) ?? true }.map(\.account))
    var refusal: Refusal?
    var others: [GivenToken?] = []
    // Try accounts with a matching `username` or subject first. An account's other names are known only from its
    // tokens, which must be requested.
    for account in accounts.filter(named.contains) + accounts.filter({ !named.contains($0) }) {
      let hasName = named.contains(account)
      switch try CredentialChoice.ask(account, [url], names: !hasName, &client) {
      case .success(let token) where hasName || token.isCalled(user):
        self.init(token, of: account, sessions)
        return
      case .success(let token): others.append(token)
      case .failure(let error) where account == first: throw Refusal(error: error, isFinal: true)
      case .failure(let error):
        let isFinal = hasName || chosen != nil
        if !hasName { others.append(nil) }
        if refusal.map({ isFinal && !$0.isFinal }) ?? true { refusal = Refusal(error: error, isFinal: isFinal) }
      case nil: break
      }
    }
    // The name may be one that Hearth does not know. If only one account lists the server, use that account, provided
    // that the user chose it or that its tokens contain no names at all.
    if named.isEmpty, others.count == 1, let token = others[0], chosen != nil || token.names?.isEmpty != false {
      self.init(token, of: token.account, sessions)
      return
    }
    if let refusal { throw refusal }
    if let user, !others.isEmpty {
      Output.note(
        "hearthctl: No account with \(url) in its api_origins belongs to \"\(user)\". Set the account's username, or "
          + "choose an account with --account.")
    }
    return nil
  }

  private init(_ token: GivenToken, of account: AccountName, _ sessions: [SessionStatus]) {
    self.token = token
    username = sessions.first { $0.account == account }?.username
  }
}

extension SessionStatus {
  fileprivate func isCalled(_ user: String) -> Bool {
    [username, subject?.id].contains { $0.map { UserName.isSame($0, user) } ?? false }
  }
}

extension GivenToken {
  fileprivate func isCalled(_ user: String?) -> Bool {
    user.map { user in names?.contains { UserName.isSame($0, user) } ?? false } ?? true
  }
}

private enum UserName {
  /// Returns whether two names are the same. Email addresses are compared without regard to case.
  static func isSame(_ one: String, _ other: String) -> Bool {
    one == other || one.contains("@") && one.lowercased() == other.lowercased()
  }
}
