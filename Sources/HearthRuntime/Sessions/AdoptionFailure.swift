package import HearthCore

/// Why an imported grant is not used; the session before it stays.
package enum AdoptionFailure: Error, Hashable, Sendable {
  case provider(RefreshFailure)
  case storage(AccessFailure)
  case signIn(SignInFailure)
  /// It was locked meanwhile, and its credential is not to be replaced.
  case locked(SessionState)
  case stopping
  /// Another sign-in, a sign-out or another program's grant came in between.
  case superseded
}
