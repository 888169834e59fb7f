/// The way in which a user, or the client itself, signs in.
package enum SignInFlow: String, CaseIterable, Hashable, Sendable {
  /// A code that the user enters on another device (RFC 8628).
  case device
  /// The authorization code flow with PKCE, in the user's browser (RFC 6749, section 4.1; RFC 7636; RFC 8252).
  case browser
  /// A user name and password, which Hearth sends to the account's backend or to Firebase.
  case password
  /// The client's own grant, without a user (RFC 6749, section 4.4).
  case clientCredentials = "client-credentials"

  /// Whether the sign-in waits for the user to do something.
  package var waitsForPerson: Bool {
    switch self {
    case .device, .browser: true
    case .password, .clientCredentials: false
    }
  }
}

/// What the user has to do to sign in.
package enum SignInSteps: Hashable, Sendable {
  case browser(BrowserSignIn)
  case device(DeviceSignIn)
}

/// A sign-in in progress, as shown to clients.
package struct SignInProgress: Hashable, Sendable {
  /// The time limit for a sign-in in the browser.
  package static let timeout: Duration = .seconds(600)

  package let flow: SignInFlow
  /// The time at which the sign-in times out.
  package var expiresAt: Timestamp
  /// The reason why the browser's response was not accepted and what to do about it, or `nil` if no response was
  /// refused.
  package var message: String?

  package init(flow: SignInFlow, expiresAt: Timestamp, message: String? = nil) {
    (self.flow, self.expiresAt, self.message) = (flow, expiresAt, message)
  }
}
