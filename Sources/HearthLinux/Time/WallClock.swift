import HearthCore

/// The wall clock as an offset from CLOCK_BOOTTIME. The offset changes only with a reported step.
struct WallClock {
  /// The smallest step to report. Smaller steps add up first, so that they do not cause constant replanning.
  static let smallestStep: Duration = .milliseconds(100)

  private(set) var offset: Int64
  private var timeAsleep: Int64

  init(_ reading: ClockReading) {
    offset = reading.wall - reading.boot
    timeAsleep = reading.boot - reading.monotonic
  }

  /// Compares a new reading with the last one. Returns the size of the wall clock's step, zero if the machine only
  /// slept, or `nil` if nothing happened.
  mutating func observe(_ reading: ClockReading) -> Duration? {
    let step = Duration.nanoseconds(reading.wall - reading.boot - offset)
    let slept = Duration.nanoseconds(reading.boot - reading.monotonic - timeAsleep)
    timeAsleep = reading.boot - reading.monotonic
    if step >= WallClock.smallestStep || step <= .zero - WallClock.smallestStep {
      offset = reading.wall - reading.boot
      return step
    }
    return slept >= .milliseconds(10) ? .zero : nil
  }

  func timestamp(atBoot boot: Int64) -> Timestamp {
    let (quotient, remainder) = (boot + offset).quotientAndRemainder(dividingBy: 1_000_000)
    return Timestamp(milliseconds: remainder < 0 ? quotient - 1 : quotient)
  }

  /// Converts a deadline to CLOCK_BOOTTIME, clamped to the range of that clock.
  func boot(at deadline: Timestamp) -> Int64 {
    let (nanoseconds, overflow) = deadline.milliseconds.multipliedReportingOverflow(by: 1_000_000)
    if overflow { return deadline.milliseconds < 0 ? .min : .max }
    let (boot, bootOverflow) = nanoseconds.subtractingReportingOverflow(offset)
    return bootOverflow ? (offset < 0 ? .max : .min) : boot
  }
}
