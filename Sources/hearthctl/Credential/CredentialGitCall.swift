import HearthControl
import HearthCore

/// Answers git (gitcredentials(7)). git reads stdout, shows stderr, and tries its next helper unless stdout contains a
/// credential or `quit=1`.
struct CredentialGitCall: HelperCall {
  /// User names that git hosts document for use with any token. They do not identify a user, so they match any account.
  private static let anybody = ["oauth2", "x-access-token", "x-token-auth"]

  let source: CredentialChoice
  /// The user name if git does not request one. If `nil`, the account's `username` is used, or else `oauth2`, which
  /// GitLab documents.
  let username: String?
  let bearer: Bool
  let operation: String

  func validate() {}

  func answer() throws {
    // Ignore `store` and `erase`, because Hearth stores its tokens itself, and a 401 from a git server does not prove
    // that the token is invalid.
    guard operation == "get" else { return }
    let asked = GitCredential(String(decoding: try Input.all(), as: UTF8.self))
    guard let url = asked.url else { return }
    let user = asked.username.flatMap { Self.anybody.contains($0) || $0 == username ? nil : $0 }
    do {
      guard let found = try NamedCredential(source, for: url, page: url + asked.path, user: user) else { return }
      if bearer, !asked.takesBearer {
        throw CommandFailure(.failed, "This git does not support bearer tokens. Update it to 2.46 or later.")
      }
      let name = username ?? found.username ?? Self.anybody[0]
      Output(isJSON: false).line(asked.answer(found.token.bearer, user: name, asBearer: bearer))
    } catch let refusal as NamedCredential.Refusal {
      // Hearth knows the server and the user, so git must not ask for a password.
      if refusal.isFinal { Output(isJSON: false).line("quit=1") }
      throw refusal.error
    }
  }
}
