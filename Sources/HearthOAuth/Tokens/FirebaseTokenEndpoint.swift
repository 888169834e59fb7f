import HearthCore

/// Google's token exchange for Firebase users (Secure Token API, `POST /v1/token`), or an emulator of it.
struct FirebaseTokenEndpoint: TokenEndpoint {
  let project: FirebaseProject
  let exchange: TokenExchange

  func refresh(_ credential: Credential) async throws(RefreshFailure) -> TokenResponse {
    let url = try url()
    try exchange.requireBinding(of: credential, to: url.origin)
    let token = try exchange.refreshToken(of: credential)
    let response = try await exchange.send(
      .form([("grant_type", "refresh_token"), ("refresh_token", token.reveal())] + exchange.parameters, to: url))
    let reader = exchange.reader(
      .firebase, origin: url.origin, issuer: DefaultIssuer(assumed: url.origin), for: credential,
      secrets: [project.apiKey])
    return try reader.read(response)
  }

  /// Firebase has no call that revokes a token.
  func revoke(_ credential: Credential) async -> Bool { false }

  func expiry(of token: Token, at now: Timestamp) -> Timestamp? { exchange.expiry(of: token, at: now) }

  func origin() async -> Origin? { exchange.binding.origin }

  func identify(_ credential: Credential) async -> Subject? {
    guard let url = try? url() else { return nil }
    let issuer = DefaultIssuer(assumed: url.origin)
    return [credential.grant.idToken, credential.grant.accessToken].lazy
      .compactMap { $0.flatMap { JWTClaims($0.secret.reveal()) } }.first?.subject(default: issuer)
  }

  private func url() throws(RefreshFailure) -> HTTPURL {
    let base = project.tokenURL.description
    let key = (base.contains("?") ? "&" : "?") + "key=" + FormBody.encode(project.apiKey.reveal())
    do {
      return try HTTPURL(base + key)
    } catch {
      throw .misconfigured(message: "The token endpoint cannot be used: \(error).")
    }
  }
}
