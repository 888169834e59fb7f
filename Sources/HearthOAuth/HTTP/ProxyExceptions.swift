import Glibc
import HearthCore

/// The hosts in `NO_PROXY`, which Hearth connects to directly. As in curl, an entry is a name (including its
/// subdomains), an address, a network in CIDR notation, or `*` for all hosts. Entries can include a port.
struct ProxyExceptions: Hashable, Sendable {
  private let entries: [String]

  init(_ text: String) {
    entries = text.lowercased().split { $0 == "," || $0.isWhitespace }.map(String.init)
  }

  func cover(_ origin: Origin) -> Bool {
    let host = Self.bare(origin.host[...])
    return entries.contains { entry in
      if entry == "*" { return true }
      let (place, port) = Self.split(entry)
      guard port == nil || port == origin.port else { return false }
      if let address = Self.address(host) { return Self.network(place, contains: address) }
      let name = place.drop { $0 == "*" || $0 == "." }
      return !name.isEmpty && (host == name || host.hasSuffix("." + name))
    }
  }

  /// Removes the brackets of an IPv6 address or the trailing dot of a name.
  private static func bare(_ host: Substring) -> Substring {
    if host.hasPrefix("["), host.hasSuffix("]") { return host.dropFirst().dropLast() }
    return host.hasSuffix(".") ? host.dropLast() : host
  }

  /// Splits off the port after the last colon. IPv6 addresses without brackets have several colons and no port.
  private static func split(_ entry: String) -> (place: Substring, port: Int?) {
    let isAddress = !entry.hasPrefix("[") && entry.filter { $0 == ":" }.count > 1
    guard !isAddress, let colon = entry.lastIndex(of: ":"), let port = Int(entry[entry.index(after: colon)...]) else {
      return (bare(entry[...]), nil)
    }
    return (bare(entry[..<colon]), port)
  }

  private static func network(_ text: Substring, contains address: [UInt8]) -> Bool {
    let parts = text.split(separator: "/", maxSplits: 1)
    guard let first = parts.first, let base = Self.address(first), base.count == address.count else { return false }
    guard parts.count == 2 else { return base == address }
    guard let bits = Int(parts[1]), (0...base.count * 8).contains(bits) else { return false }
    return zip(base, address).enumerated().allSatisfy { index, pair in
      let kept = max(0, min(8, bits - index * 8))
      let mask = UInt8(truncatingIfNeeded: 0xff00 >> kept)
      return pair.0 & mask == pair.1 & mask
    }
  }

  /// Returns the 4 or 16 bytes of an IP address, or `nil` if the text is a name.
  private static func address(_ text: Substring) -> [UInt8]? {
    for (family, count) in [(AF_INET, 4), (AF_INET6, 16)] {
      var bytes = [UInt8](repeating: 0, count: count)
      if inet_pton(family, String(text), &bytes) == 1 { return bytes }
    }
    return nil
  }
}
