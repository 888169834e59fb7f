/// The user who owns a credential. The provider's name for the user is unique within the issuer and is compared byte by
/// byte (OIDC Core, sections 2 and 5.7).
package struct Subject: Hashable, Sendable {
  package let issuer: String
  package let id: String
  /// Whether the issuer is assumed. If the provider does not name an issuer, Hearth uses the origin of the token
  /// endpoint.
  package let isIssuerAssumed: Bool

  /// The maximum length of a user's name, in bytes (OIDC Core, section 2).
  package static let maximumLength = 255

  /// Returns whether a provider may use this string as a user's name.
  package static func isName(_ id: String) -> Bool { id.utf8.count <= maximumLength }

  package init(issuer: String, id: String, isIssuerAssumed: Bool = false) {
    (self.issuer, self.id, self.isIssuerAssumed) = (issuer, id, isIssuerAssumed)
  }

  /// The user of a sign-in without a user name. Items from this sign-in belong to this subject until the user signs
  /// out.
  package static let unnamed = Subject(issuer: "", id: "unnamed")
  /// The users of earlier sign-ins without a user name, who have signed out. Their items wait until somebody retries
  /// them.
  package static let unnamedBefore = Subject(issuer: "", id: "unnamed before")

  /// The account's last user, even one without a name. Use it only in calls that discard items.
  package static let last = Subject(issuer: "", id: "last")

  package var named: Subject? { self == .unnamed || self == .unnamedBefore ? nil : self }

  /// Returns `named` if both are the same user and only this subject's issuer is assumed. Otherwise, returns this
  /// subject.
  package func refined(by named: Subject) -> Subject {
    isIssuerAssumed && !named.isIssuerAssumed && Name(id) == Name(named.id) ? named : self
  }

  /// Returns whether both subjects are the same user. An assumed issuer matches any issuer. A missing `https://` or
  /// trailing slash makes no difference. Google, for example, documents both `https://accounts.google.com` and
  /// `accounts.google.com` as its issuer.
  package func isSameUser(as other: Subject) -> Bool {
    Name(id) == Name(other.id)
      && (spelledIssuer == other.spelledIssuer || isIssuerAssumed || other.isIssuerAssumed)
  }

  private var spelledIssuer: Name {
    let name = issuer.hasPrefix("https://") ? issuer.dropFirst("https://".count) : Substring(issuer)
    return Name(String(name.hasSuffix("/") ? name.dropLast() : name))
  }

  /// Compares issuer and name, regardless of whether the issuer was assumed.
  package static func == (one: Subject, other: Subject) -> Bool {
    Name(one.issuer) == Name(other.issuer) && Name(one.id) == Name(other.id)
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(Name(issuer))
    hasher.combine(Name(id))
  }
}
