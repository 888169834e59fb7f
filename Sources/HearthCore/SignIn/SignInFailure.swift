/// The reason why a sign-in or an import failed. The previous session stays in use. Messages are for users and contain no secrets.
package enum SignInFailure: Error, Hashable, Sendable {
  /// The account or the provider does not support this flow.
  case notSupported(message: String)
  /// The provider is unavailable. The same step may succeed later.
  case unavailable(message: String, retryAfter: Duration?)
  /// The user or the provider denied access (`access_denied`).
  case denied(message: String)
  /// The device code has expired (`expired_token`; RFC 8628, section 3.5).
  case expired(message: String)
  /// The provider returned an error or an unusable response.
  case failed(message: String)
  /// The provider has granted tokens that must not be used and have to be revoked, for example because the ID token is
  /// invalid.
  case unusable(TokenResponse, message: String)
  /// The provider did not refresh an imported grant.
  case refresh(RefreshFailure)

  package var message: String {
    switch self {
    case .notSupported(let message), .unavailable(let message, _), .denied(let message), .expired(let message),
      .failed(let message), .unusable(_, let message):
      message
    case .refresh(let failure): failure.message
    }
  }
}
