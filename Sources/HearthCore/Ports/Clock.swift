/// The time, as services use it: a wall clock that counts through sleep and does not jump between two looks.
package protocol Clock: Sendable {
  /// The wall clock as it was at the last step, plus the time since (CLOCK_BOOTTIME).
  func now() -> Timestamp

  /// The time, and the sum of all steps up to it: who has heard of fewer steps knows that the clock was set meanwhile.
  func moment() -> (now: Timestamp, stepped: Duration)

  /// Returns at the deadline or, early, when the task is cancelled.
  func sleep(until deadline: Timestamp) async

  /// Steps of the wall clock (by how much) and resumes (zero); each asks for new plans.
  func steps() -> AsyncStream<Duration>
}
