/// The provider's side of a sign-in. Each call is one step, and the endpoint keeps no state between calls.
///
/// Returned grants are validated: the token is a Bearer token, and the ID token, if any, satisfies OpenID Connect Core,
/// section 3.1.3.7.
package protocol SignInEndpoint: Sendable {
  /// The address that the provider redirects the browser to. Its path is the one that is registered for the client.
  var redirect: RedirectAddress { get }

  /// Creates the authorization request for the browser. Pushes the request if the provider supports or requires that
  /// (RFC 9126). `redirectURI` is `redirect` with the listener's port.
  func beginBrowser(redirectURI: String) async throws(SignInFailure) -> BrowserSignIn

  /// Exchanges an authorization code for tokens (RFC 6749, section 4.1.3).
  func redeem(code: Secret, of signIn: BrowserSignIn) async throws(SignInFailure) -> TokenResponse

  /// Requests a device code (RFC 8628, section 3.1).
  func beginDevice() async throws(SignInFailure) -> DeviceSignIn

  /// Asks the provider whether the user has finished (RFC 8628, section 3.4).
  func poll(_ signIn: DeviceSignIn) async throws(SignInFailure) -> GrantAnswer

  var takesPassword: Bool { get }

  /// Signs in with a user name and a password. Throws unless `takesPassword` is true.
  func signIn(username: String, password: Secret) async throws(SignInFailure) -> TokenResponse

  /// Returns the URL of the page that ends the user's session at the provider (OpenID Connect RP-Initiated Logout 1.0,
  /// section 2). The ID token of `signedOut` identifies the session. Without one, the provider may ask for
  /// confirmation.
  func endSession(of signedOut: Credential?) async throws(SignInFailure) -> String
}

/// The loopback address that the provider redirects the browser to (RFC 8252, section 7.3).
package struct RedirectAddress: Hashable, Sendable {
  /// The host: `127.0.0.1`, `[::1]`, or `localhost` if the provider accepts nothing else.
  package let host: String
  /// The registered port, or `nil` if the provider accepts any port.
  package let port: Int?
  /// The path, starting with `/` and without a query. If the registered address has no path, such as
  /// `http://localhost`, this is empty, because providers compare addresses as text.
  package let path: String

  package init(host: String = "127.0.0.1", port: Int? = nil, path: String = "/callback") {
    (self.host, self.port, self.path) = (host, port, path)
  }
}
