import HearthCore

/// The token endpoint of an OAuth 2.0 provider, named or discovered (RFC 6749, section 6; OIDC Core, section 12).
struct OAuthTokenEndpoint: TokenEndpoint {
  let source: EndpointSource
  let client: OAuthClient
  let exchange: TokenExchange
  var sendsScopeOnRefresh = true
  var userInfoSubjectField = "sub"

  func refresh(_ credential: Credential) async throws(RefreshFailure) -> TokenResponse {
    let refreshToken = try exchange.refreshToken(of: credential)
    // The scopes are said again because some providers grant fewer, or none, unasked.
    let scope = sendsScopeOnRefresh ? client.scopeField : []
    let fields = [("grant_type", "refresh_token"), ("refresh_token", refreshToken.reveal())] + scope
    return try await ask(fields, for: credential)
  }

  /// Asks the token endpoint for a grant; where discovery has moved it, a second time at its new place.
  func ask(_ fields: [(String, String)], for credential: Credential?) async throws(RefreshFailure) -> TokenResponse {
    if let credential { try exchange.requireBinding(of: credential) }
    let fields = fields + exchange.parameters
    var endpoints = try await source.endpoints()
    var (answer, secrets) = try await send(fields, to: endpoints, for: credential)
    if answer.status == 404, let moved = try await source.moved(from: endpoints) {
      endpoints = moved
      (answer, secrets) = try await send(fields, to: moved, for: credential)
    }
    let reader = exchange.reader(
      .oauth, origin: endpoints.token.origin, issuer: source.issuer(of: endpoints), for: credential, secrets: secrets)
    return try reader.read(answer)
  }

  private func send(
    _ fields: [(String, String)], to endpoints: ProviderEndpoints, for credential: Credential?
  ) async throws(RefreshFailure) -> (HTTPResponse, [Secret]) {
    if let credential { try exchange.requireBinding(of: credential, to: endpoints.token.origin) }
    let (request, secrets) = try await client.request(
      fields, to: endpoints.token, of: endpoints, at: exchange.sender.clock.now())
    return (try await exchange.send(request), secrets)
  }

  /// The refresh token first, since it makes new ones (RFC 7009, section 2.1).
  func revoke(_ credential: Credential) async -> Bool {
    let tokens: [(Token?, String)] = [
      (credential.grant.refreshToken, "refresh_token"), (credential.grant.accessToken, "access_token"),
    ]
    var taken: [Bool] = []
    do {
      let endpoints = try await source.endpoints()
      guard let url = endpoints.revocation else { return false }
      try exchange.requireBinding(of: credential, to: endpoints.token.origin)
      for case (let token?, let hint) in tokens where !token.secret.isEmpty {
        let fields = [("token", token.secret.reveal()), ("token_type_hint", hint)]
        let request = try await client.request(
          fields, to: url, of: endpoints, at: exchange.sender.clock.now()
        ).request
        taken.append(try await exchange.send(request).status == 200)
      }
    } catch {
      // What was taken before still counts.
    }
    return taken.first ?? false
  }

  func expiry(of token: Token, at now: Timestamp) -> Timestamp? { exchange.expiry(of: token, at: now) }

  func origin() async -> Origin? { try? await source.endpoints().token.origin }

  func identify(_ credential: Credential) async -> Subject? {
    let claims = credential.grant.idToken.flatMap { JWTClaims($0.secret.reveal()) }
    if let told = claims?.toldSubject { return told }
    guard let endpoints = try? await source.endpoints() else { return nil }
    let issuer = source.issuer(of: endpoints)
    // What the UserInfo endpoint says could only repeat the ID token's subject (OIDC Core, section 5.3.2).
    if let named = claims?.subject(besides: issuer) { return named }
    return (await userInfo(credential, endpoints) ?? exchange.configuredSubject).map(issuer.subject)
  }

  /// The user's name at the UserInfo endpoint (OIDC Core, section 5.3), or at what stands for it.
  private func userInfo(_ credential: Credential, _ endpoints: ProviderEndpoints) async -> String? {
    guard let url = endpoints.userInfo, !credential.grant.accessToken.secret.isEmpty else { return nil }
    let request = HTTPSender.Request(
      url: url,
      headers: [
        APIRequest.Header(name: "Accept", value: "application/json"),
        APIRequest.Header(name: "Authorization", value: "Bearer " + credential.grant.accessToken.secret.reveal()),
      ])
    do {
      try exchange.requireBinding(of: credential, to: endpoints.token.origin)
      let answer = try await exchange.send(request)
      guard answer.status == 200 else { return nil }
      return JSONValue(parsing: answer.body)?[userInfoSubjectField.path]?.name
    } catch {
      return nil
    }
  }
}
