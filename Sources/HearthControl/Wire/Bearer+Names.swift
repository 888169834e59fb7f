package import HearthCore

extension Bearer {
  /// Claims with names that users recognize, as defined by OpenID Connect Core (section 5.1), Microsoft and Amazon.
  private static let claims = ["email", "preferred_username", "upn", "username", "cognito:username"]

  /// The bearer with the user's names, which most clients do not need.
  package var withNames: Bearer {
    var bearer = self
    bearer.names = userNames
    return bearer
  }

  /// The user's email addresses and names, from those of the grant's tokens that are JWTs. The subject is not included,
  /// because most providers use an opaque ID.
  package var userNames: [String] {
    var names: [String] = []
    for secret in secrets {
      guard let payload = secret.claims else { continue }
      for claim in Self.claims {
        guard let name = payload[claim]?.string, !name.isEmpty, !names.contains(name) else { continue }
        names.append(name)
      }
    }
    return names
  }
}

extension Token {
  /// The expiry in the token, or `nil` if the token is not a JWT or has no expiry (RFC 7519, section 4.1.4).
  package var expiresAt: Timestamp? {
    guard let seconds = secret.claims?["exp"]?.double, (0...Self.lastSecond).contains(seconds) else { return nil }
    return Timestamp(milliseconds: Int64(seconds * 1000))
  }

  /// The end of the year 9999, in seconds since 1970.
  private static let lastSecond = 253_402_300_799.0
}

extension Secret {
  /// The claims of a JWT (RFC 7519, section 3). The signature is not checked, because the token came from the provider
  /// or from the user.
  fileprivate var claims: JSON? {
    let parts = reveal().split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3 else { return nil }
    let digits = parts[1].replacing("-", with: "+").replacing("_", with: "/")
    let padding = String(repeating: "=", count: (4 - digits.utf8.count % 4) % 4)
    return Base64.decode(digits + padding).flatMap { try? JSON(parsing: $0) }
  }
}
