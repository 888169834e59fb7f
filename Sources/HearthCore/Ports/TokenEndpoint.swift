/// The source of one account's grants: an OAuth 2.0 token endpoint (RFC 6749, section 3.2) or its equivalent.
package protocol TokenEndpoint: Sendable {
  /// Exchanges the refresh token (RFC 6749, section 6), which is sent only to the credential's own origin.
  func refresh(_ credential: Credential) async throws(RefreshFailure) -> TokenResponse

  /// Requests the client's own grant, which needs no user to sign in (RFC 6749, section 4.4).
  func requestGrant() async throws(RefreshFailure) -> TokenResponse

  /// Asks the provider to revoke the tokens (RFC 7009), which are sent only to the credential's own provider.
  func revoke(_ credential: Credential) async -> RevocationOutcome

  /// Returns the user of the grant, if the provider names one. Sends a token only to the credential's own provider.
  func identify(_ credential: Credential) async -> Subject?

  /// Returns when a token without a lifetime expires, from its `exp` or else the configuration, or `nil`.
  func expiry(of token: Token, at now: Timestamp) -> Timestamp?

  /// Returns the current time on the provider's clock, not from a cache. The request contains no secret.
  func time() async throws(RefreshFailure) -> Timestamp

  /// Returns the origin to which this endpoint's grants are bound, or `nil` if it requires discovery that fails now.
  func origin() async -> Origin?

  /// Returns the origins of all endpoints that receive tokens, or `nil` if they are unknown now or there is only one.
  func origins() async -> Set<Origin>?
}

extension TokenEndpoint {
  /// Most account types need a user to sign in.
  package func requestGrant() async throws(RefreshFailure) -> TokenResponse {
    throw .misconfigured(message: "An account of this type needs a user to sign in.")
  }

  /// Most account types have one endpoint.
  package func origins() async -> Set<Origin>? { nil }
}

/// A parsed successful response of a token endpoint (RFC 6749, section 5.1). Contains lifetimes instead of points in
/// time, because the server's clock may differ from this machine's.
package struct TokenResponse: Hashable, Sendable {
  package var accessToken: Token
  /// `nil` if the response contains no refresh token. The previous one then remains valid (RFC 6749, section 6).
  package var refreshToken: Token?
  package var idToken: Token?
  package var scope: String?
  /// From `expires_in`, else from the JWT's `exp`, else the configured default. `nil` without any of them.
  package var lifetime: Duration?
  /// From the `exp` of the ID token, if there is one.
  package var idTokenLifetime: Duration?
  package var refreshLifetime: Duration?
  /// From the ID token or from the account's configuration. `nil` if unknown.
  package var subject: Subject?
  package var origin: Origin
  /// The origins of all endpoints that receive tokens, as the provider names them now. `nil` if there is only one.
  package var origins: Set<Origin>?
  /// The server's `Date` header minus this machine's clock when the response arrived, or `nil` without a `Date`.
  package var skew: Duration?
  /// Why the access token cannot be used. The refresh token is stored anyway, because the previous one may be spent.
  package var error: RefreshFailure?

  package init(
    accessToken: Token, refreshToken: Token? = nil, idToken: Token? = nil,
    scope: String? = nil, lifetime: Duration?, idTokenLifetime: Duration? = nil, refreshLifetime: Duration? = nil,
    subject: Subject? = nil, origin: Origin, skew: Duration? = nil
  ) {
    self.accessToken = accessToken
    self.refreshToken = refreshToken
    self.idToken = idToken
    self.scope = scope
    self.lifetime = lifetime
    self.idTokenLifetime = idTokenLifetime
    self.refreshLifetime = refreshLifetime
    self.subject = subject
    self.origin = origin
    self.skew = skew
  }
}

/// Why a refresh failed, with one case for each way to handle it. Messages are for people and contain no secret.
package enum RefreshFailure: Error, Hashable, Sendable {
  /// The request was not sent, because there was no connection. It may succeed once the network is back.
  case unreachable(message: String)
  /// The provider cannot answer now, or an intermediary answered instead (408, 429, 5xx, a web page). Try again later,
  /// after `retryAfter` at the earliest.
  case unavailable(message: String, retryAfter: Duration?)
  /// The request was sent, but no response arrived. The provider may have rotated the token anyway.
  case unanswered(message: String)
  /// The provider has rejected the refresh token for good (`invalid_grant` and the like).
  case rejected(Rejection, message: String)
  /// A 4xx response that is not known to be final. It never ends the session, however often it occurs.
  case unclear(message: String, retryAfter: Duration?)
  /// The provider rejects the configuration (`invalid_client`, 404, another origin), which a person has to fix.
  case misconfigured(message: String)

  package enum Rejection: Hashable, Sendable {
    case refreshToken, accountDisabled
  }

  /// Returns whether to repeat the request immediately. A repetition (`again`) is not repeated. If the response was
  /// lost, the provider may have rotated the token, and accepts the previous one only during its grace period.
  func isRepeated(again: Bool) -> Bool { if case .unanswered = self { !again } else { false } }

  package var message: String {
    switch self {
    case .unreachable(let message), .unavailable(let message, _), .unanswered(let message), .rejected(_, let message),
      .unclear(let message, _), .misconfigured(let message):
      message
    }
  }
}
