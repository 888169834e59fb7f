/// The provider's side of signing in. Each call is one step, and nothing is kept between two of them.
///
/// A grant that is returned has been checked: it is a Bearer token, and its ID token, where there is one, was validated as
/// OpenID Connect Core, section 3.1.3.7, says.
package protocol SignInEndpoint: Sendable {
  /// Where the browser has to be sent back: the host of the loopback address and its path as the client is registered.
  var redirect: RedirectAddress { get }

  /// Makes the request that the browser takes to the provider; pushes it where the provider offers or demands that
  /// (RFC 9126). `redirectURI`: `redirect` with the port that is listened on.
  func beginBrowser(redirectURI: String) async throws(SignInFailure) -> BrowserSignIn

  /// Exchanges the code that the browser came back with (RFC 6749, section 4.1.3).
  func redeem(code: Secret, of signIn: BrowserSignIn) async throws(SignInFailure) -> TokenResponse

  /// Asks for a code for another device (RFC 8628, section 3.1).
  func beginDevice() async throws(SignInFailure) -> DeviceSignIn

  /// Asks whether the person is done (RFC 8628, section 3.4): `pending` where not yet, or where it could not be asked.
  func poll(_ signIn: DeviceSignIn) async throws(SignInFailure) -> TokenResponse

  /// Whether `signIn(username:password:)` can be asked; nothing is sent.
  var takesPassword: Bool { get }

  /// Signs in with user name and password, at a backend of one's own.
  func signIn(username: String, password: Secret) async throws(SignInFailure) -> TokenResponse

  /// The page at which the browser ends the person's session at the provider (OpenID Connect RP-Initiated Logout 1.0,
  /// section 2). `signedOut`: names the session; nil where that is not known, and the person is asked.
  func endSession(of signedOut: Credential?) async throws(SignInFailure) -> String
}

/// The loopback address that the provider sends the browser back to (RFC 8252, section 7.3).
package struct RedirectAddress: Hashable, Sendable {
  /// `127.0.0.1`, `[::1]`, or `localhost` where a provider registers no other.
  package let host: String
  /// Nil: any free one.
  package let port: Int?
  /// From the first `/` on, without a query. Empty where the provider knows an address without one, such as
  /// `http://localhost`, which it compares as text.
  package let path: String

  package init(host: String = "127.0.0.1", port: Int? = nil, path: String = "/callback") {
    self.host = host
    self.port = port
    self.path = path
  }
}
