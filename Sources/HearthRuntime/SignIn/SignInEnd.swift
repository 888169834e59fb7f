package import HearthCore

/// Why a sign-in did not bring a session; the session before it stays.
package enum SignInEnd: Error, Hashable, Sendable {
  case failed(SignInFailure)
  /// The grant could not be asked for or kept.
  case notAdopted(AdoptionFailure)
  /// The person gave it up.
  case cancelled
  /// Another sign-in of the same account has begun.
  case superseded
  case signedOut
  /// The account's configuration was changed meanwhile.
  case reconfigured
  case stopping
}
