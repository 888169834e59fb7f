/// An absolute `http` or `https` URL (RFC 3986), read so strictly that no later parser can see another host in it.
///
/// `http` is taken for loopback addresses only. No user information, no fragment, nothing but the characters that
/// RFC 3986 allows.
package struct HTTPURL: Hashable, Sendable, CustomStringConvertible {
  package let description: String
  package let origin: Origin

  /// Path and query, from the first `/` on; `/` where the URL has none.
  package let target: String

  /// Why a text is no URL that Hearth will send anything to. Each says so in one sentence.
  package enum ParseError: Error, Hashable, Sendable {
    case notAbsolute, notHTTP, userInformation, fragment, badHost, badPort, badCharacter, plainHTTP
  }

  /// Read byte by byte: each item of the outbox is checked, and again before it is sent.
  package init(_ text: String) throws(ParseError) {
    guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")), text.utf8[colon...].starts(with: "://".utf8) else {
      throw .notAbsolute
    }
    let scheme = text[..<colon].lowercased()
    guard scheme == "https" || scheme == "http" else { throw .notHTTP }
    let rest = text[colon...].utf8.dropFirst("://".utf8.count)
    guard rest.allSatisfy(Self.isAllowed), Self.percentEncodingHolds(rest) else { throw .badCharacter }
    guard !rest.contains(UInt8(ascii: "#")) else { throw .fragment }
    let authority = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
    guard !authority.contains(UInt8(ascii: "@")) else { throw .userInformation }
    let origin = try Origin(scheme: scheme, authority: authority)
    guard scheme == "https" || origin.isLoopback else { throw .plainHTTP }
    let path = rest[authority.endIndex...]
    guard !path.contains(where: { $0 == UInt8(ascii: "[") || $0 == UInt8(ascii: "]") }) else { throw .badCharacter }
    self.origin = origin
    self.target = (path.first == UInt8(ascii: "/") ? "" : "/") + String(Substring(path))
    self.description = origin.description + target
  }

  private static func isAllowed(_ byte: UInt8) -> Bool {
    byte.isASCIILetter || byte.isASCIIDigit || "-._~:/?#[]@!$&'()*+,;=%".utf8.contains(byte)
  }

  /// Two hexadecimal digits follow each percent sign.
  private static func percentEncodingHolds(_ text: Substring.UTF8View) -> Bool {
    var text = text
    while let percent = text.firstIndex(of: UInt8(ascii: "%")) {
      text = text[percent...].dropFirst()
      guard text.prefix(2).count == 2, text.prefix(2).allSatisfy(\.isASCIIHexDigit) else { return false }
    }
    return true
  }
}

extension HTTPURL.ParseError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .notAbsolute: "it is not an absolute URL"
    case .notHTTP: "its scheme is neither https nor http"
    case .userInformation: "it has user information before the host"
    case .fragment: "it has a fragment"
    case .badHost: "its host is not valid"
    case .badPort: "its port is not valid"
    case .badCharacter: "it has a character that a URL may not have"
    case .plainHTTP: "http is accepted for loopback addresses only; use https"
    }
  }
}
