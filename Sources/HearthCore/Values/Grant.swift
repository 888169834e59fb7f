/// What a token endpoint granted (RFC 6749, section 5.1), in the form in which Hearth keeps it.
package struct Grant: Hashable, Sendable {
  package var accessToken: Token
  package var refreshToken: Token?
  package var idToken: Token?
  package var tokenType: String
  package var scope: String?
  /// When the token was issued that APIs are shown, as `expiresAt` is.
  package var issuedAt: Timestamp
  /// Nil: the provider named no expiry, and none could be found out.
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

  /// What an answer makes of the grant before it: what the answer leaves out stays (RFC 6749, section 6).
  package init(_ response: TokenResponse, after old: Grant?, bearer: BearerKind, receivedAt now: Timestamp) {
    // The provider has just taken the old one: where its end is said to have passed, a clock is wrong.
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

  /// The lifetime that is assumed where none is known, so that a grant that can be renewed is renewed.
  package static let assumedLifetime: Duration = .seconds(3600)

  /// The clock by which it was timed was set by so much.
  package mutating func move(by step: Duration) { move(by: step, refreshToken: step) }

  /// Where the end of the refresh token was timed otherwise.
  mutating func move(by step: Duration, refreshToken other: Duration) {
    issuedAt = issuedAt + step
    expiresAt = expiresAt.map { $0 + step }
    refreshExpiresAt = refreshExpiresAt.map { $0 + other }
  }

  /// How long the token that APIs are shown lives in all; nil where it never expires.
  package var lifetime: Duration? {
    expiresAt.map { Swift.max($0 - issuedAt, .zero) }
  }

  package func isExpired(at now: Timestamp) -> Bool {
    expiresAt.map { $0 <= now } ?? false
  }
}
