/// Why a sign-in failed, by what can be done about it. The session before it stays. Messages are for people and hold no
/// secret.
package enum SignInFailure: Error, Hashable, Sendable {
  /// The account or its provider does not have this flow.
  case notSupported(message: String)
  /// The provider could not be asked: the same step may succeed later.
  case unavailable(message: String, retryAfter: Duration?)
  /// The person or the provider said no (`access_denied`).
  case denied(message: String)
  /// The code has expired (`expired_token`), or the person took too long.
  case expired(message: String)
  /// The provider has not granted anything yet, and is polled again.
  case pending(DevicePolling.Answer)
  /// The provider answered with an error, or with nothing that can be used.
  case failed(message: String)
  /// The provider granted what must not be used, such as one whose ID token is not valid: it is to be revoked.
  case unusable(TokenResponse, message: String)

  package var message: String {
    switch self {
    case .notSupported(let message), .unavailable(let message, _), .denied(let message), .expired(let message),
      .failed(let message), .unusable(_, let message):
      message
    case .pending: "The provider waits for the person."
    }
  }
}
