package import HearthCore

/// A clock, and the two ways to change it from outside.
package struct ClockBench: Sendable {
  let clock: any Clock
  /// Lets this much time pass while someone sleeps. Does nothing to a real clock.
  let pass: @Sendable (Duration) async -> Void
  /// Sets the wall clock, as an administrator does.
  let step: @Sendable (Duration) async -> Void

  package init(
    _ clock: any Clock, pass: @escaping @Sendable (Duration) async -> Void,
    step: @escaping @Sendable (Duration) async -> Void
  ) {
    self.clock = clock
    self.pass = pass
    self.step = step
  }
}

/// The promises of `Clock`.
package enum ClockContract {
  package typealias ClockFact = Fact<ClockBench>

  package static let facts = [
    ClockFact("the time never runs backwards, and both ways to read it agree") { bench in
      var last = bench.clock.now()
      let before = bench.clock.moment().stepped
      for _ in 0..<1000 {
        let (now, stepped) = bench.clock.moment()
        try expect(now >= last, "\(now) is not before \(last)")
        try expect(stepped, is: before)
        last = bench.clock.now()
        try expect(last >= now, "\(last) is not before \(now)")
      }
    },
    ClockFact("a sleep ends at its deadline and not before") { bench in
      let clock = bench.clock
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          let deadline = clock.now() + .milliseconds(40)
          await clock.sleep(until: deadline)
          let now = clock.now()
          try expect(now >= deadline, "the sleep lasts until \(deadline), it ended at \(now)")
        }
        await bench.pass(.milliseconds(20))
        await bench.pass(.milliseconds(20))
        try await group.waitForAll()
      }
    },
    ClockFact("nobody waits for a deadline that has passed") { bench in
      await bench.clock.sleep(until: bench.clock.now())
      await bench.clock.sleep(until: Timestamp(milliseconds: 0))
      try expect(bench.clock.now() > Timestamp(milliseconds: 0), "the time goes on")
    },
    ClockFact("each sleeper wakes at its own deadline, whoever started first") { bench in
      let clock = bench.clock
      let start = clock.now()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for delay in [60, 20, 40] as [Int64] {
          group.addTask {
            await clock.sleep(until: start + .milliseconds(delay))
            try expect(clock.now() - start >= .milliseconds(delay), "\(delay) ms have passed")
          }
        }
        for _ in 0..<3 { await bench.pass(.milliseconds(20)) }
        try await group.waitForAll()
      }
    },
    ClockFact("cancellation ends a sleep") { bench in
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<100 {
          group.addTask { await bench.clock.sleep(until: .distantFuture) }
        }
        group.cancelAll()
      }
    },
    ClockFact("a cancelled task does not sleep, and no time passes") { bench in
      await withTaskGroup(of: Void.self) { group in
        group.cancelAll()
        group.addTask { await bench.clock.sleep(until: .distantFuture) }
      }
      try expect(bench.clock.now() < .distantFuture, "the time has not been moved")
    },
    ClockFact("a timer fires at its deadline, at once if that has passed, and never after it is cancelled") { bench in
      let clock = bench.clock
      let deadline = clock.now() + .milliseconds(40)
      let (acts, act) = AsyncStream<String>.makeStream()
      clock.timer(at: deadline - .milliseconds(20)) { act.yield("cancelled") }.cancel()
      _ = clock.timer(at: deadline) {
        act.yield(clock.now() >= deadline ? "due" : "early")
        act.finish()
      }
      _ = clock.timer(at: clock.now()) { act.yield("passed") }
      await withTaskGroup(of: Void.self) { group in
        group.addTask { await clock.sleep(until: deadline) }
        for _ in 0..<2 { await bench.pass(.milliseconds(20)) }
      }
      try expect(await acts.reduce(into: []) { $0.append($1) }, is: ["passed", "due"])
    },
    ClockFact("everyone who asked is notified of a step, which changes the time and the sum of all steps") { bench in
      let clock = bench.clock
      var streams = [clock.steps(), clock.steps()].map { $0.makeAsyncIterator() }
      let before = clock.moment()
      await bench.step(.seconds(3600))
      let after = clock.moment()
      for index in streams.indices { try expectHour(await streams[index].next()) }
      try expectHour(after.stepped - before.stepped)
      try expect(after.now - before.now >= .seconds(3599), "the time has moved by the step")
      await bench.step(.seconds(-3600))
      try expect((clock.moment().stepped - before.stepped).wholeMilliseconds.magnitude < 200, "the steps are summed")
    },
  ]

  private static func expectHour(_ step: Duration?, line: Int = #line) throws {
    guard let step, (step - .seconds(3600)).wholeMilliseconds.magnitude < 100 else {
      throw ContractBreach("A step of an hour was made, \(step.map { "\($0)" } ?? "none") was told.", #fileID, line)
    }
  }
}
