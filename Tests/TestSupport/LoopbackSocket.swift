import Glibc

/// A TCP socket at a free port of 127.0.0.1. Nobody closes it by itself.
package struct LoopbackSocket {
  package let descriptor: Int32
  package let port: Int

  /// It listens if it has a backlog. If it is reusable, a server that sets SO_REUSEADDR can have its port, too
  /// (socket(7)).
  package init(isReusable: Bool = false, backlog: Int32? = nil) throws {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw CallFailure("socket") }
    if isReusable {
      var yes: Int32 = 1
      setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
    }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, size) == 0 && backlog.map { listen(descriptor, $0) == 0 } ?? true
          && getsockname(descriptor, $0, &size) == 0
      }
    }
    guard isBound else { throw CallFailure("bind") }
    self.descriptor = descriptor
    port = Int(in_port_t(bigEndian: address.sin_port))
  }
}
