import HearthControl
import HearthCore

/// What docker asks of its credential helper.
struct CredentialDockerCall: PlainCall {
  static let username = "oauth2accesstoken"
  /// What the programs take for "there is none", and then go on without (docker-credential-helpers, "errors").
  private static let none = "credentials not found in native keychain"

  let source: CredentialChoice
  let username: String
  let operation: String

  func validate() {}

  func run() throws {
    let output = Output(isJSON: true)
    switch operation {
    case "get":
      let lines = String(decoding: try Input.all(), as: UTF8.self).split(whereSeparator: \.isNewline)
      let server = lines.count == 1 ? String(lines[0]) : ""
      guard let token = try source.token(for: Self.urls(of: server)) else {
        output.line(Self.none)
        throw CommandFailure(.failed, nil)
      }
      let secret = token.bearer.token.secret.reveal()
      let answer: JSON = ["ServerURL": .string(server), "Username": .string(username), "Secret": .string(secret)]
      output.line(answer.description)
    case "list": output.line("{}")
    case "erase": break
    default:
      throw CommandFailure(
        .failed, "Hearth keeps no passwords of registries: sign in with \"hearthctl login\" instead of docker login.")
    }
  }

  /// Docker names a registry by its host; on this machine it may be asked without TLS.
  static func urls(of server: String) -> [String] {
    let urls = server.contains("://") ? [try? HTTPURL(server)] : ["https", "http"].map { HTTPURL.root($0, server) }
    return urls.compactMap { $0?.description }
  }
}
