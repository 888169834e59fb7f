import FoundationEssentials

/// A redirect URI on a loopback address, with any port and path (RFC 8252, section 7.3).
struct RedirectURI: Codable, Hashable, Sendable {
  let text: String

  /// Parses a redirect URI. Returns `nil` if the text is not an `http` URI on a loopback address.
  init?(_ text: String) {
    guard let url = URL(string: text), url.scheme == "http", url.user == nil, !text.contains("#"),
      text.unicodeScalars.allSatisfy({ (0x21...0x7E).contains($0.value) }),
      ["127.0.0.1", "::1", "[::1]", "localhost"].contains(url.host)
    else { return nil }
    self.text = text
  }

  /// Returns the URI with additional query fields, in order.
  func adding(_ fields: [(String, String)]) -> String {
    let query = fields.map { "\($0)=\(percentEncoded($1))" }.joined(separator: "&")
    return text + (text.contains("?") ? "&" : "?") + query
  }
}
