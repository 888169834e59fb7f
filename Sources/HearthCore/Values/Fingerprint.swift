/// The public name of a token: the first 8 hex digits of its SHA-256. It tells tokens apart and gives none away.
package struct Fingerprint: Hashable, Sendable, CustomStringConvertible {
  package let description: String

  /// Nil unless `text` is 8 hex digits in lower case.
  package init?(_ text: String) {
    guard text.utf8.count == 8, text.utf8.allSatisfy(\.isLowercaseHexDigit) else { return nil }
    description = text
  }
}
