import HearthControl
import HearthCore

/// git's request to a credential helper, and the answer (git-credential(1), "INPUT/OUTPUT FORMAT").
struct GitCredential {
  private var attributes: [String: String] = [:]
  /// Whether git understands `authtype` (since 2.46).
  private(set) var takesBearer = false

  /// Reads lines of `key=value` up to an empty one; unknown keys are ignored.
  init(_ text: String) {
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      guard !line.isEmpty else { break }
      guard let separator = line.firstIndex(of: "=") else { continue }
      let (key, value) = (String(line[..<separator]), String(line[line.index(after: separator)...]))
      if key == "capability[]", value == "authtype" { takesBearer = true }
      attributes[key] = value
    }
  }

  /// The URL of the server; `nil` if the request is not for HTTP, or the host is not valid.
  var url: String? {
    guard let scheme = attributes["protocol"], ["http", "https"].contains(scheme), let host = attributes["host"] else {
      return nil
    }
    return HTTPURL.root(scheme, host)?.description
  }

  /// The path, without a slash at the beginning. git sends it if `credential.useHttpPath` is set.
  var path: String { attributes["path"] ?? "" }

  /// The user that the password is for; `nil` if any user will do.
  var username: String? { attributes["username"].flatMap { $0.isEmpty ? nil : $0 } }

  /// Basic authentication with the token as the password, as git hosts accept it, and with the user name that git was
  /// given, or `user`. With `asBearer`, a bearer token (RFC 6750), marked so that other helpers do not store it.
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
