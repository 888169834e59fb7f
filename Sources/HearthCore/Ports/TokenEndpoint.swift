/// The source of one account's grants: an OAuth 2.0 token endpoint (RFC 6749, section 3.2) or its equivalent.
package protocol TokenEndpoint: Sendable {
  /// Exchanges the refresh token (RFC 6749, section 6), which is sent only to the credential's own origin.
  func refresh(_ credential: Credential) async throws(RefreshFailure) -> TokenResponse

  /// Requests the client's own grant, which does not require a user to sign in (RFC 6749, section 4.4).
  func requestGrant() async throws(RefreshFailure) -> TokenResponse

  /// Asks the provider to revoke the tokens (RFC 7009), which are sent only to the credential's own provider.
  func revoke(_ credential: Credential) async -> RevocationOutcome

  /// Returns the grant's user, or `nil` if the provider does not name one or cannot be asked. Sends a token only to the
  /// credential's own provider.
  func identify(_ credential: Credential) async -> Subject?

  /// Returns the expiry of a token that came without a lifetime, from its `exp` or the configuration. Returns `nil` if
  /// neither specifies an expiry.
  func expiry(of token: Token, at now: Timestamp) -> Timestamp?

  /// Returns the current time on the provider's clock. The time must not come from a cache, and the request contains no
  /// secrets.
  func time() async throws(RefreshFailure) -> Timestamp

  /// Returns the origin to which this endpoint's grants are bound, or `nil` if the origin depends on discovery and
  /// discovery currently fails.
  func origin() async -> Origin?

  /// Returns the origins of all endpoints that receive tokens, or `nil` if there is only one such endpoint or the
  /// endpoints are currently unknown.
  func origins() async -> Set<Origin>?
}

extension TokenEndpoint {
  /// Throws, because most account types require a user to sign in.
  package func requestGrant() async throws(RefreshFailure) -> TokenResponse {
    throw .misconfigured(message: "Accounts of this type require a user to sign in.")
  }

  /// Returns `nil`, because most account types have only one endpoint that receives tokens.
  package func origins() async -> Set<Origin>? { nil }
}

/// A parsed successful response of a token endpoint (RFC 6749, section 5.1). Contains lifetimes instead of points in
/// time, because the server's clock may differ from this machine's.
package struct TokenResponse: Hashable, Sendable {
  package var accessToken: Token
  /// The new refresh token. If it is `nil`, the previous refresh token remains valid (RFC 6749, section 6).
  package var refreshToken: Token?
  package var idToken: Token?
  package var scope: String?
  /// The lifetime from `expires_in` or, if that is missing, from the JWT's `exp` or the configured default. `nil` if
  /// none of these is available.
  package var lifetime: Duration?
  /// The lifetime according to the ID token's `exp`, or `nil` without an ID token.
  package var idTokenLifetime: Duration?
  package var refreshLifetime: Duration?
  /// The user according to the response or the account's configuration, or `nil` if unknown.
  package var subject: Subject?
  package var origin: Origin
  /// The origins of all endpoints that receive tokens, as the provider currently names them, or `nil` if there is only
  /// one such endpoint.
  package var origins: Set<Origin>?
  /// The server's `Date` header minus this machine's time when the response arrived, or `nil` if the response has no
  /// `Date`.
  package var skew: Duration?
  /// The reason why the access token cannot be used, or `nil` if it can. In either case, the refresh token is stored,
  /// because the previous refresh token may no longer be valid.
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

/// The reason why a refresh failed. Messages are for users and contain no secrets.
package enum RefreshFailure: Error, Hashable, Sendable {
  /// The request was not sent, usually because there was no connection. It may succeed once the network is back.
  case unreachable(message: String)
  /// The provider is unavailable, or an intermediary responded instead (408, 429, 5xx, a web page). The request can be
  /// retried after `retryAfter`.
  case unavailable(message: String, retryAfter: Duration?)
  /// The request was sent, but no complete response arrived. The provider may have rotated the token anyway.
  case unanswered(message: String)
  /// The provider has permanently rejected the refresh token (`invalid_grant` or a similar error).
  case rejected(Rejection, message: String)
  /// A 4xx response that is not known to be final. It never ends the session, however often it occurs.
  case unclear(message: String, retryAfter: Duration?)
  /// The configuration is wrong, for example the client secret, an endpoint or the issuer. Retries fail until a person
  /// fixes it.
  case misconfigured(message: String)

  package enum Rejection: Hashable, Sendable {
    case refreshToken, accountDisabled
  }

  /// Returns whether to repeat the request immediately. This is necessary if the response was lost, because the
  /// provider may have rotated the token and may accept the previous one only for a short grace period. `again` is true
  /// if the request was itself a repetition, which is not repeated.
  func isRepeated(again: Bool) -> Bool { if case .unanswered = self { !again } else { false } }

  package var message: String {
    switch self {
    case .unreachable(let message), .unavailable(let message, _), .unanswered(let message), .rejected(_, let message),
      .unclear(let message, _), .misconfigured(let message):
      message
    }
  }
}
