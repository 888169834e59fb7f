import FoundationEssentials

/// Issues grants and rotates their refresh tokens. The tokens of a sign-in form a family. If a rotated token is used
/// again after the grace period, the whole family is revoked (RFC 9700, section 4.14.2).
struct IdentityProvider: Codable, Sendable {
  struct Family: Codable, Sendable {
    let subject: String
    /// The only client that may use the family, or `nil` if any client may.
    let clientID: String?
    let scope: String
    let lifetime: Double
    let hasRefreshToken: Bool
    var hasIDToken = true
    /// The time at which the user logged in, or `nil` if the tokens were issued without a login.
    var authenticatedAt: Date?
    var isRevoked = false
  }

  private struct AccessToken: Codable, Sendable {
    let family: Int
    let expiresAt: Date
  }

  private struct RefreshToken: Codable, Sendable {
    let family: Int
    var rotatedAt: Date?
  }

  private var families: [Family] = []
  private var accessTokens: [String: AccessToken] = [:]
  private var refreshTokens: [String: RefreshToken] = [:]
  /// All tokens, authorization codes and device codes that have been issued, in order.
  var issued: [String] = []

  /// Returns the owner and expiry of an access token or ID token, or `nil` if the token is unknown, expired or revoked.
  func owner(of token: String, at now: Date) -> (family: Family, expiresAt: Date)? {
    guard let known = accessTokens[token], now < known.expiresAt, !families[known.family].isRevoked else { return nil }
    return (families[known.family], known.expiresAt)
  }

  /// Starts a new family and returns its first grant. Only the first ID token contains the nonce (OpenID Connect Core,
  /// section 12.2).
  mutating func grant(
    _ family: Family, nonce: String? = nil, issuer: Issuer, mistake: Mistake? = nil, at now: Date
  ) -> (grant: Grant, family: Int) {
    families.append(family)
    let index = families.count - 1
    return (issue(index, nonce: nonce, issuer: issuer, mistake: mistake, at: now), index)
  }

  mutating func revoke(family: Int) {
    families[family].isRevoked = true
  }

  /// Exchanges a refresh token for a new grant. Accepts a token again within `grace` seconds after its rotation,
  /// because the first response may have been lost.
  mutating func refresh(
    _ token: String, clientID: String?, grace: Double, issuer: Issuer, mistake: Mistake?, at now: Date,
    countedIn statistics: inout Statistics
  ) throws -> Grant {
    func rejection(_ description: String) -> ErrorBody { ErrorBody("invalid_grant", description) }
    guard let known = refreshTokens[token] else { throw rejection("The refresh token is unknown.") }
    let family = families[known.family]
    guard !family.isRevoked else { throw rejection("The refresh token was revoked.") }
    guard family.clientID == nil || family.clientID == clientID else {
      throw rejection("The refresh token belongs to another client.")
    }
    if let rotatedAt = known.rotatedAt, now.timeIntervalSince(rotatedAt) > grace {
      families[known.family].isRevoked = true
      statistics.reuseDetected += 1
      throw rejection("The refresh token has already been used, so all tokens of its family have been revoked.")
    }
    refreshTokens[token]?.rotatedAt = known.rotatedAt ?? now
    statistics.refreshes[family.subject, default: 0] += 1
    if known.rotatedAt != nil { statistics.graceReuses += 1 }
    return issue(known.family, issuer: issuer, mistake: mistake, at: now)
  }

  /// Revokes a refresh token with its family, or a single access token (RFC 7009, section 2.1). Returns false if the
  /// token is unknown.
  mutating func revoke(token: String) -> Bool {
    if let known = refreshTokens[token] {
      families[known.family].isRevoked = true
      return true
    }
    return accessTokens.removeValue(forKey: token) != nil
  }

  /// Revokes the grants of one subject, or of all subjects. Returns the number of revoked grants.
  mutating func revoke(subject: String?) -> Int {
    let indices = families.indices.filter { index in
      !families[index].isRevoked && (subject == nil || families[index].subject == subject)
    }
    for index in indices { families[index].isRevoked = true }
    return indices.count
  }

  /// Revokes all grants of the ID token's subject to the ID token's client, even if the token has expired. Returns the
  /// subject, or `nil` if the token is unknown.
  mutating func endSession(idToken: String) -> String? {
    guard let known = accessTokens[idToken] else { return nil }
    let ended = families[known.family]
    for index in families.indices where families[index].subject == ended.subject {
      if families[index].clientID == ended.clientID { families[index].isRevoked = true }
    }
    return ended.subject
  }

  /// Invalidates all access tokens and ID tokens. Returns their number.
  mutating func expireAccessTokens() -> Int {
    defer { accessTokens = [:] }
    return accessTokens.count
  }

  /// Returns the owner and expiry of a token (RFC 7662, section 2.2), or `nil` if the token is not active. Refresh
  /// tokens have no expiry.
  func introspect(_ token: String, at now: Date) -> (family: Family, expiresAt: Date?)? {
    if let owner = owner(of: token, at: now) { return (owner.family, owner.expiresAt) }
    guard let known = refreshTokens[token], known.rotatedAt == nil, !families[known.family].isRevoked else {
      return nil
    }
    return (families[known.family], nil)
  }

  private mutating func issue(
    _ index: Int, nonce: String? = nil, issuer: Issuer, mistake: Mistake?, at now: Date
  ) -> Grant {
    let family = families[index]
    let expiresAt = now.addingTimeInterval(family.lifetime)
    let accessToken = randomToken("at")
    let hasIDToken = family.hasIDToken && mistake != .noIDToken
    let grant = Grant(
      accessToken: accessToken,
      refreshToken: family.hasRefreshToken ? randomToken("rt") : nil,
      idToken: hasIDToken
        ? issuer.idToken(
          for: family, accessToken: accessToken, nonce: nonce, mistake: mistake, at: now, until: expiresAt) : nil,
      expiresIn: family.lifetime, scope: family.scope)
    for token in [grant.accessToken, grant.idToken].compactMap(\.self) {
      accessTokens[token] = AccessToken(family: index, expiresAt: expiresAt)
    }
    if let refreshToken = grant.refreshToken { refreshTokens[refreshToken] = RefreshToken(family: index) }
    issued += [grant.accessToken, grant.idToken, grant.refreshToken].compactMap(\.self)
    return grant
  }
}

/// A successful token response (RFC 6749, section 5.1).
struct Grant: Codable, Hashable, Sendable {
  let accessToken: String
  let refreshToken: String?
  let idToken: String?
  var tokenType = "Bearer"
  let expiresIn: Double
  let scope: String
}
