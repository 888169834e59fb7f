/// The time as services use it: a wall clock that runs during sleep and jumps only in steps that it reports.
package protocol Clock: Sendable {
  /// The wall clock as of the last step, plus the time since (CLOCK_BOOTTIME).
  func now() -> Timestamp

  /// The time, and the sum of the clock's steps, counted from a point that all processes of this boot share. If the sum
  /// differs from an earlier one, the clock was set in between.
  func moment() -> (now: Timestamp, stepped: Duration)

  /// Returns at the deadline, or earlier if the task is cancelled.
  func sleep(until deadline: Timestamp) async

  /// Calls `action` once at the deadline, or now if that has passed, unless the timer is cancelled before. It is for
  /// frequent timers, for which a sleeping task costs too much. The action must be short and must not block.
  func timer(at deadline: Timestamp, _ action: @escaping @Sendable () -> Void) -> ClockTimer

  /// Reports each step of the wall clock (by how much) and each resume (zero). After each one, deadlines are planned
  /// again.
  func steps() -> AsyncStream<Duration>
}

extension Clock {
  /// The time as if the clock had not been set since the start, for waits that setting the clock must not change.
  package func steadyNow() -> Timestamp {
    let (now, stepped) = moment()
    return now - stepped
  }
}

/// A timer that can be cancelled.
package struct ClockTimer: Sendable {
  private let cancellation: @Sendable () -> Void

  package init(cancellation: @escaping @Sendable () -> Void) { self.cancellation = cancellation }

  /// Cancels the timer. Its action may already be running on another thread.
  package func cancel() { cancellation() }
}
