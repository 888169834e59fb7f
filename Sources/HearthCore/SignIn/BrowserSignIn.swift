/// A sign-in in the browser: what the provider was asked, and what its response has to match.
package struct BrowserSignIn: Hashable, Sendable {
  /// The URL to open (RFC 6749, section 4.1.1). It carries `state` and `nonce`, so it is not logged.
  package let authorizationURL: String
  /// The URL that the browser opens instead once the provider has refused a scope that nobody has configured: the same
  /// request without that scope. `nil` if every scope is configured.
  package let fallbackURL: String?
  /// The loopback address that the provider redirects the browser to (RFC 8252, section 7.3).
  package let redirectURI: String
  /// Ties the response to the request (RFC 6749, section 10.12).
  package let state: Secret
  /// Ties the ID token to the request (OpenID Connect Core, section 3.1.2.1). `nil` if no ID token is requested.
  package let nonce: Secret?
  /// The PKCE code verifier (RFC 7636, section 4.1).
  package let codeVerifier: Secret
  /// How the response's issuer is checked (RFC 9207, section 2.4).
  package let issuer: IssuerCheck

  package enum IssuerCheck: Hashable, Sendable {
    /// `iss` must be present, with this value.
    case required(String)
    /// `iss` may be missing. If it is present, it must have this value.
    case ifPresent(String)
    /// No issuer is known.
    case none
  }

  package init(
    authorizationURL: String, fallbackURL: String? = nil, redirectURI: String, state: Secret, nonce: Secret?,
    codeVerifier: Secret, issuer: IssuerCheck
  ) {
    self.authorizationURL = authorizationURL
    self.fallbackURL = fallbackURL
    self.redirectURI = redirectURI
    self.state = state
    self.nonce = nonce
    self.codeVerifier = codeVerifier
    self.issuer = issuer
  }
}
