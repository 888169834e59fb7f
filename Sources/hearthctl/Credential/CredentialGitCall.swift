import HearthControl
import HearthCore

/// git's request to its credential helper (gitcredentials(7)). git reads standard output, shows standard error, and
/// goes on to its next helper unless it reads `quit=1`.
struct CredentialGitCall: HelperCall {
  /// User names that git hosts document for any token; they do not identify its owner.
  private static let anybody = ["oauth2", "x-access-token", "x-token-auth"]

  let source: CredentialChoice
  /// The user name; if it is `nil`, the account's `username`, or the name that GitLab documents.
  let username: String?
  let bearer: Bool
  let operation: String

  func validate() {}

  func answer() throws {
    // Hearth keeps the tokens itself, and a server's 401 may mean anything: only reports by APIs count.
    guard operation == "get" else { return }
    let asked = GitCredential(String(decoding: try Input.all(), as: UTF8.self))
    guard let url = asked.url else { return }
    let user = asked.username.flatMap { Self.anybody.contains($0) || $0 == username ? nil : $0 }
    do {
      guard let found = try NamedCredential(source, for: url, page: url + asked.path, user: user) else { return }
      if bearer, !asked.takesBearer {
        throw CommandFailure(.failed, "This git does not support bearer tokens: update it to 2.46 or later.")
      }
      let name = username ?? found.username ?? Self.anybody[0]
      Output(isJSON: false).line(asked.answer(found.token.bearer, user: name, asBearer: bearer))
    } catch let refusal as NamedCredential.Refusal {
      // The server and the user are known to Hearth, so git must not ask for a password instead.
      if refusal.isFinal { Output(isJSON: false).line("quit=1") }
      throw refusal.error
    }
  }
}
