import HearthCore

/// Browser sign-in with an authorization code, and with PKCE unless the provider rejects it (RFC 6749, section 4.1;
/// RFC 7636; RFC 8252).
extension OAuthSignInEndpoint {
  func beginBrowser(redirectURI: String) async throws(SignInFailure) -> BrowserSignIn {
    guard settings.redirect != nil else {
      throw .notSupported(
        message: "This provider cannot redirect a browser to this machine. Import a refresh token instead.")
    }
    let endpoints = try await endpoints()
    guard let page = endpoints.authorization else { throw missing("authorization_endpoint", for: "browser") }
    let request = AuthorizationRequest(
      redirectURI: redirectURI, scopes: scopes, offlineScopes: offlineScopes(at: endpoints),
      asksConsent: settings.offlineScopes.isEmpty, hasCodeChallenge: settings.usesCodeChallenge,
      parameters: authorizationParameters)
    func url(_ fields: [(String, String)]) -> String {
      AuthorizationRequest.url(page, with: [("client_id", tokens.client.id)] + fields)
    }
    let pushed = try await pushed(request, to: endpoints)
    return BrowserSignIn(
      authorizationURL: url(pushed ?? request.fields), fallbackURL: pushed == nil ? request.fallback.map(url) : nil,
      redirectURI: redirectURI, state: request.state, nonce: request.nonce, codeVerifier: request.codeVerifier,
      issuer: endpoints.issuerCheck)
  }

  func redeem(code: Secret, of signIn: BrowserSignIn) async throws(SignInFailure) -> TokenResponse {
    var fields = [
      ("grant_type", "authorization_code"), ("code", code.reveal()), ("redirect_uri", signIn.redirectURI),
    ]
    if settings.usesCodeChallenge { fields.append(("code_verifier", signIn.codeVerifier.reveal())) }
    let secrets = [code, signIn.codeVerifier, signIn.state] + [signIn.nonce].compactMap(\.self)
    let answer: OAuthTokenEndpoint.Answer
    do {
      // The code works only once, so fetch everything else first.
      if signIn.nonce != nil { try await idTokens.prepare(for: try await tokens.source.endpoints()) }
      answer = try await tokens.ask(fields, for: nil, secrets: secrets)
    } catch {
      throw SignInFailure(error)
    }
    return try await grant(
      in: answer, try await answer.reader.grant(in: answer.response, at: .code),
      nonce: signIn.nonce, isTokenRequired: signIn.nonce != nil && isDiscovered,
      maximumAge: authorizationParameters["max_age"].flatMap { UInt32($0) }.map(Double.init))
  }

  // MARK: - Pushed requests

  /// Pushes the request if the provider supports this, and returns the fields that replace it (RFC 9126, section 4).
  /// Returns `nil` if the provider does not support pushed requests or rejects them from this client. If the provider
  /// requires them, throws instead.
  private func pushed(
    _ request: AuthorizationRequest, to endpoints: ProviderEndpoints, isFallback: Bool = false
  ) async throws(SignInFailure) -> [(String, String)]? {
    guard let url = endpoints.pushedRequest else {
      guard endpoints.requiresPushedRequest else { return nil }
      throw missing("pushed_authorization_request_endpoint", for: "browser")
    }
    let fields = isFallback ? request.fallback ?? request.fields : request.fields
    let (response, reader) = try await ask(fields, at: url, of: endpoints, secrets: request.secrets)
    do throws(TokenRejection) {
      let (object, rejection) = try await response.read(reader.object(in:))
      if let reference = object["request_uri"]?.text { return [("request_uri", reference)] }
      throw rejection.hasError ? rejection : rejection.containing("no request_uri")
    } catch {
      if error.isAboutScope, !isFallback, request.fallback != nil {
        return try await pushed(request, to: endpoints, isFallback: true)
      }
      if !endpoints.requiresPushedRequest, error.isAboutPushing(by: tokens.client) { return nil }
      throw error.signInFailure(of: url.origin, at: .pushedRequest)
    }
  }
}

extension TokenRejection {
  /// Whether the provider rejects all pushed requests from this client, rather than only this request. If so, Hearth
  /// sends the request through the browser, unless the provider accepts only pushed requests. Other errors are reported
  /// immediately, because they are temporary or would also occur in the browser.
  ///
  /// Some providers advertise pushed requests to all clients but accept them only from clients that authenticate
  /// (Auth0, "Pushed Authorization Requests"). They reject public clients with `invalid_client` or `invalid_request`.
  fileprivate func isAboutPushing(by client: OAuthClient) -> Bool {
    switch response.status {
    case 404, 405, 501: return true
    case 400, 401, 403: break
    default: return false
    }
    guard !isPage else { return false }
    let codes = Set(error.codes.map { $0.lowercased() })
    if codes.contains("unauthorized_client") { return true }
    return client.isPublic
      && (response.status == 401 || !codes.isDisjoint(with: ["invalid_client", "invalid_request"]))
  }
}

extension ProviderEndpoints {
  /// How to check the issuer in the redirect (RFC 9207, section 2.4).
  fileprivate var issuerCheck: BrowserSignIn.IssuerCheck {
    guard let issuer else { return .none }
    return namesIssuer ? .required(issuer) : .ifPresent(issuer)
  }
}
