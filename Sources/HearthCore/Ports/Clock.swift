/// The time as services use it: a wall clock that counts through sleep and jumps only at steps that it reports.
package protocol Clock: Sendable {
  /// The wall clock as it was at the last step, plus the time since (CLOCK_BOOTTIME).
  func now() -> Timestamp

  /// The time, and the sum of all steps up to it. A caller that has been told of fewer steps learns from it that the clock
  /// was set meanwhile.
  func moment() -> (now: Timestamp, stepped: Duration)

  /// Returns at the deadline or, early, when the task is cancelled.
  func sleep(until deadline: Timestamp) async

  /// Has `action` called once at the deadline, or now where that has passed, unless the timer is cancelled before. For what
  /// happens so often that a task that sleeps costs too much. The action is short and blocks nothing.
  func timer(at deadline: Timestamp, _ action: @escaping @Sendable () -> Void) -> ClockTimer

  /// Steps of the wall clock (by how much) and resumes from sleep (zero). Deadlines have to be planned anew after each.
  func steps() -> AsyncStream<Duration>
}

extension Clock {
  /// The time as if the clock had never been set since the start: for waits that nobody is to shorten or lengthen by
  /// setting it.
  package func steadyNow() -> Timestamp {
    let (now, stepped) = moment()
    return now - stepped
  }
}

/// What a clock is to do at a deadline.
package struct ClockTimer: Sendable {
  private let cancellation: @Sendable () -> Void

  package init(cancellation: @escaping @Sendable () -> Void) {
    self.cancellation = cancellation
  }

  /// Has it not done. It may be under way on another thread.
  package func cancel() { cancellation() }
}
