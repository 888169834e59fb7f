import HearthControl
import HearthCore

/// Answers docker (docker-credential-helpers). docker reads errors from stdout and recognizes some phrases. All errors
/// except missing credentials are also printed to stderr, because some programs show stderr instead.
struct CredentialDockerCall: HelperCall {
  static let username = "oauth2accesstoken"
  /// The phrase for missing credentials. Programs then continue without credentials (docker-credential-helpers,
  /// "errors").
  private static let none = "credentials not found in native keychain"
  /// The phrase for a request that does not name a server.
  private static let noServer = "no credentials server URL"

  let source: CredentialChoice
  let username: String
  let operation: String

  func validate() {}

  func say(_ failure: CommandFailure) -> CommandFailure? {
    if let message = failure.message { output.line(message) }
    return failure
  }

  func answer() throws {
    switch operation {
    case "get":
      let lines = String(decoding: try Input.all(), as: UTF8.self).split(whereSeparator: \.isNewline)
      guard let first = lines.first.map({ String($0).trimmingBlanks() }), !first.isEmpty else {
        throw CommandFailure(.failed, Self.noServer)
      }
      let server = lines.count == 1 ? first : ""
      guard let token = try source.token(for: Self.urls(of: server)) else {
        output.line(Self.none)
        throw CommandFailure(.failed, nil)
      }
      let secret = token.bearer.token.secret.reveal()
      let answer: JSON = ["ServerURL": .string(server), "Username": .string(username), "Secret": .string(secret)]
      output.line(answer.description)
    case "list": output.line("{}")
    case "erase": break
    case "version": output.line("hearthctl \(HearthVersion.text)")
    case "store":
      throw CommandFailure(
        .failed, "Hearth does not store registry passwords. Sign in with \"hearthctl login\" instead of docker login.")
    default: throw CommandFailure(.failed, "Unknown credential action `\(operation)`")
    }
  }

  private var output: Output { Output(isJSON: true) }

  /// Returns the URLs to try for a registry. If docker passes only a host, both `https` and `http` are tried, because a
  /// registry on this machine may not use TLS.
  static func urls(of server: String) -> [String] {
    let urls = server.contains("://") ? [try? HTTPURL(server)] : ["https", "http"].map { HTTPURL.root($0, server) }
    return urls.compactMap { $0?.description }
  }
}
