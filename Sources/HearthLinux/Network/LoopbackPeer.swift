import CLinux
import Glibc
import NIOCore

/// Tells whose process is at the other end of a TCP connection within this machine. The kernel is asked for this
/// connection; one that answers no such questions has tables of all sockets (proc(5), /proc/net/tcp), which take long to
/// read if somebody has many.
enum LoopbackPeer {
  struct Entry {
    let user: uid_t
    /// It is 0 if no process has the socket open any more.
    let inode: UInt64

    func isOpen(by user: uid_t) -> Bool { self.user == user && inode != 0 }
  }

  /// Tells whether it is a process of this user. One that has closed the connection already is nobody's. If the kernel
  /// shows nothing, everybody passes. It may take long.
  static func isOfThisUser(from peer: SocketAddress, to own: SocketAddress, user: uid_t = geteuid()) -> Bool {
    if let entry = entry(from: peer, to: own) { return entry.isOpen(by: user) }
    // This end is there: the kernel answers such questions.
    if entry(from: own, to: peer) != nil { return false }
    var areShown = false
    for table in ["/proc/self/net/tcp", "/proc/self/net/tcp6"] {
      guard let text = read(table) else { continue }
      areShown = true
      guard let entry = entry(from: names(peer), to: names(own), in: text) else { continue }
      return entry.isOpen(by: user)
    }
    return !areShown
  }

  /// The socket that is connected from one address to the other, as the kernel knows it; nil if it knows none, or cannot
  /// be asked.
  static func entry(from source: SocketAddress, to target: SocketAddress) -> Entry? {
    var (user, inode): (UInt32, UInt32) = (0, 0)
    let result = source.withSockAddr { source, _ in
      target.withSockAddr { target, _ in hearth_find_tcp_socket(source, target, &user, &inode) }
    }
    return result == 0 ? Entry(user: user, inode: UInt64(inode)) : nil
  }

  /// The socket that is connected from one of the addresses to one of the others: fields 2, 3, 8 and 10 of its line.
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

  /// An address as the tables have it: words of 32 bits in this machine's byte order, and the port. A socket of IPv6 may be
  /// connected to an address of IPv4 (RFC 4291, section 2.5.5.2).
  private static func names(_ address: SocketAddress) -> [String] {
    guard let text = address.ipAddress, let port = address.port.map({ hexadecimal(UInt32($0), digits: 4) }) else {
      return []
    }
    func words(_ family: Int32, _ count: Int) -> [String]? {
      var words = [UInt32](repeating: 0, count: count)
      return inet_pton(family, text, &words) == 1 ? words.map { hexadecimal($0) } : nil
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
