/// The folders that `~`, `%d` and `%t` stand for at the beginning of a path; nil where the environment does not name them.
package struct PathRoots: Sendable {
  package var home: String?
  /// The folder of the service's credentials (systemd.exec(5), LoadCredential=).
  package var credentials: String?
  /// The user's folder for what lasts as long as the login ($XDG_RUNTIME_DIR; systemd.unit(5), "Specifiers").
  package var runtime: String?

  package init(home: String? = nil, credentials: String? = nil, runtime: String? = nil) {
    (self.home, self.credentials, self.runtime) = (home, credentials, runtime)
  }

  /// An absolute path; nil where `path` begins with none of these signs nor `/`.
  func absolute(_ path: String) throws(UnknownRoot) -> String? {
    if path.hasPrefix("/") { return path }
    let signs = [
      ("~", home, "HOME"), ("%d", credentials, "CREDENTIALS_DIRECTORY"), ("%t", runtime, "XDG_RUNTIME_DIR"),
    ]
    for (sign, root, variable) in signs {
      guard path == sign || path.hasPrefix(sign + "/") else { continue }
      guard let root else { throw UnknownRoot(sign: sign, variable: variable) }
      return root + path.dropFirst(sign.count)
    }
    return nil
  }

  struct UnknownRoot: Error {
    let sign: String
    let variable: String
  }
}
