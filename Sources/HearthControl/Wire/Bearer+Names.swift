package import HearthCore

extension Bearer {
  /// The claims with names that users recognize as their own (OIDC Core, section 5.1; Microsoft's and Amazon's).
  private static let claims = ["email", "preferred_username", "upn", "username", "cognito:username"]

  /// The user's names in the grant's tokens, if they are JWTs. The subject is not one: for most providers it is a
  /// number.
  package var userNames: [String] {
    var names: [String] = []
    for secret in secrets {
      guard let payload = Self.payload(of: secret.reveal()) else { continue }
      for claim in Self.claims {
        guard let name = payload[claim]?.string, !name.isEmpty, !names.contains(name) else { continue }
        names.append(name)
      }
    }
    return names
  }

  /// The claims of a JWT (RFC 7519, section 3). Its signature need not be checked, because it came from the provider.
  private static func payload(of token: String) -> JSON? {
    let parts = token.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3 else { return nil }
    let digits = parts[1].replacing("-", with: "+").replacing("_", with: "/")
    let padding = String(repeating: "=", count: (4 - digits.utf8.count % 4) % 4)
    return Base64.decode(digits + padding).flatMap { try? JSON(parsing: $0) }
  }
}
