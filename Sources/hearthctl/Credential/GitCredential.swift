import HearthControl
import HearthCore

/// What git asks of a credential helper, and the answer (git-credential(1), "INPUT/OUTPUT FORMAT").
struct GitCredential {
  private var attributes: [String: String] = [:]
  /// Git understands `authtype` (since 2.46).
  private(set) var takesBearer = false

  /// Lines of `key=value` up to an empty one; what else there is, is nothing to a helper.
  init(_ text: String) {
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      guard !line.isEmpty else { break }
      guard let separator = line.firstIndex(of: "=") else { continue }
      let (key, value) = (String(line[..<separator]), String(line[line.index(after: separator)...]))
      if key == "capability[]", value == "authtype" { takesBearer = true }
      attributes[key] = value
    }
  }

  /// The URL of the server; nil if it is asked for in another way than over HTTP, or by what is no host.
  var url: String? {
    guard let scheme = attributes["protocol"], ["http", "https"].contains(scheme), let host = attributes["host"] else {
      return nil
    }
    return HTTPURL.root(scheme, host)?.description
  }

  /// Without a slash at its beginning. Git tells it if `credential.useHttpPath` is set.
  var path: String { attributes["path"] ?? "" }

  /// The user that the password is to be for. It is nil if any user will do.
  var username: String? { attributes["username"].flatMap { $0.isEmpty ? nil : $0 } }

  /// Basic, as git hosts take a token: in place of the password, under the name that git was told or `user`. With
  /// `asBearer` as a bearer token (RFC 6750), which other helpers are told not to keep.
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
