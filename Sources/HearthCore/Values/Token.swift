package struct Token: Hashable, Sendable {
  package let secret: Secret
  package let fingerprint: Fingerprint

  package init(secret: Secret, fingerprint: Fingerprint) {
    (self.secret, self.fingerprint) = (secret, fingerprint)
  }
}

/// The public name of a token: the first 8 hex digits of its SHA-256. It identifies the token without revealing it.
package struct Fingerprint: Hashable, Sendable, CustomStringConvertible {
  package let description: String

  /// Returns `nil` unless `text` consists of 8 lowercase hex digits.
  package init?(_ text: String) {
    guard text.utf8.count == 8, text.utf8.allSatisfy(\.isLowercaseHexDigit) else { return nil }
    description = text
  }
}

extension String {
  /// Whether the text can be sent in an `Authorization` header. The text must be visible ASCII (RFC 6749, appendix
  /// A.12) without spaces, which separate the parts of the header. Some providers issue tokens that are not a b64token
  /// (RFC 6750, section 2.1), so the syntax is not restricted further.
  package var isBearerToken: Bool { utf8.allSatisfy { (0x21...0x7E).contains($0) } }

  /// Whether the text can be a refresh token, which only the token endpoint receives: visible ASCII and spaces (RFC
  /// 6749, appendix A.17).
  package var isRefreshToken: Bool { utf8.allSatisfy { (0x20...0x7E).contains($0) } }
}

/// The configured scopes and audience of an account's tokens. Clients cannot get tokens with different scopes or a
/// different audience.
package struct TokenOffer: Hashable, Sendable {
  package let scopes: [String]
  package let audience: String?

  package init(scopes: [String] = [], audience: String? = nil) {
    (self.scopes, self.audience) = (scopes, audience)
  }

  /// Returns whether these scopes, separated by spaces (RFC 6749, section 3.3), are exactly the tokens' scopes, in any
  /// order.
  package func hasScopes(_ text: String) -> Bool { Set(text.split(separator: " ").map(String.init)) == Set(scopes) }
}
