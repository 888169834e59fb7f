/// What the tokens of an account are made for, by its configuration: nobody can be given others.
package struct TokenOffer: Hashable, Sendable {
  package let scopes: [String]
  package let audience: String?

  package init(scopes: [String] = [], audience: String? = nil) {
    self.scopes = scopes
    self.audience = audience
  }

  /// Whether these scopes, separated by spaces (RFC 6749, section 3.3), are those of the tokens, in any order.
  package func hasScopes(_ text: String) -> Bool { Set(text.split(separator: " ").map(String.init)) == Set(scopes) }
}
