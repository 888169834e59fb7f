/// A grant from a token endpoint (RFC 6749, section 5.1), as stored by Hearth.
package struct Grant: Hashable, Sendable {
  package var accessToken: Token
  package var refreshToken: Token?
  package var idToken: Token?
  package var tokenType: String
  package var scope: String?
  /// The time at which the token for APIs was issued. `expiresAt` refers to the same token.
  package var issuedAt: Timestamp
  /// The expiry, or `nil` if it is unknown.
  package var expiresAt: Timestamp?
  package var refreshExpiresAt: Timestamp?

  package init(
    accessToken: Token, refreshToken: Token? = nil, idToken: Token? = nil, tokenType: String = "Bearer",
    scope: String? = nil, issuedAt: Timestamp, expiresAt: Timestamp?, refreshExpiresAt: Timestamp? = nil
  ) {
    self.accessToken = accessToken
    self.refreshToken = refreshToken
    self.idToken = idToken
    self.tokenType = tokenType
    self.scope = scope
    self.issuedAt = issuedAt
    self.expiresAt = expiresAt
    self.refreshExpiresAt = refreshExpiresAt
  }

  /// Creates a grant from a token response. If the response omits a token or the scopes, takes them from the old grant
  /// (RFC 6749, section 6).
  package init(_ response: TokenResponse, after old: Grant?, bearer: BearerKind, receivedAt now: Timestamp) {
    // The provider has just accepted the old refresh token. If the token should already have expired, a clock is wrong,
    // so ignore the old expiry.
    let oldEnd = response.refreshToken == nil ? old?.refreshExpiresAt.flatMap { now < $0 ? $0 : nil } : nil
    let refreshExpiresAt = response.refreshLifetime.map { now + $0 } ?? oldEnd
    let refreshToken = response.refreshToken ?? old?.refreshToken
    let named = bearer == .idToken ? response.idTokenLifetime ?? response.lifetime : response.lifetime
    let lifetime = named ?? (refreshToken == nil ? nil : Self.assumedLifetime)
    self.init(
      accessToken: response.accessToken,
      refreshToken: refreshToken,
      idToken: response.idToken ?? old?.idToken,
      scope: response.scope ?? old?.scope,
      issuedAt: now,
      expiresAt: lifetime.map { now + $0 },
      refreshExpiresAt: refreshExpiresAt)
    if let old, keepsIDToken(of: old, as: bearer) {
      issuedAt = old.issuedAt
      expiresAt = old.expiresAt
    }
  }

  package var tokens: [Token] { [accessToken, refreshToken, idToken].compactMap(\.self) }

  /// The assumed lifetime of a renewable grant, if the real one is unknown.
  package static let assumedLifetime: Duration = .seconds(3600)

  /// Shifts all times by `step`, the amount by which the clock was set.
  package mutating func move(by step: Duration) { move(by: step, refreshToken: step) }

  /// Shifts all times. The expiry of the refresh token shifts by a different amount.
  mutating func move(by step: Duration, refreshToken other: Duration) {
    issuedAt = issuedAt + step
    expiresAt = expiresAt.map { $0 + step }
    refreshExpiresAt = refreshExpiresAt.map { $0 + other }
  }

  /// The whole lifetime of the token for APIs, or `nil` if its expiry is unknown.
  package var lifetime: Duration? {
    expiresAt.map { Swift.max($0 - issuedAt, .zero) }
  }

  package func isExpired(at now: Timestamp) -> Bool {
    expiresAt.map { $0 <= now } ?? false
  }

  /// Returns the token to send to APIs. If the grant has no ID token, this is always the access token.
  package func bearer(_ kind: BearerKind) -> Token {
    switch kind {
    case .accessToken: accessToken
    case .idToken: idToken ?? accessToken
    }
  }

  /// Returns whether APIs get an ID token that the refresh did not renew (OIDC Core, section 12.2).
  package func keepsIDToken(of old: Grant, as kind: BearerKind) -> Bool {
    kind == .idToken && idToken != nil && idToken == old.idToken
  }
}

/// The kind of token that is sent to APIs (`bearer` in the configuration).
package enum BearerKind: String, Sendable, CaseIterable {
  case accessToken = "access_token"
  case idToken = "id_token"
}
