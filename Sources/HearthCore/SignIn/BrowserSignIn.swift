/// A sign-in in the browser: the request to the provider, and the values that the response has to match.
package struct BrowserSignIn: Hashable, Sendable {
  /// The URL to open in the browser (RFC 6749, section 4.1.1). It must not be logged, because it usually contains
  /// `state` and `nonce`.
  package let authorizationURL: String
  /// The URL to open if the provider refuses the scope for offline access that Hearth adds, or `nil` if Hearth has
  /// not added that scope or has pushed the request (RFC 9126).
  package let fallbackURL: String?
  /// The loopback URL that the provider redirects the browser to (RFC 8252, section 7.3).
  package let redirectURI: String
  /// The value that binds the response to the request (RFC 6749, section 10.12).
  package let state: Secret
  /// The value that binds the ID token to the request (OpenID Connect Core, section 3.1.2.1), or `nil` if no ID token
  /// is requested.
  package let nonce: Secret?
  /// The PKCE code verifier (RFC 7636, section 4.1).
  package let codeVerifier: Secret
  /// The check of the issuer in the response (RFC 9207, section 2.4).
  package let issuer: IssuerCheck

  package enum IssuerCheck: Hashable, Sendable {
    /// `iss` must be present and have this value.
    case required(String)
    /// `iss` may be missing, but must have this value if it is present.
    case ifPresent(String)
    /// The issuer is unknown, so `iss` is not checked.
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
