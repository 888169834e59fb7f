import HearthCore

/// The claims of a JWT, without a check of its signature. Tokens that come over TLS from the token endpoint do not need
/// this check (OIDC Core, section 3.1.3.7, rule 6).
struct JWTClaims: Hashable, Sendable {
  let issuer: String?
  /// The subject, or `nil` if it is missing or too long.
  private let subject: String?
  /// The audiences (`aud`), which a JWT contains as a string or an array.
  let audiences: [String]
  /// The scopes from `scope` (RFC 9068, section 2.2.3), or from `scp`, which some providers use.
  let scope: String?
  /// The client that the token was issued to (`azp`).
  private let authorizedParty: String?
  /// In seconds since 1970.
  let expiresAt, issuedAt: Double?

  /// Returns `nil` if the token is not a readable JWT (RFC 7519, section 3).
  init?(_ token: String) {
    let parts = token.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let payload = Base64URL.decode(parts[1]), let claims = JSONValue(parsing: payload),
      claims.object != nil
    else { return nil }
    issuer = claims["iss"]?.text
    subject = claims["sub"]?.name.flatMap { Subject.isName($0) ? $0 : nil }
    expiresAt = claims["exp"]?.asNumber
    issuedAt = claims["iat"]?.asNumber
    authorizedParty = claims["azp"]?.name
    scope = claims["scope"]?.text ?? claims["scp"]?.text
    audiences =
      if case .array(let names)? = claims["aud"] { names.compactMap(\.name) } else {
        [claims["aud"]?.name].compactMap(\.self)
      }
  }

  /// Returns whether the token is for one of these clients (OIDC Core, section 3.1.3.7, rule 3) or was issued to one of
  /// them (Google's cross-client identity). Returns true if the token does not list an audience or if `clients` is
  /// empty.
  func areFor(_ clients: Set<String>) -> Bool {
    clients.isEmpty || audiences.isEmpty || !clients.isDisjoint(with: audiences)
      || authorizedParty.map(clients.contains) ?? false
  }

  /// Returns the token's subject, or `nil` if the token has none. If the token does not name an issuer, uses the
  /// default issuer.
  func subject(default assumed: DefaultIssuer) -> Subject? {
    subject.map { id in issuer.map { Subject(issuer: $0, id: id) } ?? assumed.subject(id) }
  }
}
