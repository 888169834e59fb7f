/// Why a sign-in failed, by what can be done about it. The previous session stays. Messages are for people and hold no
/// secret.
package enum SignInFailure: Error, Hashable, Sendable {
  /// The account or its provider does not support this flow.
  case notSupported(message: String)
  /// The provider could not be asked. The same step may succeed later.
  case unavailable(message: String, retryAfter: Duration?)
  /// The user or the provider refused (`access_denied`).
  case denied(message: String)
  /// The code has expired (`expired_token`), or the user took too long.
  case expired(message: String)
  /// The provider has not granted anything yet, and is polled again.
  case pending(DevicePolling.Answer)
  /// The provider answered with an error, or with something unusable.
  case failed(message: String)
  /// The provider granted tokens that must not be used, for example with an invalid ID token. They have to be revoked.
  case unusable(TokenResponse, message: String)

  package var message: String {
    switch self {
    case .notSupported(let message), .unavailable(let message, _), .denied(let message), .expired(let message),
      .failed(let message), .unusable(_, let message):
      message
    case .pending: "The provider is waiting for the user."
    }
  }
}
