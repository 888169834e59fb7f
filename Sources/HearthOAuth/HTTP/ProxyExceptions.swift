import Glibc
import HearthCore

/// Where `NO_PROXY` sends requests directly, as curl reads it: names with all that is below them, addresses, networks
/// in CIDR notation, each perhaps with a port, or `*` for everything.
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

  /// Without the brackets of an IPv6 address or the full stop at a name's end.
  private static func bare(_ host: Substring) -> Substring {
    if host.hasPrefix("["), host.hasSuffix("]") { return host.dropFirst().dropLast() }
    return host.hasSuffix(".") ? host.dropLast() : host
  }

  /// A port stands after the last colon, unless there are more, as in an IPv6 address without brackets.
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

  /// 4 or 16 bytes; nil where the text is a name.
  private static func address(_ text: Substring) -> [UInt8]? {
    for (family, count) in [(AF_INET, 4), (AF_INET6, 16)] {
      var bytes = [UInt8](repeating: 0, count: count)
      if inet_pton(family, String(text), &bytes) == 1 { return bytes }
    }
    return nil
  }
}
