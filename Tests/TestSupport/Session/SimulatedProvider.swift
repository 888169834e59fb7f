package import HearthCore

/// An identity provider with rotation and reuse detection, in virtual time.
package struct SimulatedProvider: Sendable {
  /// How the provider differs from others.
  package struct Manner: Sendable {
    /// Each refresh brings a new refresh token.
    package var rotates = true
    /// The lifetime of a refresh token from its issue, or nil if it does not expire.
    package var refreshLifetime: Duration?
    /// Access tokens come from a cache, so part of their lifetime has passed.
    package var cachesTokens = false
    /// One revocation ends all grants of a user.
    package var revokesByUser = false

    package init() {}
  }

  package struct Family: Sendable {
    package var current: Int
    package var previous: Int?
    package var rotatedAt: Duration
    package let subject: Subject
    package var isAlive = true
    /// The time at which the current refresh token expires.
    package var runsOutAt: Duration?
  }

  package enum Refusal: Error {
    case dead
    /// A token was used twice, which ends the family.
    case reuse
  }

  /// How long the previous token is still accepted, or nil if it is not.
  package let grace: Duration?
  package let lifetime: Duration
  package let manner: Manner
  /// The time at which each access token expires.
  package private(set) var runsOutAt: [Fingerprint: Duration] = [:]
  package private(set) var issuedAt: [Fingerprint: Duration] = [:]
  /// The time at which each refresh token expires, if it does.
  package private(set) var refreshEnds: [Fingerprint: Duration] = [:]
  package private(set) var families: [Family] = []
  private var familyOf: [Fingerprint: Int] = [:]
  private var numberOf: [Fingerprint: Int] = [:]
  private var issued: Int

  /// `before` is the number of tokens issued by other providers, so that all tokens are different.
  package init(grace: Duration?, lifetime: Duration, manner: Manner = Manner(), after before: Int = 0) {
    self.grace = grace
    self.lifetime = lifetime
    self.manner = manner
    issued = before
  }

  private mutating func issue(
    _ family: Int, at elapsed: Duration
  ) -> (access: Token, refresh: Token, lifetime: Duration) {
    issued += 1
    let tokens = (access: Token.sample(issued * 2), refresh: Token.sample(issued * 2 + 1))
    familyOf[tokens.access.fingerprint] = family
    familyOf[tokens.refresh.fingerprint] = family
    numberOf[tokens.refresh.fingerprint] = issued
    let left = manner.cachesTokens ? lifetime * (Double(issued * 37 % 100 + 1) / 100) : lifetime
    runsOutAt[tokens.access.fingerprint] = elapsed + left
    issuedAt[tokens.access.fingerprint] = elapsed
    refreshEnds[tokens.refresh.fingerprint] = manner.refreshLifetime.map { elapsed + $0 }
    return (tokens.access, tokens.refresh, left)
  }

  /// A new sign-in.
  package mutating func signIn(
    at elapsed: Duration, _ now: Timestamp, as subject: Subject = .sample
  ) -> Credential {
    let tokens = issue(families.count, at: elapsed)
    families.append(
      Family(
        current: issued, previous: nil, rotatedAt: elapsed, subject: subject,
        runsOutAt: manner.refreshLifetime.map { elapsed + $0 }))
    return Credential(
      grant: Grant(
        accessToken: tokens.access, refreshToken: tokens.refresh, issuedAt: now, expiresAt: now + tokens.lifetime,
        refreshExpiresAt: manner.refreshLifetime.map { now + $0 }),
      subject: subject, origin: .sample)
  }

  /// The client's own grant, without a refresh token.
  package mutating func grantToClient(at elapsed: Duration) -> TokenResponse {
    let tokens = issue(families.count, at: elapsed)
    families.append(Family(current: issued, previous: nil, rotatedAt: elapsed, subject: .sample))
    return TokenResponse(accessToken: tokens.access, lifetime: tokens.lifetime, subject: .sample, origin: .sample)
  }

  package mutating func refresh(_ token: Token, at elapsed: Duration) throws(Refusal) -> TokenResponse {
    guard let family = familyOf[token.fingerprint], let number = numberOf[token.fingerprint],
      families[family].isAlive
    else { throw .dead }
    if let end = families[family].runsOutAt, end <= elapsed { throw .dead }
    if !manner.rotates {
      let tokens = issue(family, at: elapsed)
      return TokenResponse(
        accessToken: tokens.access, lifetime: tokens.lifetime, subject: families[family].subject, origin: .sample)
    }
    if number != families[family].current {
      guard number == families[family].previous, let grace, elapsed - families[family].rotatedAt <= grace else {
        families[family].isAlive = false
        throw .reuse
      }
      let tokens = issue(family, at: elapsed)
      families[family].current = issued
      families[family].runsOutAt = manner.refreshLifetime.map { elapsed + $0 }
      return response(tokens, families[family].subject)
    }
    let tokens = issue(family, at: elapsed)
    families[family].previous = number
    families[family].current = issued
    families[family].rotatedAt = elapsed
    families[family].runsOutAt = manner.refreshLifetime.map { elapsed + $0 }
    return response(tokens, families[family].subject)
  }

  private func response(
    _ tokens: (access: Token, refresh: Token, lifetime: Duration), _ subject: Subject
  ) -> TokenResponse {
    TokenResponse(
      accessToken: tokens.access, refreshToken: tokens.refresh, lifetime: tokens.lifetime,
      refreshLifetime: manner.refreshLifetime, subject: subject, origin: .sample)
  }

  package mutating func revoke(_ token: Token) {
    guard let revoked = familyOf[token.fingerprint] else { return }
    for family in families.indices
    where family == revoked || manner.revokesByUser && families[family].subject == families[revoked].subject {
      families[family].isAlive = false
    }
  }

  package func subject(of token: Fingerprint) -> Subject? { familyOf[token].map { families[$0].subject } }

  package func family(of token: Fingerprint) -> Int? { familyOf[token] }

  package func isAlive(_ token: Token) -> Bool {
    familyOf[token.fingerprint].map { families[$0].isAlive } ?? false
  }

  /// Whether the family is alive and would accept this token next.
  package func isCurrent(_ token: Token) -> Bool {
    isAlive(token) && familyOf[token.fingerprint].map { families[$0].current } == numberOf[token.fingerprint]
  }
}
