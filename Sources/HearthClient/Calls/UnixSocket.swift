import Glibc
import HearthControl

/// A time limit that has begun to run.
struct Deadline: Sendable {
  let limit: Duration
  let end: ContinuousClock.Instant

  init(after limit: Duration) { (self.limit, end) = (limit, .now + limit) }
}

/// A connected Unix stream socket, closed when it goes out of scope. Operations block at most until their deadline.
struct UnixSocket: ~Copyable {
  private typealias Failure = ControlClient.Failure

  /// The size of each read in bytes, enough for most answers. A larger buffer would take longer to wipe.
  private static let readSize = 8192

  private let path: String
  private let descriptor: Int32
  private let waker: Waker?

  /// Connects to a path that `SocketPath.check` accepts. Throws `timedOut` if the server's queue stays full for
  /// `limit`. `waker` interrupts later reads.
  init(path: String, within limit: Duration, waker: Waker?) throws {
    (self.path, self.waker) = (path, waker)
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else {
      // These errors mean that a sandbox, such as a seccomp filter, forbids Unix sockets. systemd's
      // RestrictAddressFamilies= causes EAFNOSUPPORT.
      throw [EPERM, EACCES, EAFNOSUPPORT].contains(errno)
        ? Failure.forbidden(reason: String(cString: strerror(errno))) : unreachable()
    }
    let (seconds, attoseconds) = limit.components
    // Set at least one microsecond, because a timeout of zero would wait forever (socket(7)).
    var timeout = timeval(tv_sec: Int(seconds), tv_usec: max(Int(attoseconds / 1_000_000_000_000), 1))
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    guard SocketPath.withAddress(of: path, { connect(descriptor, $0, $1) }) == 0 else {
      switch errno {
      case EAGAIN: throw Failure.timedOut(after: limit)
      case ENOENT, ECONNREFUSED: throw Failure.noDaemon(path: path)
      default: throw unreachable()
      }
    }
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }

  func requirePeer(_ expected: uid_t) throws {
    var peer = PeerCredentials(process: 0, user: 0, group: 0)
    var size = socklen_t(MemoryLayout<PeerCredentials>.size)
    guard getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 else { throw unreachable() }
    guard peer.user == expected else { throw Failure.foreignServer(path: path, user: peer.user) }
  }

  private func unreachable(_ code: Int32 = errno) -> Failure {
    .unreachable(path: path, reason: String(cString: strerror(code)))
  }

  /// Sends all bytes. Meanwhile, passes incoming bytes to `framer`, because both sides would wait forever if neither
  /// read while the other was writing. Returns the number of bytes sent. If that is less than all bytes, the server has
  /// closed the connection.
  func write(_ bytes: [UInt8], until deadline: Deadline?, reading framer: inout LineFramer) throws -> Int {
    var written = 0
    do {
      while written < bytes.count {
        let ready = try wait(for: Int16(POLLIN) | Int16(POLLOUT), until: deadline)
        if ready & Int16(POLLIN) != 0 { framer.push(try received()) }
        guard ready & ~Int16(POLLIN) != 0 else { continue }
        let count = bytes.withUnsafeBytes {
          send(
            descriptor, $0.baseAddress! + written, bytes.count - written,
            Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
        }
        if count >= 0 {
          written += count
        } else if errno != EAGAIN, errno != EINTR {
          throw errno == EPIPE || errno == ECONNRESET ? Failure.disconnected : unreachable()
        }
      }
    } catch Failure.disconnected {}
    return written
  }

  func read(until deadline: Deadline?) throws -> [UInt8] {
    while true {
      _ = try wait(for: Int16(POLLIN), until: deadline)
      let bytes = try received()
      if !bytes.isEmpty { return bytes }
    }
  }

  /// Returns the bytes that have already arrived, if any.
  private func received() throws -> [UInt8] {
    var failure: Int32 = 0
    var isOver = false
    let bytes = [UInt8](unsafeUninitializedCapacity: Self.readSize) { buffer, count in
      let result = recv(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
      failure = result < 0 ? errno : 0
      isOver = result == 0
      count = max(result, 0)
    }
    switch failure {
    case 0 where isOver: throw Failure.disconnected
    case 0, EINTR, EAGAIN: return bytes
    case ECONNRESET: throw Failure.disconnected
    default: throw unreachable(failure)
    }
  }

  /// Waits until the socket is ready for one of `events`, indefinitely if `deadline` is `nil`.
  private func wait(for events: Int16, until deadline: Deadline?) throws -> Int16 {
    while true {
      var entries = (
        pollfd(fd: descriptor, events: events, revents: 0), pollfd(fd: -1, events: Int16(POLLIN), revents: 0)
      )
      if let waker, events == Int16(POLLIN) { entries.1.fd = waker.descriptor }
      if let deadline, deadline.end <= .now { throw Failure.timedOut(after: deadline.limit) }
      let timeout = deadline.map { Self.milliseconds(until: $0.end) } ?? -1
      let ready = withUnsafeMutablePointer(to: &entries) { pointer in
        pointer.withMemoryRebound(to: pollfd.self, capacity: 2) { poll($0, 2, timeout) }
      }
      if entries.0.revents != 0 { return entries.0.revents }
      if ready > 0, let waker {
        waker.rest()
        throw Failure.interrupted
      }
      if ready < 0, errno != EINTR { throw unreachable() }
    }
  }

  /// Converts a deadline to a timeout for poll(2), rounded up and never negative.
  static func milliseconds(until deadline: ContinuousClock.Instant) -> Int32 {
    let (seconds, attoseconds) = Swift.max(deadline - .now, .zero).components
    return Int32(min(seconds, 1_000_000) * 1000 + attoseconds / 1_000_000_000_000_000 + 1)
  }
}
