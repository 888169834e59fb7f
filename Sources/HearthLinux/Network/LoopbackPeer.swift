import Glibc
import NIOCore

/// Whose the process at the other end of a TCP connection within this machine is, by the kernel's tables of sockets
/// (proc(5), /proc/net/tcp).
enum LoopbackPeer {
  private struct Entry {
    let user: uid_t
    /// 0 where no process has the socket open any more.
    let inode: UInt64
  }

  /// Whether it is a process of this user. One that has closed the connection already is nobody's. Where the kernel shows
  /// no tables, everybody passes.
  static func isOfThisUser(_ channel: any Channel, user: uid_t = geteuid()) -> Bool {
    guard let peer = channel.remoteAddress, let own = channel.localAddress else { return false }
    var areShown = false
    for table in ["/proc/self/net/tcp", "/proc/self/net/tcp6"] {
      guard let text = read(table) else { continue }
      areShown = true
      guard let entry = entry(from: names(peer), to: names(own), in: text) else { continue }
      return entry.user == user && entry.inode != 0
    }
    return !areShown
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
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = Glibc.read(descriptor, &chunk, chunk.count)
      if count > 0 { bytes += chunk[..<count] } else if count == 0 || errno != EINTR { break }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
