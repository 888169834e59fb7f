package import Glibc

/// Finds the daemon's socket for a client and checks the path.
package enum SocketPath {
  package enum Failure: Error, Hashable, Sendable, CustomStringConvertible {
    /// Neither `--socket` nor an environment variable specifies the path.
    case unknown
    case tooLong(String)

    package var description: String {
      switch self {
      case .unknown:
        "The path of the daemon's socket is unknown, because XDG_RUNTIME_DIR is not set to an absolute path. "
          + "Use --socket or set HEARTH_SOCKET."
      case .tooLong(let path):
        "The socket path \(path) is longer than \(SocketPath.maximumBytes) bytes, the limit for Unix sockets. Choose a "
          + "shorter path with --socket or HEARTH_SOCKET."
      }
    }
  }

  /// The longest path that fits in `sockaddr_un` (unix(7)), without the terminating zero.
  package static let maximumBytes = 107

  /// Returns the path from `--socket`, or from the environment if the option is missing.
  package static func resolve(option: String?, else paths: EnvironmentPaths) throws(Failure) -> String {
    guard let path = option ?? paths.socket else { throw .unknown }
    try check(path)
    return path
  }

  /// Throws if a path is too long for a Unix socket.
  package static func check(_ path: String) throws(Failure) {
    guard path.utf8.count <= maximumBytes else { throw .tooLong(path) }
  }

  /// Passes the address of a socket to a system call. The path must have passed `check`.
  package static func withAddress(of path: String, _ call: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(maximumBytes)) }
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { call($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
    }
  }
}

/// The credentials of the process at the other end of a Unix socket: `struct ucred` from SO_PEERCRED (unix(7)). Client
/// and server accept only processes of their own user.
///
/// A client sees the credentials of the process that called listen(2), which may be systemd instead of the daemon.
package struct PeerCredentials: Sendable, CustomStringConvertible {
  package let process: pid_t
  package let user: uid_t
  package let group: gid_t

  package init(process: pid_t, user: uid_t, group: gid_t) {
    (self.process, self.user, self.group) = (process, user, group)
  }

  package var description: String { "user \(user) (pid \(process))" }
}
