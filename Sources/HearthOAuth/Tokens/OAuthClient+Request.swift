import FoundationEssentials
import HearthCore

extension OAuthClient {
  /// Returns an authenticated request and the secrets in it, which must be masked in messages. If `isNamed` is true,
  /// the body always contains the client ID (RFC 9126, section 2.1; RFC 8628, section 3.1).
  func request(
    _ fields: [(String, String)], to url: HTTPURL, of endpoints: ProviderEndpoints, _ exchange: TokenExchange,
    isNamed: Bool = false
  ) async throws(RefreshFailure) -> (request: HTTPSender.Request, secrets: [Secret]) {
    let name = isNamed ? [("client_id", id)] : []
    switch authentication {
    case .automatic(nil), .none, .tls:
      return (.form(fields + [("client_id", id)], to: url), [])
    case .automatic(let secret?):
      let secret = try await secret.secret(from: exchange.files)
      return endpoints.wantsSecretInBody ? post(fields, secret, to: url) : basic(fields + name, secret, to: url)
    case .basic(let secret):
      return basic(fields + name, try await secret.secret(from: exchange.files), to: url)
    case .post(let secret):
      return post(fields, try await secret.secret(from: exchange.files), to: url)
    case .assertion(let key):
      // Identifies the provider by the token endpoint's URL, even for revocation (RFC 7523, section 3). OpenID Connect
      // Core recommends this, and Okta and Entra require it. FAPI 2.0 and Auth0 require the issuer instead, which users
      // configure as the audience.
      let assertion = try await key.assertion(
        by: id, about: id, for: key.audience ?? endpoints.token.description, in: endpoints.signingAlgorithms,
        from: exchange.files, at: exchange.now)
      let proof = [
        ("client_id", id), ("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"),
        ("client_assertion", assertion.reveal()),
      ]
      return (.form(fields + proof, to: url), [assertion])
    case .appleSecret(let key, let teamID):
      let secret = try await key.assertion(
        by: teamID, about: id, for: key.audience ?? "https://appleid.apple.com", in: ["ES256"], from: exchange.files,
        at: exchange.now)
      return post(fields, secret, to: url)
    }
  }

  private func basic(
    _ fields: [(String, String)], _ secret: Secret, to url: HTTPURL
  ) -> (request: HTTPSender.Request, secrets: [Secret]) {
    let pair = FormBody.encode(id) + ":" + FormBody.encode(secret.reveal())
    let basic = Data(pair.utf8).base64EncodedString()
    return (.form(fields, to: url, authorization: "Basic " + basic), [secret, Secret(basic)])
  }

  private func post(
    _ fields: [(String, String)], _ secret: Secret, to url: HTTPURL
  ) -> (request: HTTPSender.Request, secrets: [Secret]) {
    (.form(fields + [("client_id", id), ("client_secret", secret.reveal())], to: url), [secret])
  }

  /// The secret that the client shares with the provider, if any.
  var sharedSecret: ClientFile? {
    switch authentication {
    case .automatic(let secret): secret
    case .basic(let secret), .post(let secret): secret
    case .none, .assertion, .appleSecret, .tls: nil
    }
  }

  /// Whether the client cannot authenticate. Providers may reject some requests from such clients.
  var isPublic: Bool {
    switch authentication {
    case .automatic(nil), .none: true
    case .automatic, .basic, .post, .assertion, .appleSecret, .tls: false
    }
  }

  var scopeField: [(String, String)] {
    scopes.isEmpty ? [] : [("scope", scopes.joined(separator: " "))]
  }
}

extension ProviderEndpoints {
  /// Whether the provider accepts the client secret only in the body.
  fileprivate var wantsSecretInBody: Bool {
    guard let authenticationMethods else { return false }
    return authenticationMethods.contains("client_secret_post")
      && !authenticationMethods.contains("client_secret_basic")
  }
}
