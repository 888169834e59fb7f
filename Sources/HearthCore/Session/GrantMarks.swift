/// Identifies a grant without its secrets.
package struct GrantMarks: Hashable, Sendable {
  let accessToken: Fingerprint
  let refreshToken: Fingerprint?
  let idToken: Fingerprint?

  package init(_ grant: Grant) {
    accessToken = grant.accessToken.fingerprint
    refreshToken = grant.refreshToken?.fingerprint
    idToken = grant.idToken?.fingerprint
  }

  func contains(_ fingerprint: Fingerprint?) -> Bool {
    guard let fingerprint else { return false }
    return fingerprint == accessToken || fingerprint == refreshToken || fingerprint == idToken
  }
}
