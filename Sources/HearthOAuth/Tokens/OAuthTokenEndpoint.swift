import HearthCore

/// An OAuth 2.0 provider's token endpoint, configured or discovered (RFC 6749, section 6; OIDC Core, section 12).
struct OAuthTokenEndpoint: TokenEndpoint {
  let source: EndpointSource
  let client: OAuthClient
  let exchange: TokenExchange
  var sendsScopeOnRefresh = true
  /// Scopes to add to refresh requests that list scopes. Without them, some providers do not issue a new refresh token.
  var offlineScopes: [String] = []
  var userInfoSubjectField = "sub"

  func refresh(_ credential: Credential) async throws(RefreshFailure) -> TokenResponse {
    let refreshToken = try exchange.refreshToken(of: credential)
    let fields = [("grant_type", "refresh_token"), ("refresh_token", refreshToken.reveal())]
    return try await requestGrant(fields + scopeField(of: credential.grant), for: credential)
  }

  /// Returns the field `scope` with the granted scopes and the `offlineScopes`, or no field if there are none or
  /// `sendsScopeOnRefresh` is false. Ignores a comma-separated list of granted scopes, which is malformed. A request
  /// without this field asks for the granted scopes (RFC 6749, section 6), but some providers then grant different
  /// ones.
  private func scopeField(of grant: Grant) -> [(String, String)] {
    guard sendsScopeOnRefresh else { return [] }
    // If the granted scopes are unknown, as after an import, a refresh that must list offline scopes also lists the
    // configured scopes.
    let unknown = offlineScopes.isEmpty ? [] : client.scopes
    let granted = grant.scope.map { $0.contains(",") ? [] : $0.split(separator: " ").map(String.init) } ?? unknown
    let names = granted + offlineScopes.filter { !granted.contains($0) }
    return names.isEmpty ? [] : [("scope", names.joined(separator: " "))]
  }

  /// A token endpoint's response and what is needed to read it.
  struct Answer {
    let response: HTTPResponse
    /// The endpoints to which the request was sent.
    let endpoints: ProviderEndpoints
    let reader: TokenResponseReader
  }

  func requestGrant(
    _ fields: [(String, String)], for credential: Credential?
  ) async throws(RefreshFailure) -> TokenResponse {
    let answer = try await ask(fields, for: credential)
    var granted = try await answer.response.read(answer.reader.read)
    granted.origins = answer.endpoints.origins
    return granted
  }

  /// Sends a request to the token endpoint. If the endpoint returns 404 and discovery finds a new endpoint, sends the
  /// request to the new one. `secrets` are the secrets in the fields, in addition to the credential's tokens.
  func ask(
    _ fields: [(String, String)], for credential: Credential?, secrets own: [Secret] = []
  ) async throws(RefreshFailure) -> Answer {
    if let credential { try exchange.requireBinding(of: credential) }
    let fields = fields + exchange.parameters
    var endpoints = try await source.endpoints()
    var (response, secrets) = try await send(fields, to: endpoints, for: credential)
    if response.status == 404, let moved = try await source.moved(from: endpoints) {
      endpoints = moved
      (response, secrets) = try await send(fields, to: moved, for: credential)
    }
    let reader = exchange.reader(.oauth, origin: endpoints.token.origin, for: credential, secrets: secrets + own)
    return Answer(response: response, endpoints: endpoints, reader: reader)
  }

  private func send(
    _ fields: [(String, String)], to endpoints: ProviderEndpoints, for credential: Credential?
  ) async throws(RefreshFailure) -> (HTTPResponse, [Secret]) {
    if let credential { try exchange.requireBinding(of: credential, to: endpoints.token.origin) }
    let (request, secrets) = try await client.request(fields, to: endpoints.token, of: endpoints, exchange)
    return (try await exchange.send(request), secrets)
  }

