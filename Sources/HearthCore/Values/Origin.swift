/// Scheme, host and port of a URL (RFC 6454, section 4): what a token may be sent to.
package struct Origin: Hashable, Sendable, CustomStringConvertible {
  package let scheme: String
  /// In lower case; an IPv6 address with its brackets.
  package let host: String
  package let port: Int

  init(scheme: String, authority: Substring) throws(HTTPURL.ParseError) {
    let (host, port) = Self.split(authority)
    guard Self.isHost(host) else { throw .badHost }
    self.scheme = scheme
    self.host = host.lowercased()
    guard let port else {
      self.port = Self.port(of: scheme)
      return
    }
    guard port.utf8.count <= 5, port.utf8.allSatisfy(\.isASCIIDigit), let number = Int(port),
      (1...65_535).contains(number)
    else { throw .badPort }
    self.port = number
  }

  /// Without the port where it is the scheme's own.
  package var description: String {
    "\(scheme)://\(host)" + (port == Self.port(of: scheme) ? "" : ":\(port)")
  }

  private static func port(of scheme: String) -> Int { mailPorts[scheme] ?? (scheme == "https" ? 443 : 80) }

  /// 127.0.0.0/8, [::1] or `localhost`, which never leave this machine (RFC 6761, section 6.3).
  package var isLoopback: Bool {
    if host == "localhost" || host == "[::1]" { return true }
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127"
      && parts.allSatisfy { part in
        part.utf8.count <= 3 && part.utf8.allSatisfy(\.isASCIIDigit) && (Int(part).map { $0 <= 255 } ?? false)
      }
  }

  private static func split(_ authority: Substring) -> (host: Substring, port: Substring?) {
    if authority.first == "[" {
      guard let close = authority.firstIndex(of: "]") else { return (authority, nil) }
      let afterClose = authority.index(after: close)
      let rest = authority[afterClose...]
      if rest.isEmpty { return (authority, nil) }
      return rest.first == ":" ? (authority[..<afterClose], rest.dropFirst()) : (authority, nil)
    }
    guard let colon = authority.firstIndex(of: ":") else { return (authority, nil) }
    return (authority[..<colon], authority[authority.index(after: colon)...])
  }

  private static func isHost(_ host: Substring) -> Bool {
    if host.first == "[" {
      let address = host.dropFirst().dropLast()
      return host.last == "]" && address.contains(":")
        && address.allSatisfy { $0.isASCII && $0.isHexDigit || $0 == ":" || $0 == "." }
    }
    return !host.isEmpty && host.utf8.count <= 253
      && host.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
        !label.isEmpty && label.utf8.count <= 63
          && label.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }
      }
  }
}
