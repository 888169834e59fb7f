/// A kernel message about links, addresses or routes (rtnetlink(7)), reduced to what matters for connections.
enum RouteMessage: Hashable, Sendable {
  /// `kind` is the type of a virtual link, such as "veth" or "bridge", or `nil` for hardware and loopback.
  case link(interface: UInt32, isRunning: Bool, isUp: Bool, kind: String?)
  case linkGone(interface: UInt32)
  case address(Address)
  case addressGone(Address)
  /// If `replaces` is true, the kernel does not send a separate message about the route that was replaced.
  case defaultRoute(Route, replaces: Bool = false)
  case defaultRouteGone(Route)
  /// The requested list is complete.
  case listEnded
  case other

  /// An address with global scope.
  struct Address: Hashable, Sendable {
    let interface: UInt32
    let family: UInt8
    let bytes: [UInt8]
  }

  /// A unicast default route.
  struct Route: Hashable, Sendable {
    let interface: UInt32
    let family: UInt8
    let table: UInt32
    let priority: UInt32
    /// The gateway's address, or all next hops if the route has several (RTA_MULTIPATH). Empty without a gateway.
    let gateway: [UInt8]

    /// Returns whether one of the routes would replace the other.
    func replaces(_ other: Route) -> Bool {
      family == other.family && table == other.table && priority == other.priority
    }
  }
}

extension RouteMessage {
  /// Returns the messages of one datagram, in order. `isListed` is true if a message belongs to a list of existing
  /// links, addresses or routes. Truncated and malformed messages are ignored.
  static func read(_ datagram: ArraySlice<UInt8>) -> [(message: RouteMessage, isListed: Bool)] {
    var messages: [(RouteMessage, Bool)] = []
    var rest = datagram
    while rest.count >= headerSize {
      let length = Int(rest.number(at: 0, as: UInt32.self))
      guard length >= headerSize, length <= rest.count else { break }
      let flags = rest.number(at: 6, as: UInt16.self)
      let body = rest.dropFirst(headerSize).prefix(length - headerSize)
      let message = RouteMessage(type: rest.number(at: 4, as: UInt16.self), body, replaces: flags & replacing != 0)
      messages.append((message, flags & multipart != 0))
      rest = rest.dropFirst((length + 3) & ~3)
    }
    return messages
  }

  // From linux/netlink.h and linux/rtnetlink.h, whose macros Swift cannot import.
  private static let headerSize = 16
  private static let multipart: UInt16 = 2
  private static let replacing: UInt16 = 0x100

  private init(type: UInt16, _ body: ArraySlice<UInt8>, replaces: Bool) {
    switch type {
    case 3: self = .listEnded
    case 16: self = Self.link(body)
    case 17: self = body.count >= 16 ? .linkGone(interface: body.number(at: 4, as: UInt32.self)) : .other
    case 20: self = Self.address(body).map { .address($0) } ?? .other
    case 21: self = Self.address(body).map { .addressGone($0) } ?? .other
    case 24: self = Self.route(body).map { .defaultRoute($0, replaces: replaces) } ?? .other
    case 25: self = Self.route(body).map { .defaultRouteGone($0) } ?? .other
    default: self = .other
    }
  }

  /// Reads `struct ifinfomsg` and its attributes.
  private static func link(_ body: ArraySlice<UInt8>) -> RouteMessage {
    guard body.count >= 16 else { return .other }
    let flags = body.number(at: 8, as: UInt32.self)
    let information = attributes(body.dropFirst(16))[18].map(attributes)
    let kind = information?[1].map { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    return .link(
      interface: body.number(at: 4, as: UInt32.self), isRunning: flags & 0x40 != 0, isUp: flags & 1 != 0, kind: kind)
  }

  /// Reads `struct ifaddrmsg` and its attributes. Returns `nil` for an address that is unusable or does not have global
  /// scope.
  private static func address(_ body: ArraySlice<UInt8>) -> Address? {
    guard body.count >= 8, body.number(at: 3, as: UInt8.self) == 0 else { return nil }
    let attributes = attributes(body.dropFirst(8))
    let flags = attributes[8].map { $0.number(at: 0, as: UInt32.self) } ?? UInt32(body.number(at: 2, as: UInt8.self))
    // An address is unusable while the kernel checks whether another machine has it (IFA_F_TENTATIVE), and if another
    // machine does (IFA_F_DADFAILED).
    guard flags & 0x48 == 0, let bytes = attributes[2] ?? attributes[1] else { return nil }
    return Address(
      interface: body.number(at: 4, as: UInt32.self), family: body.number(at: 0, as: UInt8.self), bytes: Array(bytes))
  }

  /// Reads `struct rtmsg` and its attributes. Returns `nil` unless the route is a unicast default route.
  private static func route(_ body: ArraySlice<UInt8>) -> Route? {
    guard body.count >= 12, body.number(at: 1, as: UInt8.self) == 0, body.number(at: 7, as: UInt8.self) == 1 else {
      return nil
    }
    let attributes = attributes(body.dropFirst(12))
    func number(_ type: UInt16) -> UInt32? { attributes[type].map { $0.number(at: 0, as: UInt32.self) } }
    return Route(
      interface: number(4) ?? 0, family: body.number(at: 0, as: UInt8.self),
      table: number(15) ?? UInt32(body.number(at: 4, as: UInt8.self)), priority: number(6) ?? 0,
      gateway: Array(attributes[5] ?? attributes[18] ?? attributes[9] ?? []))
  }

  /// Reads a sequence of `struct rtattr`. Returns the values by type.
  private static func attributes(_ bytes: ArraySlice<UInt8>) -> [UInt16: ArraySlice<UInt8>] {
    var values: [UInt16: ArraySlice<UInt8>] = [:]
    var rest = bytes
    while rest.count >= 4 {
      let length = Int(rest.number(at: 0, as: UInt16.self))
      guard length >= 4, length <= rest.count else { break }
      // The upper two bits of the type are flags (NLA_F_NESTED, NLA_F_NET_BYTEORDER).
      values[rest.number(at: 2, as: UInt16.self) & 0x3fff] = rest.dropFirst(4).prefix(length - 4)
      rest = rest.dropFirst((length + 3) & ~3)
    }
    return values
  }
}

extension ArraySlice<UInt8> {
  /// Returns a number in host byte order. Bytes beyond the end count as zero.
  fileprivate func number<Number: FixedWidthInteger>(at offset: Int, as type: Number.Type) -> Number {
    var number: Number = 0
    Swift.withUnsafeMutableBytes(of: &number) { target in
      for index in 0..<target.count where offset + index < count { target[index] = self[startIndex + offset + index] }
    }
    return number
  }
}
