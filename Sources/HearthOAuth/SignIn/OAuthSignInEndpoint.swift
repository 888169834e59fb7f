import HearthCore

/// Signs in to an OAuth 2.0 provider with a browser or with a code on another device (RFC 6749, section 4.1; RFC 8628).
struct OAuthSignInEndpoint: SignInEndpoint {
  /// The account's token endpoint, which shares its discovery results with sign-ins.
  let tokens: OAuthTokenEndpoint
  let settings: SignInSettings
  let authorizationParameters: [String: String]
  let idTokens: IDTokenValidator

  var redirect: RedirectAddress { settings.redirect ?? RedirectAddress() }

  /// The password grant must not be used (RFC 9700, section 2.4).
  var takesPassword: Bool { false }

  func signIn(username: String, password: Secret) async throws(SignInFailure) -> TokenResponse {
    throw .notSupported(
      message: "Hearth cannot sign in to an OAuth provider with a password. Sign in with a browser or a device code.")
  }

  /// The scopes to request. If the account uses discovery and configures no scopes, this is `openid`, which every
  /// OpenID request must contain (OpenID Connect Core, section 3.1.2.1).
  var scopes: [String] { tokens.client.scopes.isEmpty && isDiscovered ? ["openid"] : tokens.client.scopes }

  /// Returns the scopes that Hearth adds to obtain a refresh token. If the preset has offline scopes, Hearth adds
  /// those. Otherwise, if the account uses discovery without configured scopes and the provider lists `offline_access`,
  /// Hearth adds `offline_access` (OpenID Connect Core, section 11). If the provider rejects an added scope, Hearth
  /// retries without the added scopes.
  func offlineScopes(at endpoints: ProviderEndpoints) -> [String] {
    guard settings.offlineScopes.isEmpty else { return settings.offlineScopes.filter { !scopes.contains($0) } }
    let isOpen = tokens.client.scopes.isEmpty && isDiscovered
    return isOpen && endpoints.scopes?.contains("offline_access") == true ? ["offline_access"] : []
  }

  /// Returns the URL at which a browser ends the session at the provider (OpenID Connect RP-Initiated Logout 1.0).
  func endSession(of signedOut: Credential?) async throws(SignInFailure) -> String {
    let endpoints = try await endpoints()
    guard let page = endpoints.endSession else {
      throw .notSupported(
        message: "The provider's sign-out page (end_session_endpoint) is unknown. Sign out on the provider's website.")
    }
    var fields = [("client_id", tokens.client.id)]
    // The ID token must not reach an origin that was not one of the provider's at sign-in.
    if let signedOut, let idToken = signedOut.grant.idToken, signedOut.mayReach(page.origin) {
      fields.insert(("id_token_hint", idToken.secret.reveal()), at: 0)
    }
    return AuthorizationRequest.url(page, with: fields)
  }

  var isDiscovered: Bool {
    if case .discovered = tokens.source { true } else { false }
  }

  func endpoints() async throws(SignInFailure) -> ProviderEndpoints {
    do {
      return try await tokens.source.endpoints()
    } catch {
      throw SignInFailure(error)
    }
  }

  /// Returns the error for a flow that is unavailable because `name` is missing from the configuration or the discovery
  /// document.
  func missing(_ name: String, for flow: String) -> SignInFailure {
    switch tokens.source {
    case .named:
      .notSupported(
        message:
          "The \(flow) sign-in needs the account's \"\(name)\". Set it with \"hearthctl account set ACCOUNT \(name) "
          + "URL\".")
    case .discovered(let discovery):
      .notSupported(
        message:
          "The discovery document of \(discovery.issuer.text) contains no \"\(name)\", so this provider does not "
          + "support the \(flow) sign-in.")
    }
  }

  /// Sends a request to an endpoint other than the token endpoint. Returns the response and a reader for it.
  func ask(
    _ fields: [(String, String)], at url: HTTPURL, of endpoints: ProviderEndpoints, secrets own: [Secret]
  ) async throws(SignInFailure) -> (response: HTTPResponse, reader: TokenResponseReader) {
    let exchange = tokens.exchange
    do {
      let (request, secrets) = try await tokens.client.request(
        fields, to: url, of: endpoints, exchange, isNamed: true)
      let response = try await exchange.send(request)
      return (response, exchange.reader(.oauth, origin: url.origin, for: nil, secrets: secrets + own))
    } catch {
      throw SignInFailure(error)
    }
  }

  /// Checks the grant's ID token, and adds the user and the endpoints' origins to the grant.
  func grant(
    in answer: OAuthTokenEndpoint.Answer, _ response: TokenResponse, nonce: Secret?, isTokenRequired: Bool,
    maximumAge: Double? = nil
  ) async throws(SignInFailure) -> TokenResponse {
    var response = response
    response.origins = answer.endpoints.origins
    do throws(SignInFailure) {
      if let error = response.error { throw .failed(message: error.message) }
      let subject = try await idTokens.subject(
        of: response, nonce: nonce, isRequired: isTokenRequired, maximumAge: maximumAge, at: answer.endpoints)
      response.subject = subject ?? response.subject
    } catch {
      // The ID token that names the user was not accepted, so the user is unknown.
      response.subject = nil
      throw .unusable(response, message: error.message)
    }
    return response
  }
}

extension TokenRejection {
  /// Whether the provider rejects a requested scope (RFC 6749, section 4.1.2.1; RFC 8628, section 3.2; RFC 9126,
  /// section 2.3).
  var isAboutScope: Bool { error.codes.contains("invalid_scope") }
}
