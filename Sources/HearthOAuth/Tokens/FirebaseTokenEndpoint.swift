import HearthCore

/// Google's token exchange for Firebase users (Secure Token API, `POST /v1/token`), or an emulator of it.
struct FirebaseTokenEndpoint: TokenEndpoint {
  let project: FirebaseProject
  let exchange: TokenExchange

  func refresh(_ credential: Credential) async throws(RefreshFailure) -> TokenResponse {
    let url = try project.url(project.tokenURL)
    try exchange.requireBinding(of: credential, to: url.origin)
    let token = try exchange.refreshToken(of: credential)
    let fields = [("grant_type", "refresh_token"), ("refresh_token", token.reveal())] + exchange.parameters
    return try await exchange.grant(
      by: .form(fields, to: url), in: .firebase, for: credential, secrets: [project.apiKey])
  }

  /// Firebase has no call that revokes a token.
  func revoke(_ credential: Credential) async -> RevocationOutcome {
    .refused(message: "An account of type firebase has no call that revokes a token.")
  }

  func expiry(of token: Token, at now: Timestamp) -> Timestamp? { exchange.expiry(of: token, at: now) }

  func time() async throws(RefreshFailure) -> Timestamp { try await exchange.time(at: project.tokenURL) }

  func origin() async -> Origin? { exchange.binding.origin }

  func identify(_ credential: Credential) async -> Subject? {
    [credential.grant.idToken, credential.grant.accessToken].lazy
      .compactMap { $0.flatMap { JWTClaims($0.secret.reveal()) } }.first?.subject(default: exchange.issuer)
  }
}

extension FirebaseProject {
  /// With the project's key.
  func url(_ base: HTTPURL) throws(RefreshFailure) -> HTTPURL {
    let base = base.description
    let key = (base.contains("?") ? "&" : "?") + "key=" + FormBody.encode(apiKey.reveal())
    do {
      return try HTTPURL(base + key)
    } catch {
      throw .misconfigured(message: "The token endpoint cannot be used: \(error).")
    }
  }
}
