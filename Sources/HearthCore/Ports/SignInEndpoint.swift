/// The provider's side of signing in. Each call is one step and keeps no state between calls.
///
/// A returned grant has been checked: it is a Bearer token, and its ID token, if there is one, was validated according
/// to OpenID Connect Core, section 3.1.3.7.
package protocol SignInEndpoint: Sendable {
  /// Where the provider redirects the browser: the loopback host, and the path that the client is registered with.
  var redirect: RedirectAddress { get }

  /// Makes the authorization request for the browser. Pushes it if the provider offers or requires that (RFC 9126).
  /// `redirectURI` is `redirect` with the port of the listener.
  func beginBrowser(redirectURI: String) async throws(SignInFailure) -> BrowserSignIn

  /// Exchanges the authorization code (RFC 6749, section 4.1.3).
  func redeem(code: Secret, of signIn: BrowserSignIn) async throws(SignInFailure) -> TokenResponse

  /// Requests a code for another device (RFC 8628, section 3.1).
  func beginDevice() async throws(SignInFailure) -> DeviceSignIn

  /// Asks whether the user has finished (RFC 8628, section 3.4). Throws `pending` if not, or if nobody answered.
  func poll(_ signIn: DeviceSignIn) async throws(SignInFailure) -> TokenResponse

  /// Whether `signIn(username:password:)` is supported. Sends nothing.
  var takesPassword: Bool { get }

  /// Signs in with user name and password at the user's own backend.
  func signIn(username: String, password: Secret) async throws(SignInFailure) -> TokenResponse

  /// The page at which the browser ends the user's session at the provider (OpenID Connect RP-Initiated Logout 1.0,
  /// section 2). `signedOut` names the session; if it is `nil`, the provider asks the user.
  func endSession(of signedOut: Credential?) async throws(SignInFailure) -> String
}

/// The loopback address that the provider redirects the browser to (RFC 8252, section 7.3).
package struct RedirectAddress: Hashable, Sendable {
  /// `127.0.0.1`, `[::1]`, or `localhost` if a provider registers no other.
  package let host: String
  /// The fixed redirect port, if the provider requires one.
  package let port: Int?
  /// The path from the first `/`, without a query. Empty if the provider knows an address without one, such as
  /// `http://localhost`, which it compares as text.
  package let path: String

  package init(host: String = "127.0.0.1", port: Int? = nil, path: String = "/callback") {
    (self.host, self.port, self.path) = (host, port, path)
  }
}
