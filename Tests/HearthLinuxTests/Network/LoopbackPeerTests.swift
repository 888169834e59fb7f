import Glibc
import HearthCore
import NIOCore
import Testing

@testable import HearthLinux

@Suite("Whose connection to the loopback address it is")
struct LoopbackPeerTests {
  private let peer: SocketAddress
  private let own: SocketAddress

  init() throws {
    peer = try SocketAddress(ipAddress: "127.0.0.1", port: 0xB0A0)
    own = try SocketAddress(ipAddress: "127.0.0.1", port: 0x1267)
  }

  /// As the user 1000 sees it. `find`: what the kernel answers if it is asked for one socket.
  private func lookup(
    unmapped: uid_t? = nil, user: uid_t = 1000, tables: [String: String] = [:],
    find: @escaping @Sendable (SocketAddress, SocketAddress) -> LoopbackPeer.Entry? = { _, _ in nil }
  ) -> LoopbackPeer {
    var lookup = LoopbackPeer()
    (lookup.user, lookup.unmapped, lookup.find) = (user, unmapped, find)
    lookup.read = { tables[$0] }
    return lookup
  }

  private func sender(
    _ user: uid_t, inode: UInt64 = 4711, as own: uid_t = 1000, unmapped: uid_t? = nil
  ) -> RedirectSender {
    lookup(unmapped: unmapped, user: own) { _, _ in LoopbackPeer.Entry(user: user, inode: inode) }
      .sender(from: peer, to: self.own)
  }

  @Test("this user's and root's connections count, and nobody else's")
  func users() {
    #expect(sender(1000) == .user)
    #expect(sender(0) == .user)
    #expect(sender(1001) == .otherUser)
    #expect(sender(65_534) == .otherUser)
    #expect(sender(65_534, as: 65_534) == .user)
  }

  @Test("a connection that has ended is nobody's, though the kernel says 0 for its user", arguments: [0, 1000, 1001])
  func ended(_ user: uid_t) { #expect(sender(user, inode: 0) == .unknown) }

  @Test("a user without an id in this user namespace may be anybody, even if this user has none either")
  func unmapped() {
    #expect(sender(65_534, unmapped: 65_534) == .unknown)
    #expect(sender(65_534, as: 65_534, unmapped: 65_534) == .unknown)
    #expect(sender(1000, unmapped: 65_534) == .user)
    let everybody = "         0          0 4294967295\n"
    #expect(LoopbackPeer.unmapped(in: everybody, overflow: "65534\n") == nil)
    for map in ["1000 1000 1\n", "0 1000 1\n1 100000 65536\n", "", nil] {
      #expect(LoopbackPeer.unmapped(in: map, overflow: "65533\n") == 65_533, "\(map ?? "none")")
      #expect(LoopbackPeer.unmapped(in: map, overflow: nil) == 65_534)
    }
  }

  @Test("a connection that this namespace does not have is nobody's, whoever is in the tables")
  func elsewhere() {
    #expect(lookup().sender(from: peer, to: own) == .unknown)
    let (end, table) = (own, Self.table("0100007F:B0A0 0100007F:1267", 1000))
    let answering = lookup(tables: table) { source, _ in source == end ? .init(user: 1000, inode: 1) : nil }
    #expect(answering.sender(from: peer, to: own) == .unknown, "the kernel was asked for this one")
  }

  private static func table(_ addresses: String, _ user: uid_t, file: String = "tcp") -> [String: String] {
    let line = "   0: \(addresses) 01 00000000:00000000 00:00000000 00000000  \(user)        0 4711 1 0 20 4 30 10 -1\n"
    let empty = "  sl  local_address rem_address   st\n"
    return ["tcp", "tcp6"].reduce(into: [:]) { $0["/proc/self/net/\($1)"] = $1 == file ? empty + line : empty }
  }

  @Test(
    "if the kernel cannot be asked for one connection, its tables tell",
    arguments: [
      ("127.0.0.1", "0100007F", "0100007F", "tcp"),
      ("127.0.0.1", "0000000000000000FFFF00000100007F", "0000000000000000FFFF00000100007F", "tcp6"),
      ("::ffff:127.0.0.1", "0100007F", "0100007F", "tcp"),
      ("::ffff:127.0.0.1", "0000000000000000FFFF00000100007F", "0000000000000000FFFF00000100007F", "tcp6"),
      ("::1", "00000000000000000000000001000000", "00000000000000000000000001000000", "tcp6"),
    ])
  func tables(_ host: String, _ source: String, _ target: String, _ file: String) throws {
    let peer = try SocketAddress(ipAddress: host, port: 0xB0A0)
    let own = try SocketAddress(ipAddress: host, port: 0x1267)
    func sender(_ user: uid_t, _ addresses: String) -> RedirectSender {
      lookup(tables: Self.table(addresses, user, file: file)).sender(from: peer, to: own)
    }
    let connection = "\(source):B0A0 \(target):1267"
    #expect(sender(1000, connection) == .user)
    #expect(sender(0, connection) == .user)
    #expect(sender(1001, connection) == .otherUser)
    #expect(sender(1000, "\(target):1267 \(source):B0A0") == .unknown, "this end is not the other")
    #expect(sender(1000, "\(source):B0A1 \(target):1267") == .unknown)
  }
}
