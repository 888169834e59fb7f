/// The client that is registered with the provider (RFC 6749, section 2).
package struct OAuthClient: Hashable, Sendable {
  package var id: String
  package var authentication = ClientAuthentication.automatic(nil)
  package var scopes: [String] = []
}

/// How the client authenticates (RFC 6749, section 2.3; OpenID Connect Core, section 9).
package enum ClientAuthentication: Hashable, Sendable {
  /// A secret in the body if discovery offers only that, otherwise in the `Authorization` header, which is the default
  /// (OpenID Connect Discovery, section 3). Without a secret the client sends only its name.
  case automatic(ClientFile?)
  /// The client sends only its name.
  case none
  /// The secret in HTTP Basic (RFC 6749, section 2.3.1).
  case basic(ClientFile)
  /// Identifier and secret in the body (RFC 6749, section 2.3.1).
  case post(ClientFile)
  /// A signed assertion, `private_key_jwt` (RFC 7523, section 2.2).
  case assertion(ClientKey)
  /// A signed assertion in place of the secret, for Apple ("Creating a client secret" of Sign in with Apple).
  case appleSecret(ClientKey, teamID: String)
  /// The certificate of the connection, which is in `HTTPRoute` (RFC 8705, section 2).
  case tls
}

/// A key that the client signs with.
package struct ClientKey: Hashable, Sendable {
  let file: ClientFile
  /// The certificate of the key, if the provider knows the key by its thumbprint (Microsoft Entra).
  var certificate: ClientFile?
  /// The provider's name for the key (`kid`; RFC 7515, section 4.1.4).
  var id: String?
  /// `aud` of assertions, or `nil` for the URL of the token endpoint.
  var audience: String?
}
