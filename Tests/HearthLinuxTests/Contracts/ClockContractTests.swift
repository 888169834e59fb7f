import HearthCore
import TestSupport
import Testing

@testable import HearthLinux

@Suite("The contract of Clock", .timeLimit(.minutes(1)))
struct ClockContractTests {
  static let implementations = [
    Implementation<ClockBench>("SystemClock") { check in
      let wall = SettableWallClock()
      let clock = try wall.clock()
      defer { clock.stop() }
      try await check(
        ClockBench(clock, pass: { _ in }) { step in
          var steps = clock.steps().makeAsyncIterator()
          wall.step(by: step)
          _ = await steps.next()
        })
    },
    Implementation<ClockBench>("ManualClock") { check in
      let clock = ManualClock()
      try await check(bench(clock, clock))
    },
    Implementation<ClockBench>("WatchedClock") { check in
      let clock = ManualClock()
      try await check(bench(WatchedClock(clock), clock))
    },
    Implementation<ClockBench>("RushingClock") { check in
      let clock = RushingClock()
      try await check(ClockBench(clock, pass: { _ in }) { clock.step(by: $0) })
    },
  ]

  private static func bench(_ clock: any Clock, _ manual: ManualClock) -> ClockBench {
    ClockBench(
      clock,
      pass: { duration in
        await manual.waitForSleeper()
        manual.advance(by: duration)
      }
    ) { manual.step(by: $0) }
  }

  @Test("is kept by the real one and by its doubles", arguments: ClockContract.facts, implementations)
  func isKept(_ fact: Fact<ClockBench>, by clock: Implementation<ClockBench>) async throws {
    try await clock.keeps(fact)
  }
}