  /// Revokes the refresh token, which can produce new tokens, and then the access token (RFC 7009, section 2.1).
  /// Returns the outcome for the first one.
  func revoke(_ credential: Credential) async -> RevocationOutcome {
    let tokens: [(Token?, String)] = [
      (credential.grant.refreshToken, "refresh_token"), (credential.grant.accessToken, "access_token"),
    ]
    var first: RevocationOutcome?
    do {
      let endpoints = try await source.endpoints()
      guard let url = endpoints.revocation else {
        return .refused(message: "No revocation endpoint of the provider is known.")
      }
      try exchange.requireBinding(of: credential, to: url, of: endpoints)
      for case (let token?, let hint) in tokens where !token.secret.isEmpty {
        let fields = [("token", token.secret.reveal()), ("token_type_hint", hint)]
        var request = try await client.request(fields, to: url, of: endpoints, exchange).request
        // Only the status matters (RFC 7009, section 2.2), even if the connection breaks afterwards.
        request.reading = .statusSaysEnough
        let outcome = RevocationOutcome(try await exchange.send(request), of: url.origin)
        first = first ?? outcome
      }
    } catch {
      // If the provider has already answered for the first token, that outcome counts. Otherwise, Hearth keeps
      // retrying, even after an error in the configuration, because the user may fix it later.
      let retryAfter: Duration? = if case .unavailable(_, let time) = error { time } else { nil }
      return first ?? .unavailable(retryAfter: retryAfter)
    }
    return first ?? .refused(message: "There is no token to revoke.")
  }

  func expiry(of token: Token, at now: Timestamp) -> Timestamp? { exchange.expiry(of: token, at: now) }

  func time() async throws(RefreshFailure) -> Timestamp {
    try await exchange.time(at: try await source.endpoints().token)
  }

  func origin() async -> Origin? { try? await source.endpoints().token.origin }

  func origins() async -> Set<Origin>? { try? await source.endpoints().origins }

  func identify(_ credential: Credential) async -> Subject? {
    // The UserInfo endpoint would only repeat the ID token's subject (OIDC Core, section 5.3.2), so no request is
    // needed if the subject is already known.
    let claims = credential.grant.idToken.flatMap { JWTClaims($0.secret.reveal()) }
    if let claims, claims.areFor(exchange.audiences), let named = claims.subject(default: exchange.issuer) {
      return named
    }
    guard let endpoints = try? await source.endpoints() else { return nil }
    return await userInfo(credential, endpoints).map(exchange.issuer.subject)
  }

  /// Returns the user's ID from the UserInfo endpoint (OIDC Core, section 5.3) or from an API used in its place.
  /// Returns `nil` if the ID cannot be obtained.
  private func userInfo(_ credential: Credential, _ endpoints: ProviderEndpoints) async -> String? {
    guard let url = endpoints.userInfo, !credential.grant.accessToken.secret.isEmpty else { return nil }
    let request = HTTPSender.Request(url: url, headers: [.acceptJSON, .bearer(credential.grant.accessToken)])
    do {
      try exchange.requireBinding(of: credential, to: url, of: endpoints)
      let response = try await exchange.send(request)
      guard response.status == 200 else { return nil }
      let path = userInfoSubjectField.path
      let name = await response.read { JSONValue(parsing: $0.body)?[path]?.name }
      return name.flatMap { Subject.isName($0) ? $0 : nil }
    } catch {
      return nil
    }
  }
}

extension RevocationOutcome {
  /// Interprets the provider's response to a revocation request (RFC 7009, sections 2.2 and 2.2.1).
  fileprivate init(_ response: HTTPResponse, of origin: Origin) {
    switch response.status {
    case 200: self = .revoked
    case 400..<500 where ![407, 408, 425, 429].contains(response.status) && !response.isPage:
      self = .refused(message: "\(origin) rejected the revocation request: HTTP \(response.status).")
    default: self = .unavailable(retryAfter: response.retryAfter)
    }
  }
}
