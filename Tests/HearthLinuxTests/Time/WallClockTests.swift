import HearthCore
import Testing

@testable import HearthLinux

@Suite("The wall clock over CLOCK_BOOTTIME")
struct WallClockTests {
  private let second: Int64 = 1_000_000_000
  private let start = ClockReading(boot: 50_000_000_000, monotonic: 50_000_000_000, wall: 1_700_000_000_000_000_000)

  private func later(_ seconds: Int64, asleep: Int64 = 0, step: Int64 = 0) -> ClockReading {
    ClockReading(
      boot: start.boot + seconds * second, monotonic: start.monotonic + (seconds - asleep) * second,
      wall: start.wall + (seconds + step) * second)
  }

  @Test("tells nothing while the clocks run alike")
  func quiet() {
    var clock = WallClock(start)
    #expect(clock.observe(later(3600)) == nil)
    #expect(clock.timestamp(atBoot: start.boot + second) == Timestamp(seconds: 1_700_000_001))
  }

  @Test("tells a step either way and goes on from there", arguments: [Int64(3600), -3600])
  func step(by seconds: Int64) {
    var clock = WallClock(start)
    #expect(clock.observe(later(10, step: seconds)) == .seconds(seconds))
    #expect(clock.timestamp(atBoot: start.boot + 10 * second) == Timestamp(seconds: 1_700_000_010 + seconds))
    #expect(clock.observe(later(20, step: seconds)) == nil)
  }

  @Test("tells a resume as a step of zero, once")
  func resume() {
    var clock = WallClock(start)
    #expect(clock.observe(later(7200, asleep: 7100)) == .zero)
    #expect(clock.observe(later(7300, asleep: 7100)) == nil)
    #expect(clock.timestamp(atBoot: start.boot + 7200 * second) == Timestamp(seconds: 1_700_007_200))
  }

  @Test("keeps small steps back until they add up to 100 ms")
  func smallSteps() {
    var clock = WallClock(start)
    var reading = start
    reading.wall += 60_000_000
    #expect(clock.observe(reading) == nil)
    #expect(clock.timestamp(atBoot: start.boot) == Timestamp(seconds: 1_700_000_000))
    reading.wall += 60_000_000
    #expect(clock.observe(reading) == .milliseconds(120))
    #expect(clock.timestamp(atBoot: start.boot) == Timestamp(milliseconds: 1_700_000_000_120))
  }

  @Test("a deadline is the first nanosecond of its millisecond, and one beyond all counting stays the furthest")
  func deadlines() {
    let clock = WallClock(start)
    let deadline = Timestamp(milliseconds: 1_700_000_000_250)
    #expect(clock.boot(at: deadline) == start.boot + 250_000_000)
    #expect(clock.timestamp(atBoot: clock.boot(at: deadline)) == deadline)
    #expect(clock.timestamp(atBoot: clock.boot(at: deadline) - 1) < deadline)
    #expect(clock.boot(at: .distantFuture) == .max)
  }
}
