/// The source of one account's grants: an OAuth 2.0 token endpoint (RFC 6749, section 3.2) or its equivalent.
package protocol TokenEndpoint: Sendable {
  /// Exchanges the refresh token (RFC 6749, section 6). It is sent only to the credential's own origin.
  func refresh(_ credential: Credential) async throws(RefreshFailure) -> TokenResponse

  /// Requests the client's own grant, which needs no user to sign in (RFC 6749, section 4.4).
  func requestGrant() async throws(RefreshFailure) -> TokenResponse

  /// Asks the provider to revoke the tokens (RFC 7009). Only for a credential of this endpoint's own origin.
  func revoke(_ credential: Credential) async -> RevocationOutcome

  /// Asks the provider for an access token's subject, if it names one. Only for a credential of this endpoint's origin.
  func identify(_ credential: Credential) async -> Subject?

  /// When a token without a lifetime expires, by its own `exp` or else by the configuration. `nil` without either.
  func expiry(of token: Token, at now: Timestamp) -> Timestamp?

  /// The current time on the provider's own clock, not from a cache. Asking sends no secret.
  func time() async throws(RefreshFailure) -> Timestamp

  /// The origin that grants of this endpoint are bound to. `nil` if discovery has to name it and is not possible now.
  func origin() async -> Origin?

  /// The origins of all endpoints that receive tokens. `nil` if they are not known now, or if there is only one.
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

/// A parsed successful response of a token endpoint (RFC 6749, section 5.1). It holds lifetimes and not points in time,
/// because the two clocks may differ.
package struct TokenResponse: Hashable, Sendable {
  package var accessToken: Token
  /// `nil` if the response has none; the old one then stays valid (RFC 6749, section 6).
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
  /// The server's `Date` header minus this machine's clock when the response came, or `nil` without a `Date`.
  package var skew: Duration?
  /// Why the token cannot be used. Its refresh token is kept, because the previous one may be spent.
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
  /// No connection could be made: the request was certainly not sent, and may succeed once the network is back.
  case unreachable(message: String)
  /// The provider cannot answer now, or something in between answered instead (408, 429, 5xx, a web page). Try again
  /// later, after `retryAfter` at the earliest.
  case unavailable(message: String, retryAfter: Duration?)
  /// The request was sent and no answer came. The provider may still have rotated the token.
  case unanswered(message: String)
  /// The provider has finally rejected the refresh token (`invalid_grant` and the like).
  case rejected(Rejection, message: String)
  /// A 4xx whose reason is not known to be final. It never ends the session, however often it is repeated.
  case unclear(message: String, retryAfter: Duration?)
  /// The provider rejects the configuration (`invalid_client`, 404, another origin), which a person has to fix.
  case misconfigured(message: String)

  package enum Rejection: Hashable, Sendable {
    case refreshToken, accountDisabled
  }

  /// Whether the request is repeated at once, unless it is a repetition already (`again`). If the reply was lost, the
  /// provider may have rotated the token, and accepts the same one again only while its grace window is open.
  func isRepeated(again: Bool) -> Bool { if case .unanswered = self { !again } else { false } }

  package var message: String {
    switch self {
    case .unreachable(let message), .unavailable(let message, _), .unanswered(let message), .rejected(_, let message),
      .unclear(let message, _), .misconfigured(let message):
      message
    }
  }
}
