/// A sign-in that goes on in the browser: what was asked of the provider, and what its answer must agree with.
package struct BrowserSignIn: Hashable, Sendable {
  /// Where the browser is sent (RFC 6749, section 4.1.1). It carries `state` and `nonce`, so it is for the person alone
  /// and is not logged.
  package let authorizationURL: String
  /// Where the provider sends the browser back, on a loopback address (RFC 8252, section 7.3).
  package let redirectURI: String
  /// Ties the answer to the request (RFC 6749, section 10.12).
  package let state: Secret
  /// Ties the ID token to the request (OpenID Connect Core, section 3.1.2.1); nil where none is asked for.
  package let nonce: Secret?
  /// RFC 7636, section 4.1.
  package let codeVerifier: Secret
  /// The issuer that the answer names, where the provider says that it names one (RFC 9207, section 2.4).
  package let issuer: IssuerCheck

  package enum IssuerCheck: Hashable, Sendable {
    /// `iss` has to be there.
    case required(String)
    /// `iss` may be missing, and has to be this one where it is there.
    case ifPresent(String)
    /// No issuer is known.
    case none
  }

  package init(
    authorizationURL: String, redirectURI: String, state: Secret, nonce: Secret?, codeVerifier: Secret,
    issuer: IssuerCheck
  ) {
    self.authorizationURL = authorizationURL
    self.redirectURI = redirectURI
    self.state = state
    self.nonce = nonce
    self.codeVerifier = codeVerifier
    self.issuer = issuer
  }
}
