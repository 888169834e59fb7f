import Glibc

/// Three of the kernel's clocks, read at about the same time, in nanoseconds.
struct ClockReading {
  /// CLOCK_BOOTTIME, which advances while the machine sleeps and cannot be set.
  var boot: Int64
  /// CLOCK_MONOTONIC, which stops while the machine sleeps.
  var monotonic: Int64
  /// CLOCK_REALTIME, the time of day, which can be set.
  var wall: Int64

  /// Returns the fastest of five readings, because an interruption between two clocks would look like a clock step.
  static func current() -> ClockReading {
    func attempt() -> (reading: ClockReading, window: Int64) {
      let boot = nanoseconds(CLOCK_BOOTTIME)
      let reading = ClockReading(boot: boot, monotonic: nanoseconds(CLOCK_MONOTONIC), wall: nanoseconds(CLOCK_REALTIME))
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
