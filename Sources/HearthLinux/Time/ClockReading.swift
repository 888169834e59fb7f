import Glibc

/// The kernel's three clocks at one moment, in nanoseconds.
struct ClockReading {
  /// CLOCK_BOOTTIME: counts through sleep, is never set.
  var boot: Int64
  /// CLOCK_MONOTONIC: stands still while the machine sleeps.
  var monotonic: Int64
  /// CLOCK_REALTIME: what people and servers call the time; may be set.
  var wall: Int64

  /// Of a few attempts the one that took least: being put off between two clocks would look like a step.
  static func current() -> ClockReading {
    func attempt() -> (reading: ClockReading, window: Int64) {
      let boot = nanoseconds(CLOCK_BOOTTIME)
      let reading = ClockReading(
        boot: boot, monotonic: nanoseconds(CLOCK_MONOTONIC), wall: nanoseconds(CLOCK_REALTIME))
      return (reading, nanoseconds(CLOCK_BOOTTIME) - boot)
    }
    var best = attempt()
    for _ in 0..<4 {
      let next = attempt()
      if next.window < best.window { best = next }
    }
    return best.reading
  }

  static func nanoseconds(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}
