package import HearthCore

/// The machine's clock: CLOCK_BOOTTIME, which counts through sleep, plus the offset to the wall clock at its last step.
package final class SystemClock: Clock {
  private let timers: TimerThread

  package convenience init() throws(SystemCallFailure) {
    self.init(timers: try TimerThread())
  }

  init(timers: TimerThread) {
    self.timers = timers
  }

  deinit { timers.stop() }

  package func now() -> Timestamp { timers.now() }

  package func moment() -> (now: Timestamp, stepped: Duration) { timers.moment() }

  package func sleep(until deadline: Timestamp) async { await timers.sleep(until: deadline) }

  package func timer(at deadline: Timestamp, _ action: @escaping @Sendable () -> Void) -> ClockTimer {
    timers.timer(at: deadline, action)
  }

  /// Yields right after `clock_settime` or a resume. Steps of less than 100 ms are added up and reported together.
  package func steps() -> AsyncStream<Duration> { timers.steps() }

  /// All deadlines have come, now and later, and all streams of steps end with the thread behind them.
  package func stop() { timers.stop() }
}
