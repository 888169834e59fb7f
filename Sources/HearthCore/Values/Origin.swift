/// The scheme, host and port of a URL (RFC 6454, section 4). Tokens are bound to origins.
package struct Origin: Hashable, Sendable, CustomStringConvertible {
  package let scheme: String
  /// The host in lower case, with brackets around an IPv6 address.
  package let host: String
  package let port: Int

  init(scheme: String, authority: Substring.UTF8View) throws(HTTPURL.ParseError) {
    let (host, port) = Self.split(authority)
    guard Self.isHost(host) else { throw host.allSatisfy { $0 < 0x80 } ? .badHost : .hostBeyondASCII }
    self.scheme = scheme
    self.host = Substring(host).lowercased()
    guard let port else {
      self.port = Self.port(of: scheme)
      return
    }
    guard port.count <= 5, port.allSatisfy(\.isASCIIDigit), let number = Int(Substring(port)),
      (1...65_535).contains(number)
    else { throw .badPort }
    self.port = number
  }

  /// The origin as a string, without the port if it is the scheme's default.
  package var description: String {
    "\(scheme)://\(host)" + (port == Self.port(of: scheme) ? "" : ":\(port)")
  }

  private static func port(of scheme: String) -> Int { mailPorts[scheme] ?? (scheme == "https" ? 443 : 80) }

  /// Whether the host is in 127.0.0.0/8, or is [::1] or `localhost` (RFC 6761, section 6.3). Requests to such a host
  /// never leave this machine.
  package var isLoopback: Bool {
    if host == "localhost" || host == "[::1]" { return true }
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127"
      && parts.allSatisfy { part in
        part.utf8.count <= 3 && part.utf8.allSatisfy(\.isASCIIDigit) && (Int(part).map { $0 <= 255 } ?? false)
      }
  }

  private static func split(
    _ authority: Substring.UTF8View
  ) -> (host: Substring.UTF8View, port: Substring.UTF8View?) {
    let hostEnd: Substring.UTF8View.Index
    if authority.first == UInt8(ascii: "[") {
      guard let close = authority.firstIndex(of: UInt8(ascii: "]")) else { return (authority, nil) }
      hostEnd = authority.index(after: close)
    } else {
      hostEnd = authority.firstIndex(of: UInt8(ascii: ":")) ?? authority.endIndex
    }
    let rest = authority[hostEnd...]
    guard rest.first == UInt8(ascii: ":") else { return (authority, nil) }
    return (authority[..<hostEnd], rest.dropFirst())
  }

  private static func isHost(_ host: Substring.UTF8View) -> Bool {
    if host.first == UInt8(ascii: "[") {
      let address = host.dropFirst().dropLast()
      return host.last == UInt8(ascii: "]") && address.contains(UInt8(ascii: ":"))
        && address.allSatisfy { $0.isASCIIHexDigit || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".") }
    }
    return host.count <= 253
      && host.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).allSatisfy { label in
        !label.isEmpty && label.count <= 63
          && label.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || "-_".utf8.contains($0) }
      }
  }

  /// The URL schemes of mail servers, as in RFC 5092 and curl, with their default ports. If the scheme does not imply
  /// TLS, the mail program must use STARTTLS.
  static let mailPorts = ["imap": 143, "imaps": 993, "pop3": 110, "pop3s": 995, "smtp": 25, "smtps": 465]

  /// Whether this is a mail server. Only other programs send the token there, because Hearth itself supports only HTTP.
  var isOfMail: Bool { Self.mailPorts[scheme] != nil }

  /// Parses the URL of an API or mail server that receives tokens.
  package init(ofServer text: String) throws {
    guard let schemeEnd = text.firstRange(of: "://"),
      Self.mailPorts[text[..<schemeEnd.lowerBound].lowercased()] != nil
    else {
      self = try HTTPURL(encoding: text).origin
      return
    }
    let authority = text[schemeEnd.upperBound...].prefix { $0 != "/" && $0 != "?" }
    guard !authority.contains("@") else { throw HTTPURL.ParseError.userInformation }
    self = try Origin(scheme: text[..<schemeEnd.lowerBound].lowercased(), authority: authority.utf8)
  }
}
