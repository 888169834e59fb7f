/// Who a credential belongs to: the provider's name for the user, unique within the issuer, and compared byte by byte
/// (OIDC Core, sections 2 and 5.7).
package struct Subject: Hashable, Sendable {
  package let issuer: String
  package let id: String
  /// The provider has named no issuer, and the origin of its token endpoint stands in for one.
  package let isIssuerAssumed: Bool

  /// In bytes: a name has at most 255 ASCII characters (OIDC Core, section 2).
  package static let maximumLength = 255

  /// Whether a provider may name a user so.
  package static func isName(_ id: String) -> Bool { id.utf8.count <= maximumLength }

  package init(issuer: String, id: String, isIssuerAssumed: Bool = false) {
    self.issuer = issuer
    self.id = id
    self.isIssuerAssumed = isIssuerAssumed
  }

  /// Whoever is signed in where nothing tells a name: the outbox's items are this sign-in's, until its user signs out.
  package static let unnamed = Subject(issuer: "", id: "unnamed")
  /// The users whose sign-in had no name and who have signed out: their items wait until somebody retries them.
  package static let unnamedBefore = Subject(issuer: "", id: "unnamed before")

  /// Nil for who has no name.
  package var named: Subject? { self == .unnamed || self == .unnamedBefore ? nil : self }

  /// The same user under the issuer that is named, where this one's was assumed.
  package func refined(by named: Subject) -> Subject {
    isIssuerAssumed && !named.isIssuerAssumed && Name(id) == Name(named.id) ? named : self
  }

  /// Whether both name one user: an issuer that was assumed contradicts none that is named, and one issuer may be spelt
  /// with a scheme and a slash at its end or without (Google documents `https://accounts.google.com` and
  /// `accounts.google.com` as one).
  package func isSameUser(as other: Subject) -> Bool {
    Name(id) == Name(other.id)
      && (spelledIssuer == other.spelledIssuer || isIssuerAssumed || other.isIssuerAssumed)
  }

  private var spelledIssuer: Name {
    let name = issuer.hasPrefix("https://") ? issuer.dropFirst("https://".count) : Substring(issuer)
    return Name(String(name.hasSuffix("/") ? name.dropLast() : name))
  }

  /// One name of one issuer. How the issuer became known is no part of it.
  package static func == (one: Subject, other: Subject) -> Bool {
    Name(one.issuer) == Name(other.issuer) && Name(one.id) == Name(other.id)
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(Name(issuer))
    hasher.combine(Name(id))
  }
}
