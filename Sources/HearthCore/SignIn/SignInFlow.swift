/// How a person, or the client itself, signs in.
package enum SignInFlow: String, CaseIterable, Hashable, Sendable {
  /// A code that the person types in on another device (RFC 8628).
  case device
  /// The authorization code with PKCE, by the person's browser (RFC 6749, section 4.1; RFC 7636; RFC 8252).
  case browser
  /// User name and password, at a backend of one's own.
  case password
  /// The client's own grant, for which nobody is needed (RFC 6749, section 4.4).
  case clientCredentials = "client-credentials"

  /// The sign-in goes on until somebody has done their part.
  package var waitsForPerson: Bool {
    switch self {
    case .device, .browser: true
    case .password, .clientCredentials: false
    }
  }
}
