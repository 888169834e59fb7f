import HearthControl
import HearthCore

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
