/// Who a credential belongs to: the provider's name for the user, unique within the issuer (OIDC Core, section 2).
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

  /// The same user under the issuer that is named, where this one's was assumed.
  package func refined(by named: Subject) -> Subject {
    isIssuerAssumed && !named.isIssuerAssumed && id == named.id ? named : self
  }

  /// Whether both name one user: an issuer that was assumed contradicts none that is named, and one issuer may be spelt
  /// with a scheme and a slash at its end or without (Google documents `https://accounts.google.com` and
  /// `accounts.google.com` as one).
  package func isSameUser(as other: Subject) -> Bool {
    id == other.id && (spelledIssuer == other.spelledIssuer || isIssuerAssumed || other.isIssuerAssumed)
  }

  private var spelledIssuer: Substring {
    let name = issuer.hasPrefix("https://") ? issuer.dropFirst("https://".count) : Substring(issuer)
    return name.hasSuffix("/") ? name.dropLast() : name
  }

  /// One name of one issuer. How the issuer became known is no part of it.
  package static func == (one: Subject, other: Subject) -> Bool { one.issuer == other.issuer && one.id == other.id }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(issuer)
    hasher.combine(id)
  }
}
