/// Who asks: the client registered with the provider (RFC 6749, section 2).
package struct OAuthClient: Sendable {
  package var id: String
  package var authentication: ClientAuthentication
  package var scopes: [String]

  package init(id: String, authentication: ClientAuthentication, scopes: [String] = []) {
    self.id = id
    self.authentication = authentication
    self.scopes = scopes
  }

  /// One that authenticates as the provider offers it.
  package init(id: String, secret: ClientSecret? = nil, scopes: [String] = []) {
    self.init(id: id, authentication: .automatic(secret), scopes: scopes)
  }

  /// It authenticates by the certificate of its connection.
  var usesMutualTLS: Bool {
    switch authentication {
    case .tls: true
    case .automatic, .none, .basic, .post, .assertion, .appleSecret: false
    }
  }
}

/// How the client shows the provider who it is (RFC 6749, section 2.3; OpenID Connect Core, section 9).
package enum ClientAuthentication: Sendable {
  /// Its secret goes where discovery says that it is taken, and into the `Authorization` header where discovery is
  /// silent (OpenID Connect Discovery, section 3). Without a secret the client only names itself.
  case automatic(ClientSecret?)
  /// It only names itself.
  case none
  /// HTTP Basic (RFC 6749, section 2.3.1).
  case basic(ClientSecret)
  /// Identifier and secret in the body (RFC 6749, section 2.3.1).
  case post(ClientSecret)
  /// A signed assertion, `private_key_jwt` (RFC 7523, section 2.2).
  case assertion(ClientKey)
  /// A signed assertion in place of the secret, as Apple has it ("Creating a client secret" of Sign in with Apple).
  case appleSecret(ClientKey, teamID: String)
  /// The certificate of its connection (RFC 8705, section 2); `HTTPRoute` has it.
  case tls
}

/// A key that the client signs with.
package struct ClientKey: Sendable {
  let file: ClientFile
  /// Beside the key, where the provider knows it by the thumbprint of a certificate (Microsoft Entra).
  let certificate: ClientFile?
  /// What the provider calls the key (`kid`; RFC 7515, section 4.1.4).
  let id: String?
  /// `aud` of assertions; nil: the URL of the token endpoint.
  let audience: String?

  package init(file: ClientFile, certificate: ClientFile? = nil, id: String? = nil, audience: String? = nil) {
    self.file = file
    self.certificate = certificate
    self.id = id
    self.audience = audience
  }
}
