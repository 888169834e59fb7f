package import HearthCore

/// An identity provider with rotation and reuse detection, in virtual time.
package struct SimulatedProvider: Sendable {
  package struct Family: Sendable {
    package var current: Int
    package var previous: Int?
    package var rotatedAt: Duration
    package let subject: Subject
    package var isAlive = true
  }

  package enum Refusal: Error {
    case dead
    /// A token was spent twice: the family ends with it.
    case reuse
  }

  /// How long the token before the current one is still taken; nil: not at all.
  package let grace: Duration?
  package let lifetime: Duration
  package private(set) var families: [Family] = []
  private var familyOf: [Fingerprint: Int] = [:]
  private var numberOf: [Fingerprint: Int] = [:]
  private var issued: Int

  /// `before`: how many tokens were issued elsewhere, so that no two providers issue the same.
  package init(grace: Duration?, lifetime: Duration, after before: Int = 0) {
    self.grace = grace
    self.lifetime = lifetime
    issued = before
  }

  private mutating func issue(_ family: Int) -> (access: Token, refresh: Token) {
    issued += 1
    let tokens = (access: Token.sample(issued * 2), refresh: Token.sample(issued * 2 + 1))
    familyOf[tokens.access.fingerprint] = family
    familyOf[tokens.refresh.fingerprint] = family
    numberOf[tokens.refresh.fingerprint] = issued
    return tokens
  }

  /// A new sign-in.
  package mutating func signIn(
    at elapsed: Duration, _ now: Timestamp, as subject: Subject = .sample
  ) -> Credential {
    let tokens = issue(families.count)
    families.append(Family(current: issued, previous: nil, rotatedAt: elapsed, subject: subject))
    return Credential(
      grant: Grant(
        accessToken: tokens.access, refreshToken: tokens.refresh, issuedAt: now, expiresAt: now + lifetime),
      subject: subject, origin: .sample)
  }

  package mutating func refresh(_ token: Token, at elapsed: Duration) throws(Refusal) -> TokenResponse {
    guard let family = familyOf[token.fingerprint], let number = numberOf[token.fingerprint],
      families[family].isAlive
    else { throw .dead }
    if number != families[family].current {
      guard number == families[family].previous, let grace, elapsed - families[family].rotatedAt <= grace else {
        families[family].isAlive = false
        throw .reuse
      }
      let tokens = issue(family)
      families[family].current = issued
      return response(tokens, families[family].subject)
    }
    let tokens = issue(family)
    families[family].previous = number
    families[family].current = issued
    families[family].rotatedAt = elapsed
    return response(tokens, families[family].subject)
  }

  private func response(_ tokens: (access: Token, refresh: Token), _ subject: Subject) -> TokenResponse {
    TokenResponse(
      accessToken: tokens.access, refreshToken: tokens.refresh, lifetime: lifetime, subject: subject, origin: .sample)
  }

  package mutating func revoke(_ token: Token) {
    if let family = familyOf[token.fingerprint] { families[family].isAlive = false }
  }

  package func subject(of token: Fingerprint) -> Subject? { familyOf[token].map { families[$0].subject } }

  package func family(of token: Fingerprint) -> Int? { familyOf[token] }

  package func isAlive(_ token: Token) -> Bool {
    familyOf[token.fingerprint].map { families[$0].isAlive } ?? false
  }

  /// Whether the family lives and this is what it would take next.
  package func isCurrent(_ token: Token) -> Bool {
    isAlive(token) && familyOf[token.fingerprint].map { families[$0].current } == numberOf[token.fingerprint]
  }
}
