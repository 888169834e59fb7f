import Glibc

/// Wakes a thread that waits for a socket: what another has to say to it is in memory, and this tells it to look. Or it
/// watches what the kernel has to say, and then goes on waking.
package final class Waker: Sendable {
  /// Becomes readable when the thread is to look.
  let descriptor: Int32
  private let other: Int32

  /// Where the process has no descriptors left, nothing wakes the thread before its time is up.
  package init() {
    var ends: [Int32] = [-1, -1]
    _ = socketpair(
      AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0, &ends)
    (descriptor, other) = (ends[0], ends[1])
  }

  /// Wakes as soon as this descriptor, which it closes in the end, is readable.
  package init(watching descriptor: Int32) { (self.descriptor, other) = (descriptor, -1) }

  /// Whether the thread is to look now.
  package var isWoken: Bool {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&entry, 1, 0) > 0
  }

  deinit {
    for end in [descriptor, other] where end >= 0 { close(end) }
  }

  package func wake() {
    // Where there is no room for it, the thread has been woken already.
    var byte: UInt8 = 0
    _ = send(other, &byte, 1, Int32(MSG_NOSIGNAL))
  }

  /// From here on it takes another `wake` to wake it.
  func rest() {
    var bytes: [UInt8] = Array(repeating: 0, count: 64)
    while read(descriptor, &bytes, bytes.count) > 0 {}
  }

  /// Waits until somebody wakes it or the time is up.
  package func sleep(until deadline: ContinuousClock.Instant) {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    if poll(&entry, 1, UnixSocket.milliseconds(until: deadline)) > 0 { rest() }
  }
}
