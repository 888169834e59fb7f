import CLinux
import Glibc
import HearthCore
import Synchronization

@testable import HearthLinux

/// The kernel's clocks with a wall clock that a test may set.
final class SettableWallClock: Sendable {
  private let shift = Mutex<Int64>(0)
  /// Readable when the wall clock was set, as the kernel's own timer is.
  private let changes = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))

  func clock() throws -> SystemClock {
    try SystemClock(changes: changes) { [self] in
      var reading = ClockReading.current()
      reading.wall += shift.withLock(\.self)
      return reading
    }
  }

  /// The clock is set, and nobody has seen it yet.
  func set(by step: Duration) { shift.withLock { $0 += step.wholeMilliseconds * 1_000_000 } }

  func tell() { eventfd_write(changes, 1) }

  func step(by step: Duration) {
    set(by: step)
    tell()
  }
}
