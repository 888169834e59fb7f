package import HearthCore

/// An OpenID Connect issuer. Issuers are compared as text (OIDC Discovery 1.0, section 4.3).
package struct Issuer: Hashable, Sendable {
  package let name: IssuerName
  package let discoveryURL: HTTPURL

  package var text: String { name.text }

  /// An `https` URL without query and fragment (OIDC Discovery 1.0, section 3).
  package init(_ text: String) throws(HTTPURL.ParseError) {
    guard !text.contains("?") else { throw .badCharacter("?") }
    let base = text.last == "/" ? text.dropLast() : text[...]
    name = IssuerName(text)
    discoveryURL = try HTTPURL(base + "/.well-known/openid-configuration")
  }
}

/// The issuer of a subject for which the provider names no issuer.
package struct DefaultIssuer: Hashable, Sendable {
  package let text: String
  let isAssumed: Bool

  /// The provider has named no issuer, so the origin of its token endpoint is used.
  init(assumed origin: Origin) {
    (text, isAssumed) = (origin.description, true)
  }

  /// The name from discovery; it is only assumed if the name stands for many issuers.
  init(_ issuer: Issuer) {
    (text, isAssumed) = (issuer.text, issuer.name.standsForMany)
  }

  func subject(_ id: String) -> Subject { Subject(issuer: text, id: id, isIssuerAssumed: isAssumed) }
}
