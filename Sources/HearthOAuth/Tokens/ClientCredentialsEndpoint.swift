import HearthCore

/// Requests grants for the client itself, without a user (RFC 6749, section 4.4). Each refresh requests a new grant,
/// because this flow does not use refresh tokens.
struct ClientCredentialsEndpoint: TokenEndpoint, SignInWithoutBrowser {
  let endpoint: OAuthTokenEndpoint
  /// The configured subject, or `nil` to use the client ID.
  let subject: String?

  var otherFlow: String {
    "An account of type client-credentials needs no sign-in. Hearth gets its token automatically."
  }

  var takesPassword: Bool { false }

  func signIn(username: String, password: Secret) async throws(SignInFailure) -> TokenResponse {
    throw .notSupported(message: otherFlow)
  }

  func refresh(_ credential: Credential) async throws(RefreshFailure) -> TokenResponse {
    try await requestGrant(for: credential)
  }

  func requestGrant() async throws(RefreshFailure) -> TokenResponse { try await requestGrant(for: nil) }

  private func requestGrant(for credential: Credential?) async throws(RefreshFailure) -> TokenResponse {
    do {
      var response = try await endpoint.requestGrant(
        [("grant_type", "client_credentials")] + endpoint.client.scopeField, for: credential)
      response.lifetime = response.lifetime ?? Grant.assumedLifetime
      return response
    } catch {
      switch error {
      case .rejected(_, let message):
        // The provider rejected the client, so signing in again would not help.
        throw .misconfigured(message: message)
      case .unreachable, .unavailable, .unanswered, .unclear, .misconfigured:
        throw error
      }
    }
  }

  func revoke(_ credential: Credential) async -> RevocationOutcome {
    var credential = credential
    credential.grant.refreshToken = nil
    return await endpoint.revoke(credential)
  }

  func expiry(of token: Token, at now: Timestamp) -> Timestamp? { endpoint.expiry(of: token, at: now) }

  func time() async throws(RefreshFailure) -> Timestamp { try await endpoint.time() }

  func origin() async -> Origin? { await endpoint.origin() }

  func origins() async -> Set<Origin>? { await endpoint.origins() }

  func identify(_ credential: Credential) async -> Subject? {
    endpoint.exchange.issuer.subject(subject ?? endpoint.client.id)
  }
}
