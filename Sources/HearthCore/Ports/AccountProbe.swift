/// Tries each step on the way to an account's provider and APIs. It changes nothing there.
package protocol AccountProbe: Sendable {
  /// `bearer`: the token that the APIs are shown; nil where the session has none.
  func checks(_ bearer: Bearer?) async -> [Diagnosis]
}
