import HearthClient
import HearthControl
import HearthCore

/// Answers git (gitcredentials(7)). git reads stdout, shows stderr, and tries its next helper unless stdout contains a
/// credential or `quit=1`.
extension CredentialGitVerb {
  /// User names that git hosts document for use with any token. They do not identify a user, so they match any account.
  private static let anybody = ["oauth2", "x-access-token", "x-token-auth"]

  func answer() throws {
    // Ignore `store` and `erase`, because Hearth stores its tokens itself, and a 401 from a git server does not prove
    // that the token is invalid.
    guard operation == "get" else { return }
    let asked = GitCredential(String(decoding: try Input.all(), as: UTF8.self))
    guard let url = asked.url else { return }
    let user = asked.username.flatMap { Self.anybody.contains($0) || $0 == username ? nil : $0 }
    guard let found = try token(for: url, page: url + asked.path, user: user) else { return }
    if bearer, !asked.takesBearer {
      throw CommandFailure(.failed, "This git does not support bearer tokens. Update it to 2.46 or later.")
    }
    // Without `--username`: the account's `username`, or else `oauth2`, which GitLab documents.
    let name = username ?? found.username ?? Self.anybody[0]
    Output(isJSON: false).line(asked.answer(found.token, user: name, asBearer: bearer))
  }

  /// Finds the token for the server's `url`, and the account's configured `username`, if any. `page` is the URL with
  /// its path, if git sends the path. If `user` is `nil`, any account matches. Otherwise, the account must belong to
  /// that user, as far as Hearth knows the user's names. git takes the user from a URL or from `credential.username`.
  /// Returns `nil` if no account matches.
  private func token(
    for url: String, page: String, user: String?
  ) throws -> (token: Bearer, username: String?)? {
    var client = try source.daemonOptions.connect()
    let sessions = try client.call(ListSessions()).value.sessions
    func found(_ token: Bearer, of account: AccountName) -> (token: Bearer, username: String?) {
      (token, sessions.first { $0.account == account }?.username)
    }
    let chosen = try AccountName.asked(source.account)
    var accounts = chosen.map { [$0] } ?? sessions.map(\.account)
    // If git names a user, ignore the account that the environment or the configuration chooses.
    let isOpen = user == nil && accounts.count > 1
    let first = isOpen ? try CredentialSource.candidates(for: page, &client).chosen : nil
    if let first { accounts = [first] + accounts.filter { $0 != first } }
    let named = Set(sessions.filter { session in user.map(session.isCalled) ?? true }.map(\.account))
    var refusal: (error: RPCError, isFinal: Bool)?
    var others: [Bearer?] = []
    // Try accounts with a matching `username` or subject first. An account's other names are known only from its
    // tokens, which must be requested.
    for account in accounts.filter(named.contains) + accounts.filter({ !named.contains($0) }) {
      let hasName = named.contains(account)
      switch try CredentialSource.ask(account, [url], names: !hasName, &client) {
      case .success(let token) where hasName || token.isCalled(user): return found(token, of: account)
      case .success(let token): others.append(token)
      case .failure(let error) where account == first: throw Self.refused(error, isFinal: true)
      case .failure(let error):
        let isFinal = hasName || chosen != nil
        if !hasName { others.append(nil) }
        if refusal.map({ isFinal && !$0.isFinal }) ?? true { refusal = (error, isFinal) }
      case nil: break
      }
    }
    // The name may be one that Hearth does not know. If only one account lists the server, use that account, provided
    // that the user chose it or that its tokens contain no names at all.
    if named.isEmpty, others.count == 1, let token = others[0], chosen != nil || token.names?.isEmpty != false {
      return found(token, of: token.account)
    }
    if let refusal { throw Self.refused(refusal.error, isFinal: refusal.isFinal) }
    if let user, !others.isEmpty {
      Output.note(
        "hearthctl: No account with \(url) in its api_origins belongs to \"\(user)\". Set the account's username, or "
          + "choose an account with --account.")
    }
    return nil
  }

  /// Returns the error to throw if the daemon refuses a token. If git definitely means this account (`isFinal`), no
  /// other account may answer. Hearth knows the server and the user then, so git must not ask for a password.
  private static func refused(_ error: RPCError, isFinal: Bool) -> RPCError {
    if isFinal { Output(isJSON: false).line("quit=1") }
    return error
  }
}

extension SessionStatus {
  fileprivate func isCalled(_ user: String) -> Bool {
    [username, subject?.id].contains { $0?.isName(of: user) ?? false }
  }
}

extension Bearer {
  fileprivate func isCalled(_ user: String?) -> Bool {
    user.map { user in names?.contains { $0.isName(of: user) } ?? false } ?? true
  }
}

extension String {
  /// Returns whether two user names are the same. Email addresses are compared without regard to case.
  fileprivate func isName(of user: String) -> Bool {
    self == user || contains("@") && lowercased() == user.lowercased()
  }
}

/// git's request to a credential helper, and the answer (git-credential(1), "INPUT/OUTPUT FORMAT").
struct GitCredential {
  private var attributes: [String: String] = [:]
  /// Whether git supports `authtype` (2.46 or later).
  private(set) var takesBearer = false

  /// Parses `key=value` lines up to an empty line. Unknown keys are ignored.
  init(_ text: String) {
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      guard !line.isEmpty else { break }
      guard let separator = line.firstIndex(of: "=") else { continue }
      let (key, value) = (String(line[..<separator]), String(line[line.index(after: separator)...]))
      if key == "capability[]", value == "authtype" { takesBearer = true }
      attributes[key] = value
    }
  }

  /// The URL of the server, or `nil` if the request is not for HTTP or the host is invalid.
  var url: String? {
    guard let scheme = attributes["protocol"], ["http", "https"].contains(scheme), let host = attributes["host"] else {
      return nil
    }
    return HTTPURL.root(scheme, host)?.description
  }

  /// The path without its leading slash. git sends it only if `credential.useHttpPath` is set.
  var path: String { attributes["path"] ?? "" }

  var username: String? { attributes["username"].flatMap { $0.isEmpty ? nil : $0 } }

  /// Returns the token as a password for Basic authentication, as git hosts expect. The user name is the one that git
  /// requested, or else `user`. If `asBearer` is set, returns a bearer token (RFC 6750) that other helpers must not
  /// store.
  func answer(_ bearer: Bearer, user: String, asBearer: Bool) -> String {
    let token = bearer.token.secret.reveal()
    var lines =
      asBearer
      ? ["capability[]=authtype", "authtype=\(bearer.type)", "credential=\(token)", "ephemeral=1"]
      : ["username=\(username ?? user)", "password=\(token)"]
    if let expiresAt = bearer.expiresAt { lines.append("password_expiry_utc=\(expiresAt.milliseconds / 1000)") }
    return lines.joined(separator: "\n")
  }
}
