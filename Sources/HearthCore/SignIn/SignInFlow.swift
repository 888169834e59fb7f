/// How a user, or the client itself, signs in.
package enum SignInFlow: String, CaseIterable, Hashable, Sendable {
  /// A code that the user types in on another device (RFC 8628).
  case device
  /// The authorization code flow with PKCE, in the user's browser (RFC 6749, section 4.1; RFC 7636; RFC 8252).
  case browser
  /// User name and password, at the user's own backend.
  case password
  /// The client's own grant, which needs no user (RFC 6749, section 4.4).
  case clientCredentials = "client-credentials"

  /// Whether the sign-in waits until a user has done their part.
  package var waitsForPerson: Bool {
    switch self {
    case .device, .browser: true
    case .password, .clientCredentials: false
    }
  }
}

/// A sign-in under way, as clients see it.
package struct SignInProgress: Hashable, Sendable {
  package let flow: SignInFlow
  /// When the sign-in is given up.
  package var expiresAt: Timestamp
  /// Why the browser's answer was not used and what to do, or `nil` if none was refused.
  package var message: String?

  package init(flow: SignInFlow, expiresAt: Timestamp, message: String? = nil) {
    (self.flow, self.expiresAt, self.message) = (flow, expiresAt, message)
  }
}
