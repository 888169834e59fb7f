/// What a token endpoint granted (RFC 6749, section 5.1), in the form that Hearth stores.
package struct Grant: Hashable, Sendable {
  package var accessToken: Token
  package var refreshToken: Token?
  package var idToken: Token?
  package var tokenType: String
  package var scope: String?
  /// When the token that is sent to APIs was issued. `expiresAt` is about the same token.
  package var issuedAt: Timestamp
  /// `nil` if the provider named no expiry and none could be determined.
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

  /// Applies a response to the previous grant: what the response leaves out stays (RFC 6749, section 6).
  package init(_ response: TokenResponse, after old: Grant?, bearer: BearerKind, receivedAt now: Timestamp) {
    // The provider has just accepted the old refresh token. If its end has passed, a clock is wrong.
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

  /// The lifetime that is assumed if none is known, so that a renewable grant is renewed.
  package static let assumedLifetime: Duration = .seconds(3600)

  /// Called when the clock that timed the grant was set by `step`.
  package mutating func move(by step: Duration) { move(by: step, refreshToken: step) }

  /// Called when the end of the refresh token has another timing.
  mutating func move(by step: Duration, refreshToken other: Duration) {
    issuedAt = issuedAt + step
    expiresAt = expiresAt.map { $0 + step }
    refreshExpiresAt = refreshExpiresAt.map { $0 + other }
  }

  /// The whole lifetime of the token that is sent to APIs, or `nil` if it never expires.
  package var lifetime: Duration? {
    expiresAt.map { Swift.max($0 - issuedAt, .zero) }
  }

  package func isExpired(at now: Timestamp) -> Bool {
    expiresAt.map { $0 <= now } ?? false
  }
}

/// Which token of a grant is sent to APIs (`bearer` in the configuration).
package enum BearerKind: String, Sendable, CaseIterable {
  case accessToken = "access_token"
  case idToken = "id_token"
}

extension Grant {
  /// The token that is sent to APIs. It is the access token if the grant has no ID token.
  package func bearer(_ kind: BearerKind) -> Token {
    switch kind {
    case .accessToken: accessToken
    case .idToken: idToken ?? accessToken
    }
  }

  /// Whether APIs get an ID token that a refresh did not renew (OIDC Core, section 12.2).
  package func keepsIDToken(of old: Grant, as kind: BearerKind) -> Bool {
    kind == .idToken && idToken != nil && idToken == old.idToken
  }
}
