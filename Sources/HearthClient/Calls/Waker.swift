import Glibc

/// Wakes a thread that is waiting for a socket. A waker from `init()` wakes the thread when `wake` is called. A waker
/// from `init(watching:)` wakes the thread when a file descriptor becomes readable.
package final class Waker: Sendable {
  /// The file descriptor to poll. It is readable when the thread should wake up.
  let descriptor: Int32
  private let other: Int32

  /// Creates a waker. If the process has run out of file descriptors, `wake` has no effect.
  package init() {
    var ends: [Int32] = [-1, -1]
    _ = socketpair(
      AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0, &ends)
    (descriptor, other) = (ends[0], ends[1])
  }

  /// Creates a waker that wakes the thread when `descriptor` becomes readable. Takes ownership of `descriptor`.
  package init(watching descriptor: Int32) { (self.descriptor, other) = (descriptor, -1) }

  package var isWoken: Bool {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&entry, 1, 0) > 0
  }

  deinit {
    for end in [descriptor, other] where end >= 0 { close(end) }
  }

  package func wake() {
    // Ignore errors. If the buffer is full, the thread has already been woken.
    var byte: UInt8 = 0
    _ = send(other, &byte, 1, Int32(MSG_NOSIGNAL))
  }

  /// Discards earlier calls to `wake`.
  func rest() {
    var bytes: [UInt8] = Array(repeating: 0, count: 64)
    while read(descriptor, &bytes, bytes.count) > 0 {}
  }

  package func sleep(until deadline: ContinuousClock.Instant) {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    if poll(&entry, 1, UnixSocket.milliseconds(until: deadline)) > 0 { rest() }
  }
}
