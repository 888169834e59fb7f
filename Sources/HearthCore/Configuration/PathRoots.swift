/// The folders that `~` and `%d` stand for at the beginning of a path; nil where the environment does not name them.
package struct PathRoots: Sendable {
  package var home: String?
  /// The folder of the service's credentials (systemd.exec(5), LoadCredential=).
  package var credentials: String?

  package init(home: String? = nil, credentials: String? = nil) {
    (self.home, self.credentials) = (home, credentials)
  }

  /// An absolute path; nil where `path` begins with neither of these signs nor `/`.
  func absolute(_ path: String) throws(UnknownRoot) -> String? {
    if path.hasPrefix("/") { return path }
    for (sign, root, variable) in [("~", home, "HOME"), ("%d", credentials, "CREDENTIALS_DIRECTORY")] {
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
