import HearthClient
import HearthControl
import HearthCore

/// What git asks of its credential helper (gitcredentials(7)). git reads standard output and shows standard error; it goes
/// on to its next helper unless it reads `quit=1`.
struct CredentialGitCall: HelperCall {
  static let username = "oauth2"

  let source: CredentialChoice
  let username: String
  let bearer: Bool
  let operation: String

  func validate() {}

  func answer() throws {
    // Hearth keeps the tokens itself, and a server's 401 may mean anything: only what APIs say counts.
    guard operation == "get" else { return }
    let asked = GitCredential(String(decoding: try Input.all(), as: UTF8.self))
    guard let url = asked.url else { return }
    do {
      guard let token = try source.token(for: [url]) else { return }
      if bearer, !asked.takesBearer { throw CommandFailure(.failed, "This git knows no bearer tokens: 2.46 does.") }
      Output(isJSON: false).line(asked.answer(token.bearer, user: username, asBearer: bearer))
    } catch ControlClient.Failure.refused(let error) {
      // The server is ours: git is not to ask the person for a password instead.
      Output(isJSON: false).line("quit=1")
      throw ControlClient.Failure.refused(error)
    }
  }
}
