/// The owner of a credential: the provider's name for the user, unique within the issuer and compared byte by byte
/// (OIDC Core, sections 2 and 5.7).
package struct Subject: Hashable, Sendable {
  package let issuer: String
  package let id: String
  /// Whether the provider has named no issuer, so that the origin of its token endpoint is used instead.
  package let isIssuerAssumed: Bool

  /// The maximum length of a name in bytes: it has at most 255 ASCII characters (OIDC Core, section 2).
  package static let maximumLength = 255

  /// Whether a provider may use this name for a user.
  package static func isName(_ id: String) -> Bool { id.utf8.count <= maximumLength }

  package init(issuer: String, id: String, isIssuerAssumed: Bool = false) {
    (self.issuer, self.id, self.isIssuerAssumed) = (issuer, id, isIssuerAssumed)
  }

  /// The user of a sign-in that names nobody. The outbox's items belong to this sign-in until its user signs out.
  package static let unnamed = Subject(issuer: "", id: "unnamed")
  /// The users whose sign-in named nobody and who have signed out. Their items wait until somebody retries them.
  package static let unnamedBefore = Subject(issuer: "", id: "unnamed before")

  /// In a call that discards items: the account's last user, even if that user had no name.
  package static let last = Subject(issuer: "", id: "last")

  /// This subject, or `nil` for a user without a name.
  package var named: Subject? { self == .unnamed || self == .unnamedBefore ? nil : self }

  /// This user under `named`'s issuer, if this one's issuer was assumed.
  package func refined(by named: Subject) -> Subject {
    isIssuerAssumed && !named.isIssuerAssumed && Name(id) == Name(named.id) ? named : self
  }

  /// Whether both are the same user. An assumed issuer contradicts no named one, and an issuer may be spelled with or
  /// without its scheme and a final slash (Google documents `https://accounts.google.com` and `accounts.google.com` as
  /// one).
  package func isSameUser(as other: Subject) -> Bool {
    Name(id) == Name(other.id)
      && (spelledIssuer == other.spelledIssuer || isIssuerAssumed || other.isIssuerAssumed)
  }

  private var spelledIssuer: Name {
    let name = issuer.hasPrefix("https://") ? issuer.dropFirst("https://".count) : Substring(issuer)
    return Name(String(name.hasSuffix("/") ? name.dropLast() : name))
  }

  /// Compares issuer and name. It ignores how the issuer became known.
  package static func == (one: Subject, other: Subject) -> Bool {
    Name(one.issuer) == Name(other.issuer) && Name(one.id) == Name(other.id)
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(Name(issuer))
    hasher.combine(Name(id))
  }
}
