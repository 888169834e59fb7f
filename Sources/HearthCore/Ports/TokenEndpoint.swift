/// Where one account's grants come from: an OAuth 2.0 token endpoint (RFC 6749, section 3.2) or what stands for it.
package protocol TokenEndpoint: Sendable {
  /// Exchanges the refresh token (RFC 6749, section 6). Sent only to the credential's own origin.
  func refresh(_ credential: Credential) async throws(RefreshFailure) -> TokenResponse

  /// Asks for the client's own grant, for which nobody has to sign in (RFC 6749, section 4.4).
  func requestGrant() async throws(RefreshFailure) -> TokenResponse

  /// Asks the provider to revoke the tokens (RFC 7009). Sent only for a credential of this endpoint's own origin.
  func revoke(_ credential: Credential) async -> RevocationOutcome

  /// Asks the provider for the subject of an access token; nil where it names none. Asked only for a credential of this
  /// endpoint's own origin.
  func identify(_ credential: Credential) async -> Subject?

  /// When a token that came without a lifetime expires: by its own `exp`, else by the configuration; nil without either.
  func expiry(of token: Token, at now: Timestamp) -> Timestamp?

  /// The time on the provider's own clock, now: no cache's. Nothing that is secret is sent for it.
  func time() async throws(RefreshFailure) -> Timestamp

  /// The origin that grants of this endpoint are bound to; nil where it has to be discovered and that is not possible now.
  func origin() async -> Origin?

  /// The origins of all endpoints that are sent tokens; nil where they are not known now, or there is but one.
  func origins() async -> Set<Origin>?
}

extension TokenEndpoint {
  /// Most types of accounts need a person to sign in.
  package func requestGrant() async throws(RefreshFailure) -> TokenResponse {
    throw .misconfigured(message: "An account of this type gets no token by itself: sign in.")
  }

  /// Most types of accounts have one endpoint.
  package func origins() async -> Set<Origin>? { nil }
}

/// A successful response of a token endpoint (RFC 6749, section 5.1), parsed. It holds lifetimes and not points in time,
/// because the two clocks may differ.
package struct TokenResponse: Hashable, Sendable {
  package var accessToken: Token
  /// It is nil where none came: the old one stays valid (RFC 6749, section 6).
  package var refreshToken: Token?
  package var idToken: Token?
  package var scope: String?
  /// From `expires_in`, else from the JWT's `exp`, else the configured default; nil: none of them.
  package var lifetime: Duration?
  /// From the `exp` of the ID token; nil without one.
  package var idTokenLifetime: Duration?
  package var refreshLifetime: Duration?
  /// From the ID token or what the account is configured to; nil where unknown.
  package var subject: Subject?
  package var origin: Origin
  /// The origins of all endpoints that are sent tokens, as they are named now; nil where there is but one.
  package var origins: Set<Origin>?
  /// The server's `Date` header less this machine's clock when the answer came; nil without one.
  package var skew: Duration?
  /// Why the token cannot be used; its refresh token is kept, for the one before may be spent.
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

/// Why a refresh failed, by what can be done about it. Messages are for people and hold no secret.
package enum RefreshFailure: Error, Hashable, Sendable {
  /// No connection could be made: the request was surely not sent, and may succeed as soon as the network is back.
  case unreachable(message: String)
  /// The provider cannot answer now, or something in between answered in its place (408, 429, 5xx, a web page): try
  /// again later, `retryAfter` at the earliest.
  case unavailable(message: String, retryAfter: Duration?)
  /// The request was sent and no answer came: the provider may have rotated the token all the same.
  case unanswered(message: String)
  /// The provider has rejected the refresh token finally (`invalid_grant` and the like).
  case rejected(Rejection, message: String)
  /// A 4xx whose reason is not known to be final: it ends nothing, however often it is repeated.
  case unclear(message: String, retryAfter: Duration?)
  /// The provider rejects the configuration (`invalid_client`, 404, another origin): the session stays, and a person has to
  /// mend the configuration.
  case misconfigured(message: String)

  package enum Rejection: Hashable, Sendable {
    case refreshToken, accountDisabled
  }

  package var message: String {
    switch self {
    case .unreachable(let message), .unavailable(let message, _), .unanswered(let message), .rejected(_, let message),
      .unclear(let message, _), .misconfigured(let message):
      message
    }
  }
}
