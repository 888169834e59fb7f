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

/// Encodes all characters except unreserved ones (RFC 3986, section 2.3).
func percentEncoded(_ text: String) -> String {
  text.utf8.map { byte in
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
      UInt8(ascii: "~"):
      return String(UnicodeScalar(byte))
    default: return "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    }
  }.joined()
}
