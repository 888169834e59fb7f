package import HearthCore

/// Why a sign-in did not bring a session; the session before it stays.
package enum SignInEnd: Error, Hashable, Sendable {
  case failed(SignInFailure)
  /// The grant could not be asked for or kept.
  case notAdopted(AdoptionFailure)
  /// The session did not get the client's own grant.
  case rejected(SessionRejection)
  case interrupted(SignInInterruption)
}
