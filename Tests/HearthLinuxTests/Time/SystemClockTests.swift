import Glibc
import HearthCore
import Testing

@testable import HearthLinux

@Suite("The system's clock", .timeLimit(.minutes(1)))
struct SystemClockTests {
  @Test("says the time of CLOCK_REALTIME")
  func now() throws {
    let clock = try SystemClock()
    let before = ClockReading.nanoseconds(CLOCK_REALTIME) / 1_000_000
    let now = clock.now().milliseconds
    let after = ClockReading.nanoseconds(CLOCK_REALTIME) / 1_000_000
    #expect((before - 100...after + 100).contains(now))
  }

  @Test("stopping wakes those who sleep, ends the streams of steps, and leaves nothing to wait for")
  func stop() async throws {
    let clock = try SystemClock()
    let steps = clock.steps()
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await clock.sleep(until: .distantFuture) }
      group.addTask { for await _ in steps {} }
      clock.stop()
    }
    await clock.sleep(until: .distantFuture)
    for await _ in clock.steps() {}
  }

  @Test("a set clock is not believed before the kernel tells of it, so that nothing jumps between two looks")
  func step() async throws {
    let wall = SettableWallClock()
    let clock = try wall.clock()
    defer { clock.stop() }
    var steps = clock.steps().makeAsyncIterator()
    let before = clock.now()
    wall.set(by: .seconds(3600))
    #expect(clock.now() - before < .seconds(1800))
    wall.tell()
    _ = await steps.next()
    #expect(clock.now() - before >= .seconds(3600) - .milliseconds(100))
  }
}
