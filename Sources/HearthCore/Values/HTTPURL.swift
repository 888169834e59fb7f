/// An absolute `http` or `https` URL (RFC 3986). Parsing is strict, so that no other parser can find a different host
/// in an accepted URL.
///
/// `http` is allowed only for loopback addresses. User information, fragments and characters outside RFC 3986 are
/// rejected.
package struct HTTPURL: Hashable, Sendable, CustomStringConvertible {
  package let description: String
  package let origin: Origin

  /// The path and query, which always start with `/`.
  package let target: String

  /// The reason why Hearth does not accept a URL. The description completes a sentence.
  package enum ParseError: Error, Hashable, Sendable, CustomStringConvertible {
    case notAbsolute, notHTTP, userInformation, fragment, badHost, hostBeyondASCII, badPort, plainHTTP
    /// A character in the path or query that must be percent-encoded.
    case badCharacter(Unicode.Scalar)

    package var description: String {
      switch self {
      case .notAbsolute: "it is not an absolute URL"
      case .notHTTP: "its scheme is neither https nor http"
      case .userInformation: "it contains user information before the host"
      case .fragment: "it has a fragment (if the # belongs to the path or the query, write %23)"
      case .badHost: "its host is not valid"
      case .hostBeyondASCII: "its host contains non-ASCII characters; write it in Punycode, like xn--bcher-kva.example"
      case .badPort: "its port is not valid"
      case .badCharacter("%"): "it has a % without two hexadecimal digits after it; write %25 instead"
      case .badCharacter(let character): "it contains \(Self.name(of: character)); write \(HTTPURL.encoded(character))"
      case .plainHTTP: "http is allowed only for loopback addresses; use https"
      }
    }

    private static func name(of character: Unicode.Scalar) -> String {
      let number = String(character.value, radix: 16, uppercase: true)
      let code = "U+" + String(repeating: "0", count: max(4 - number.count, 0)) + number
      return character.value > 0x20 && character.value < 0x7F ? "the character \(character)" : "the character \(code)"
    }
  }

  /// Parses a URL. Works on bytes for speed, because each outbox item is checked when it is enqueued and again before
  /// it is sent.
  package init(_ text: String) throws(ParseError) {
    guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")), text.utf8[colon...].starts(with: "://".utf8) else {
      throw .notAbsolute
    }
    let scheme = text[..<colon].lowercased()
    guard scheme == "https" || scheme == "http" else { throw .notHTTP }
    let rest = text[colon...].utf8.dropFirst("://".utf8.count)
    let authority = rest.prefix { !Self.endsAuthority($0) }
    guard !authority.contains(UInt8(ascii: "@")) else { throw .userInformation }
    let path = rest[authority.endIndex...]
    guard !path.contains(UInt8(ascii: "#")) else { throw .fragment }
    guard path.allSatisfy(Self.isAllowed), Self.percentEncodingHolds(path) else {
      throw .badCharacter(Self.firstBadCharacter(in: path))
    }
    let origin = try Origin(scheme: scheme, authority: authority)
    guard scheme == "https" || origin.isLoopback else { throw .plainHTTP }
    self.origin = origin
    self.target = (path.first == UInt8(ascii: "/") ? "" : "/") + String(Substring(path))
    self.description = origin.description + target
  }

  private static func endsAuthority(_ byte: UInt8) -> Bool { "/?#".utf8.contains(byte) }

  /// Returns whether a path or query may contain this byte (RFC 3986, sections 3.3 and 3.4).
  private static func isAllowed(_ byte: UInt8) -> Bool {
    byte.isASCIILetter || byte.isASCIIDigit || "-._~:/?@!$&'()*+,;=%".utf8.contains(byte)
  }

  private static func firstBadCharacter(in path: Substring.UTF8View) -> Unicode.Scalar {
    Substring(path).unicodeScalars.first { !$0.isASCII || !isAllowed(UInt8($0.value)) } ?? "%"
  }

  /// Returns whether each percent sign is followed by two hexadecimal digits.
  private static func percentEncodingHolds(_ text: Substring.UTF8View) -> Bool {
    var text = text
    while let percent = text.firstIndex(of: UInt8(ascii: "%")) {
      text = text[percent...].dropFirst()
      guard text.prefix(2).count == 2, text.prefix(2).allSatisfy(\.isASCIIHexDigit) else { return false }
    }
    return true
  }

  /// Parses a URL as users write it for browsers and curl. Removes surrounding spaces, and percent-encodes characters
  /// in the path and query that RFC 3986 does not allow, as in `filter[status]`.
  ///
  /// ASCII control characters and a `%` without two digits are rejected as obvious mistakes. A `\` in the path is
  /// rejected because browsers treat it as `/` and other programs do not.
  package init(encoding text: String) throws {
    if let url = try? HTTPURL(text) {
      self = url
    } else {
      self = try HTTPURL(Self.encoded(text))
    }
  }

  private static func encoded(_ text: String) -> String {
    let text = text.utf8.drop { $0 == 0x20 }
    let end = text.lastIndex { $0 != 0x20 }.map(text.index(after:)) ?? text.endIndex
    guard let authority = text.firstRange(of: "://".utf8)?.upperBound,
      let start = text[authority...].firstIndex(where: endsAuthority)
    else { return String(Substring(text[..<end])) }
    let path = Substring(text[start..<end]).unicodeScalars
    let query = path.firstIndex(of: "?") ?? path.endIndex
    var encoded = String(Substring(text[..<start]))
    for index in path.indices {
      let character = path[index]
      let isKept =
        switch character {
        case "#", "%", "\u{0}"..<" ", "\u{7F}": true
        case "\\": index < query
        default: character.isASCII && isAllowed(UInt8(character.value))
        }
      if isKept { encoded.unicodeScalars.append(character) } else { encoded += Self.encoded(character) }
    }
    return encoded
  }

  fileprivate static func encoded(_ character: Unicode.Scalar) -> String {
    String(character).utf8.map { "%" + ($0 < 0x10 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined()
  }

  /// Resolves a reference, such as `Location`, in the response to a request for this URL (RFC 3986, section 5.2). Drops
  /// the fragment, which is never sent to a server (RFC 9110, section 7.1).
  package func resolving(_ reference: String) throws -> HTTPURL {
    let reference = reference.prefix { $0 != "#" }
    if Self.hasScheme(reference) { return try HTTPURL(encoding: String(reference)) }
    if reference.hasPrefix("//") { return try HTTPURL(encoding: "\(origin.scheme):\(reference)") }
    let path = target.prefix { $0 != "?" }
    if reference.isEmpty { return self }
    if reference.first == "?" { return try HTTPURL(encoding: "\(origin)\(path)\(reference)") }
    let query = reference.drop { $0 != "?" }
    let folder = reference.first == "/" ? "" : path[...(path.lastIndex(of: "/") ?? path.startIndex)]
    return try HTTPURL(encoding: "\(origin)\(Self.withoutDots(folder + reference.prefix { $0 != "?" }))\(query)")
  }

  /// Returns whether the reference starts with a scheme (RFC 3986, section 3.1).
  private static func hasScheme(_ reference: Substring) -> Bool {
    let name = reference.utf8.prefix { $0.isASCIILetter || $0.isASCIIDigit || "+-.".utf8.contains($0) }
    return name.first?.isASCIILetter == true && reference.utf8.dropFirst(name.count).first == UInt8(ascii: ":")
  }

  /// Removes dot segments from a path that starts with a slash (RFC 3986, section 5.2.4).
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
