import CLinux
import Glibc
import HearthCore
import NIOCore

/// Finds out which user opened a TCP connection within this network namespace, by asking the kernel. If the kernel does
/// not support such queries, reads its tables of all sockets (proc(5), /proc/net/tcp), which is slow if there are many
/// sockets.
struct LoopbackPeer: Sendable {
  struct Entry {
    let user: uid_t
    /// The socket's inode, or 0 if no process has the socket open, which makes `user` meaningless.
    let inode: UInt64
  }

  /// The user whose connections are reported as `.user`, as are those of root.
  var user = geteuid()
  /// The user ID that the kernel reports for users without a mapping in this user namespace, or `nil` if all users have
  /// a mapping.
  var unmapped = Self.unmapped(in: Self.read("/proc/self/uid_map"), overflow: Self.read("/proc/sys/kernel/overflowuid"))
  var find: @Sendable (_ source: SocketAddress, _ target: SocketAddress) -> Entry? = Self.entry
  var read: @Sendable (_ path: String) -> String? = Self.read

  /// Returns who opened the connection. Can take a long time.
  func sender(from peer: SocketAddress, to own: SocketAddress) -> RedirectSender {
    guard let entry = entry(from: peer, to: own), entry.inode != 0, entry.user != unmapped else { return .unknown }
    return [user, 0].contains(entry.user) ? .user : .otherUser
  }

  private func entry(from peer: SocketAddress, to own: SocketAddress) -> Entry? {
    if let entry = find(peer, own) { return entry }
    // The kernel found this end of the connection, so it supports such queries and the other socket does not exist.
    if find(own, peer) != nil { return nil }
    return ["/proc/self/net/tcp", "/proc/self/net/tcp6"].lazy.compactMap(read)
      .compactMap { Self.entry(from: Self.names(peer), to: Self.names(own), in: $0) }.first
  }

  /// Returns the user ID that the kernel reports for users without a mapping in this user namespace
  /// (user_namespaces(7), "Unmapped user and group IDs"), or `nil` if `map` covers every user.
  static func unmapped(in map: String?, overflow: String?) -> uid_t? {
    let fields = map?.split(whereSeparator: \.isWhitespace)
    return fields == ["0", "0", "4294967295"] ? nil : overflow.flatMap { uid_t($0.prefix { $0.isNumber }) } ?? 65_534
  }

  /// Returns the socket connected from `source` to `target`, or `nil` if the kernel finds none or rejects the query.
  static func entry(from source: SocketAddress, to target: SocketAddress) -> Entry? {
    var (user, inode): (UInt32, UInt32) = (0, 0)
    let result = source.withSockAddr { source, _ in
      target.withSockAddr { target, _ in hearth_find_tcp_socket(source, target, &user, &inode) }
    }
    return result == 0 ? Entry(user: user, inode: UInt64(inode)) : nil
  }

  /// Finds the socket connected from one of `sources` to one of `targets`. In each line, fields 2 and 3 are the
  /// addresses, field 8 is the user and field 10 is the inode.
  private static func entry(from sources: [String], to targets: [String], in table: String) -> Entry? {
    for line in table.split(separator: "\n") where sources.contains(where: line.contains) {
      let fields = line.split(separator: " ", maxSplits: 10)
      guard fields.count > 9, sources.contains(String(fields[1])), targets.contains(String(fields[2])),
        let user = uid_t(fields[7]), let inode = UInt64(fields[9])
      else { continue }
      return Entry(user: user, inode: inode)
    }
    return nil
  }

  /// Returns the spellings of an address in /proc/net/tcp and tcp6: 32-bit words in host byte order, followed by the
  /// port. An IPv4 address has two spellings, because an IPv6 socket can be connected to it (RFC 4291, section
  /// 2.5.5.2).
  private static func names(_ address: SocketAddress) -> [String] {
    guard let text = address.ipAddress?.trimmingPrefix("::ffff:"),
      let port = address.port.map({ hexadecimal(UInt32($0), digits: 4) })
    else { return [] }
    func words(_ family: Int32, _ count: Int) -> [String]? {
      var words = [UInt32](repeating: 0, count: count)
      return inet_pton(family, String(text), &words) == 1 ? words.map { hexadecimal($0) } : nil
    }
    if let four = words(AF_INET, 1)?.joined() {
      let prefix = hexadecimal(0) + hexadecimal(0) + hexadecimal(UInt32(0xFFFF).bigEndian)
      return ["\(four):\(port)", "\(prefix)\(four):\(port)"]
    }
    return words(AF_INET6, 4).map { ["\($0.joined()):\(port)"] } ?? []
  }

  private static func hexadecimal(_ number: UInt32, digits: Int = 8) -> String {
    let text = String(number, radix: 16, uppercase: true)
    return String(repeating: "0", count: digits - text.count) + text
  }

  private static func read(_ path: String) -> String? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    return String(decoding: (try? readAll(descriptor)) ?? [], as: UTF8.self)
  }
}
