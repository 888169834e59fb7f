/// An absolute `http` or `https` URL (RFC 3986), parsed so strictly that no later parser can see another host in it.
///
/// It accepts `http` for loopback addresses only, no user information, no fragment, and only RFC 3986's characters.
package struct HTTPURL: Hashable, Sendable, CustomStringConvertible {
  package let description: String
  package let origin: Origin

  /// Path and query, from the first `/` on. It is `/` if the URL has none.
  package let target: String

  /// Why a text is not a URL that Hearth sends anything to. Each description is one sentence.
  package enum ParseError: Error, Hashable, Sendable, CustomStringConvertible {
    case notAbsolute, notHTTP, userInformation, fragment, badHost, badPort, badCharacter, plainHTTP

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

  /// Parsed byte by byte, for speed: each outbox item is checked when it is enqueued and again before it is sent.
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

  /// Whether two hexadecimal digits follow each percent sign.
  private static func percentEncodingHolds(_ text: Substring.UTF8View) -> Bool {
    var text = text
    while let percent = text.firstIndex(of: UInt8(ascii: "%")) {
      text = text[percent...].dropFirst()
      guard text.prefix(2).count == 2, text.prefix(2).allSatisfy(\.isASCIIHexDigit) else { return false }
    }
    return true
  }
}

extension HTTPURL {
  /// Resolves a reference in a response to a request for this URL, such as `Location` (RFC 3986, section 5.2). The
  /// fragment is for the reader of the response and is left out (RFC 9110, section 10.2.2).
  package func resolving(_ reference: String) throws(ParseError) -> HTTPURL {
    let reference = reference.prefix { $0 != "#" }
    if Self.hasScheme(reference) { return try HTTPURL(String(reference)) }
    if reference.hasPrefix("//") { return try HTTPURL("\(origin.scheme):\(reference)") }
    let path = target.prefix { $0 != "?" }
    if reference.isEmpty { return self }
    if reference.first == "?" { return try HTTPURL("\(origin)\(path)\(reference)") }
    let query = reference.drop { $0 != "?" }
    let folder = reference.first == "/" ? "" : path[...(path.lastIndex(of: "/") ?? path.startIndex)]
    return try HTTPURL("\(origin)\(Self.withoutDots(folder + reference.prefix { $0 != "?" }))\(query)")
  }

  /// Whether the reference begins with a scheme (RFC 3986, section 3.1).
  private static func hasScheme(_ reference: Substring) -> Bool {
    let name = reference.utf8.prefix { $0.isASCIILetter || $0.isASCIIDigit || "+-.".utf8.contains($0) }
    return name.first?.isASCIILetter == true && reference.utf8.dropFirst(name.count).first == UInt8(ascii: ":")
  }

  /// Removes dot segments (RFC 3986, section 5.2.4). `path` begins with a slash.
  private static func withoutDots(_ path: Substring) -> String {
    var kept: [Substring] = []
    let segments = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
    for segment in segments {
      switch segment {
      case ".": break
      case "..": _ = kept.popLast()
      default: kept.append(segment)
      }
    }
    if segments.last == "." || segments.last == ".." { kept.append("") }
    return "/" + kept.joined(separator: "/")
  }
}
