/// A client that is registered with the provider (RFC 6749, section 2).
package struct OAuthClient: Hashable, Sendable {
  package var id: String
  package var authentication = ClientAuthentication.automatic(nil)
  package var scopes: [String] = []
}

/// How the client authenticates to the provider (RFC 6749, section 2.3; OpenID Connect Core, section 9).
package enum ClientAuthentication: Hashable, Sendable {
  /// Sends the secret in the `Authorization` header, the default in OpenID Connect Discovery, section 3. If discovery
  /// lists `client_secret_post` but not `client_secret_basic`, sends the secret in the body. Without a secret, sends
  /// only the client ID.
  case automatic(ClientFile?)
  /// Sends only the client ID.
  case none
  /// Sends the secret with HTTP Basic (RFC 6749, section 2.3.1).
  case basic(ClientFile)
  /// Sends the client ID and the secret in the body (RFC 6749, section 2.3.1).
  case post(ClientFile)
  /// Sends a signed assertion (`private_key_jwt`; RFC 7523, section 2.2).
  case assertion(ClientKey)
  /// Sends a signed assertion in place of the secret, as Apple requires ("Creating a client secret").
  case appleSecret(ClientKey, teamID: String)
  /// Presents the TLS client certificate from `HTTPRoute` (RFC 8705, section 2).
  case tls
}

package struct ClientKey: Hashable, Sendable {
  let file: ClientFile
  /// The key's certificate, for providers that identify keys by thumbprint, such as Microsoft Entra.
  var certificate: ClientFile?
  /// The provider's name for the key (`kid`; RFC 7515, section 4.1.4).
  var id: String?
  /// The audience (`aud`) of assertions, or `nil` for the token endpoint's URL (for `appleSecret`, Apple's issuer).
  var audience: String?
}
