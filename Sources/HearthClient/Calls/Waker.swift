import Glibc

/// Wakes a thread that waits for a socket, so that it looks at what another thread left in memory. It can instead watch
/// a file descriptor; then it stays awake for as long as that is readable.
package final class Waker: Sendable {
  /// Becomes readable when the thread should look.
  let descriptor: Int32
  private let other: Int32

  /// If the process has no descriptors left, the thread only wakes up when its time is up.
  package init() {
    var ends: [Int32] = [-1, -1]
    _ = socketpair(
      AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0, &ends)
    (descriptor, other) = (ends[0], ends[1])
  }

  /// Wakes as soon as this descriptor is readable. Closes the descriptor at the end.
  package init(watching descriptor: Int32) { (self.descriptor, other) = (descriptor, -1) }

  /// Whether the thread should look now.
  package var isWoken: Bool {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&entry, 1, 0) > 0
  }

  deinit {
    for end in [descriptor, other] where end >= 0 { close(end) }
  }

  package func wake() {
    // If the buffer is full, the thread has already been woken.
    var byte: UInt8 = 0
    _ = send(other, &byte, 1, Int32(MSG_NOSIGNAL))
  }

  /// Clears earlier calls of `wake`.
  func rest() {
    var bytes: [UInt8] = Array(repeating: 0, count: 64)
    while read(descriptor, &bytes, bytes.count) > 0 {}
  }

  /// Waits until woken, or until the deadline.
  package func sleep(until deadline: ContinuousClock.Instant) {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    if poll(&entry, 1, UnixSocket.milliseconds(until: deadline)) > 0 { rest() }
  }
}
