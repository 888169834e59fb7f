package import HearthCore

/// An OpenID Connect issuer. Issuers are compared as strings (OIDC Discovery 1.0, section 4.3).
package struct Issuer: Hashable, Sendable {
  package let name: IssuerName
  package let discoveryURL: HTTPURL

  package var text: String { name.text }

  /// `text` is a URL without a query or fragment (OIDC Discovery 1.0, section 3).
  package init(_ text: String) throws {
    guard !text.contains("?") else { throw HTTPURL.ParseError.badCharacter("?") }
    let base = text.last == "/" ? text.dropLast() : text[...]
    name = IssuerName(text)
    discoveryURL = try HTTPURL(base + "/.well-known/openid-configuration")
  }
}

/// The issuer to record with a user's ID if the provider does not name an issuer.
package struct DefaultIssuer: Hashable, Sendable {
  package let text: String
  let isAssumed: Bool

  /// Uses the token endpoint's origin, because the account has no issuer.
  init(assumed origin: Origin) {
    (text, isAssumed) = (origin.description, true)
  }

  /// Uses the account's issuer. If its name stands for several issuers, it is only an assumption, because the user's
  /// actual issuer is unknown.
  init(_ issuer: Issuer) {
    (text, isAssumed) = (issuer.text, issuer.name.standsForMany)
  }

  func subject(_ id: String) -> Subject { Subject(issuer: text, id: id, isIssuerAssumed: isAssumed) }
}
