import CLinux
import Glibc
import HearthCore
import Synchronization
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

  @Test("a sleep ends at its deadline and not before")
  func sleep() async throws {
    let clock = try SystemClock()
    let deadline = clock.now() + .milliseconds(20)
    await clock.sleep(until: deadline)
    #expect(clock.now() >= deadline)
  }

  @Test("a deadline that has passed returns at once")
  func past() async throws {
    let clock = try SystemClock()
    await clock.sleep(until: clock.now())
    await clock.sleep(until: Timestamp(milliseconds: 0))
  }

  @Test("each sleeper wakes at its own deadline, whoever lay down first")
  func severalSleepers() async throws {
    let clock = try SystemClock()
    let start = clock.now()
    let woken = await withTaskGroup(of: Int64.self) { group in
      for delay in [60, 20, 40] as [Int64] {
        group.addTask {
          await clock.sleep(until: start + .milliseconds(delay))
          return (clock.now() - start).wholeMilliseconds >= delay ? delay : -1
        }
      }
      return await group.reduce(into: Set<Int64>()) { $0.insert($1) }
    }
    #expect(woken == [20, 40, 60])
  }

  @Test("cancellation ends a sleep early, before it began too")
  func cancellation() async throws {
    let clock = try SystemClock()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<100 {
        group.addTask { await clock.sleep(until: .distantFuture) }
      }
      group.cancelAll()
    }
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

  @Test("a set clock is told to everyone who asked, and the time follows it")
  func step() async throws {
    let shift = Mutex<Int64>(0)
    let changes = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
    let timers = try TimerThread(changes: changes) {
      var reading = ClockReading.current()
      reading.wall += shift.withLock { $0 }
      return reading
    }
    let clock = SystemClock(timers: timers)
    var streams = [clock.steps(), clock.steps()].map { $0.makeAsyncIterator() }
    let before = clock.now()
    shift.withLock { $0 = 3_600_000_000_000 }
    #expect(clock.now() - before < .seconds(1800))
    eventfd_write(changes, 1)
    for index in streams.indices {
      let step = try #require(await streams[index].next())
      #expect((step - .seconds(3600)).wholeMilliseconds.magnitude < 100)
    }
    #expect(clock.now() - before >= .seconds(3600) - .milliseconds(100))
  }
}
