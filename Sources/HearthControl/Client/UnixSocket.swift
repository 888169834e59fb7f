import Glibc

/// A connected Unix stream socket, closed with its last owner. Calls block up to their deadline.
struct UnixSocket: ~Copyable {
  enum Failure: Error {
    case closed
    case timedOut
    /// The other end runs under this user id.
    case foreign(uid_t)
    case system(Int32)
  }

  /// In bytes. Most answers fit; what is not needed is wiped all the same when it is freed, page by page.
  private static let readSize = 8192

  private let descriptor: Int32

  /// Connects; the path fits (`SocketPath.check`). `limit`: how long a server's queue may stay full, which then is
  /// `timedOut`.
  init(path: String, within limit: Duration) throws(Failure) {
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw .system(errno) }
    let (seconds, attoseconds) = limit.components
    // No time at all would mean to wait for ever (socket(7)).
    var patience = timeval(tv_sec: Int(seconds), tv_usec: max(Int(attoseconds / 1_000_000_000_000), 1))
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    guard SocketPath.withAddress(of: path, { connect(descriptor, $0, $1) }) == 0 else {
      throw errno == EAGAIN ? .timedOut : .system(errno)
    }
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }

  /// Throws where the process at the other end runs under another user id.
  func requirePeer(_ expected: uid_t) throws(Failure) {
    var peer = PeerCredentials(process: 0, user: 0, group: 0)
    var size = socklen_t(MemoryLayout<PeerCredentials>.size)
    guard getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 else { throw .system(errno) }
    guard peer.user == expected else { throw .foreign(peer.user) }
  }

  func write(_ bytes: [UInt8], until deadline: ContinuousClock.Instant?) throws(Failure) {
    var written = 0
    while written < bytes.count {
      try wait(for: Int16(POLLOUT), until: deadline)
      let count = bytes.withUnsafeBytes {
        send(
          descriptor, $0.baseAddress! + written, bytes.count - written,
          Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
      }
      if count >= 0 {
        written += count
      } else if errno != EAGAIN, errno != EINTR {
        throw errno == EPIPE || errno == ECONNRESET ? .closed : .system(errno)
      }
    }
  }

  /// Some bytes, at least one.
  func read(until deadline: ContinuousClock.Instant?) throws(Failure) -> [UInt8] {
    while true {
      try wait(for: Int16(POLLIN), until: deadline)
      var failure: Int32 = 0
      let bytes = [UInt8](unsafeUninitializedCapacity: Self.readSize) { buffer, count in
        let result = recv(descriptor, buffer.baseAddress, buffer.count, 0)
        failure = result < 0 ? errno : 0
        count = max(result, 0)
      }
      if failure == EINTR || failure == EAGAIN { continue }
      guard failure == 0 else { throw failure == ECONNRESET ? .closed : .system(failure) }
      guard !bytes.isEmpty else { throw .closed }
      return bytes
    }
  }

  /// No deadline: waits as long as it takes.
  private func wait(for events: Int16, until deadline: ContinuousClock.Instant?) throws(Failure) {
    while true {
      var timeout: Int32 = -1
      if let deadline {
        let left = deadline - .now
        guard left > .zero else { throw .timedOut }
        let (seconds, attoseconds) = left.components
        timeout = Int32(min(seconds, 1_000_000) * 1000 + attoseconds / 1_000_000_000_000_000 + 1)
      }
      var entry = pollfd(fd: descriptor, events: events, revents: 0)
      let ready = poll(&entry, 1, timeout)
      if ready > 0 { return }
      if ready < 0, errno != EINTR { throw .system(errno) }
    }
  }
}
