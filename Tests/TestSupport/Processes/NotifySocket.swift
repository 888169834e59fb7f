package import Glibc

/// Unix sockets for tests, which are removed with their folder.
package enum UnixSocket {
  package static func address(_ path: String) -> sockaddr_un {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    return address
  }

  package static func bound(_ type: __socket_type, at path: String) -> Int32? {
    let descriptor = socket(AF_UNIX, Int32(type.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = address(path)
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    return result == 0 ? descriptor : nil
  }

  package static func listening() -> Int32? {
    let folder = TemporaryFolder()
    guard let descriptor = bound(SOCK_STREAM, at: "\(folder.path)/rpc.sock"), listen(descriptor, 1) == 0 else {
      return nil
    }
    return descriptor
  }
}

/// The datagram socket of a service manager.
package final class NotifySocket {
  package let path: String
  private let folder = TemporaryFolder()
  private let descriptor: Int32

  package init?() {
    path = "\(folder.path)/notify"
    guard let descriptor = UnixSocket.bound(SOCK_DGRAM, at: path) else { return nil }
    self.descriptor = descriptor
    // The daemon may run as another user.
    chmod(folder.path, 0o755)
    chmod(path, 0o666)
  }

  deinit { close(descriptor) }

  /// The next message, or nil if none arrives.
  package func next() -> String? {
    var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&waiting, 1, Int32(Duration.generous / .milliseconds(1))) == 1 ? receive() : nil
  }

  /// The oldest message that has not been received, or nil if there is none.
  package func receive() -> String? {
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
    return count < 0 ? nil : String(decoding: bytes.prefix(count), as: UTF8.self)
  }

  /// Fills the buffer, so that nobody can send anything until something is received.
  package func fill() {
    let sender = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    defer { close(sender) }
    var address = UnixSocket.address(path)
    withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        while sendto(sender, "x", 1, Int32(MSG_DONTWAIT), $0, socklen_t(MemoryLayout<sockaddr_un>.size)) > 0 {}
      }
    }
  }
}
