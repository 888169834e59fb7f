/// A token and its fingerprint, which is computed when the token is read.
package struct Token: Hashable, Sendable {
  package let secret: Secret
  package let fingerprint: Fingerprint

  package init(secret: Secret, fingerprint: Fingerprint) {
    (self.secret, self.fingerprint) = (secret, fingerprint)
  }
}

/// The public name of a token: the first 8 hex digits of its SHA-256. It distinguishes tokens without revealing them.
package struct Fingerprint: Hashable, Sendable, CustomStringConvertible {
  package let description: String

  /// Returns `nil` unless `text` is 8 hex digits in lower case.
  package init?(_ text: String) {
    guard text.utf8.count == 8, text.utf8.allSatisfy(\.isLowercaseHexDigit) else { return nil }
    description = text
  }
}

/// The characters that tokens may have. A control character would end the header that carries the token.
package enum TokenSyntax {
  /// Whether the text may be in an `Authorization` header: visible ASCII (RFC 6749, appendix A.12, without the space,
  /// which separates a header's fields). The b64token of RFC 6750, section 2.1, is narrower than what providers issue.
  package static func isBearer(_ text: String) -> Bool {
    text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
  }

  /// Whether the text may be a refresh token, which only the token endpoint receives: visible ASCII and space (RFC
  /// 6749, appendix A.17).
  package static func isRefreshToken(_ text: String) -> Bool {
    text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
  }
}

/// The scopes and the audience of an account's tokens, according to its configuration. Clients cannot get others.
package struct TokenOffer: Hashable, Sendable {
  package let scopes: [String]
  package let audience: String?

  package init(scopes: [String] = [], audience: String? = nil) {
    (self.scopes, self.audience) = (scopes, audience)
  }

  /// Whether these scopes, separated by spaces (RFC 6749, section 3.3), are those of the tokens, in any order.
  package func hasScopes(_ text: String) -> Bool { Set(text.split(separator: " ").map(String.init)) == Set(scopes) }
}
