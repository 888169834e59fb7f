import FoundationEssentials
import HearthCore

/// The claims of a JWT that came over TLS from the token endpoint itself: its signature need not be checked (OIDC Core,
/// section 3.1.3.7, rule 6).
struct JWTClaims: Hashable, Sendable {
  private let issuer: String?
  private let subject: String?
  /// In seconds since 1970.
  let expiresAt: Double?

  /// Nil where the token is no JWT that can be read (RFC 7519, section 3).
  init?(_ token: String) {
    let parts = token.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let payload = Self.decode(parts[1]), let claims = JSONValue(parsing: payload),
      claims.object != nil
    else { return nil }
    issuer = claims["iss"]?.text
    subject = claims["sub"]?.text
    expiresAt = claims["exp"]?.asNumber
  }

  /// The subject, with the default issuer where the token names none; nil where it names no subject.
  func subject(default assumed: DefaultIssuer) -> Subject? {
    subject.map { id in issuer.map { Subject(issuer: $0, id: id) } ?? assumed.subject(id) }
  }

  /// base64url without padding (RFC 7515, section 2).
  private static func decode(_ text: Substring) -> [UInt8]? {
    var standard = String(text.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 })
    standard += String(repeating: "=", count: (4 - standard.utf8.count % 4) % 4)
    return Data(base64Encoded: standard).map(Array.init)
  }
}
