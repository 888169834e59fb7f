/// The time as services use it: a wall clock that counts through sleep and jumps only at steps that it reports.
package protocol Clock: Sendable {
  /// The wall clock as it was at the last step, plus the time since (CLOCK_BOOTTIME).
  func now() -> Timestamp

  /// The time, and the sum of all steps up to it. A caller that has been told of fewer steps learns from it that the clock
  /// was set meanwhile.
  func moment() -> (now: Timestamp, stepped: Duration)

  /// Returns at the deadline or, early, when the task is cancelled.
  func sleep(until deadline: Timestamp) async

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
