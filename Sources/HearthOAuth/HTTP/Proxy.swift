import FoundationEssentials
import HearthCore

/// An HTTP proxy with CONNECT (RFC 9110, section 9.3.6), or a SOCKS 5 proxy without authentication (RFC 1928). The
/// proxy resolves host names.
package struct Proxy: Hashable, Sendable, CustomStringConvertible {
  enum Kind: Hashable, Sendable {
    /// The user name and password for `Proxy-Authorization: Basic`, if any.
    case http(credentials: Secret?)
    case socks5
  }

  let kind: Kind
  /// The host. An IPv6 address has no brackets.
  let host: String
  let port: Int

  /// Parses `http://user:password@host:port` or `socks5://host:port`. The scheme defaults to `http`, and the port to 80
  /// (1080 for SOCKS).
  /// The reason for an error never quotes the string, which may contain a password.
  package init(_ text: String) throws {
    let parts = text.firstRange(of: "://").map { (text[..<$0.lowerBound].lowercased(), text[$0.upperBound...]) }
    let (scheme, rest) = parts ?? ("http", text[...])
    let isSOCKS = ["socks5", "socks5h"].contains(scheme)
    guard isSOCKS || scheme == "http" else { throw Reason("its scheme must be http or socks5") }
    let authority = rest.prefix { !"/?#".contains($0) }
    guard rest[authority.endIndex...].isEmpty || rest[authority.endIndex...] == "/" else {
      throw Reason("a proxy must be scheme://host:port, without a path")
    }
    let end = authority.lastIndex(of: "@")
    let place = end.map { authority[authority.index(after: $0)...] } ?? authority
    guard let origin = try? HTTPURL("https://" + place + "/").origin, !place.contains("@") else {
      throw Reason("its host or port is invalid")
    }
    host = origin.address
    let digits = place.drop { $0 != "]" && $0 != ":" }.reversed().prefix { $0 != ":" && $0 != "]" }
    port = digits.isEmpty || !place.hasSuffix(":" + String(digits.reversed())) ? (isSOCKS ? 1080 : 80) : origin.port
    switch (isSOCKS, end) {
    case (true, nil): kind = .socks5
    case (true, .some): throw Reason("a SOCKS proxy with a password is not supported")
    case (false, nil): kind = .http(credentials: nil)
    case (false, let end?): kind = .http(credentials: try Self.credentials(authority[..<end]))
    }
  }

  private static func credentials(_ text: Substring) throws -> Secret {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let decoded = parts.compactMap { FormBody.percentDecoded($0.utf8) }
    guard decoded.count == parts.count, let user = decoded.first, !user.isEmpty else {
      throw Reason("write the user name and password as user:password@, with special characters as %XX")
    }
    return Secret(user + ":" + (decoded.count > 1 ? decoded[1] : ""))
  }

  /// The host and port, without user name and password.
  package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

  /// Whether the proxy is on this machine. If so, unencrypted requests to it do not cross the network.
  var isLoopback: Bool { host == "::1" || (try? HTTPURL("http://\(description)/")) != nil }

  /// Returns the value of `Proxy-Authorization` (RFC 7617, section 2).
  static func basic(_ credentials: Secret) -> String {
    "Basic " + Data(credentials.reveal().utf8).base64EncodedString()
  }
}
