/// The time, as services use it: a wall clock that counts through sleep and does not jump between two looks.
package protocol Clock: Sendable {
  /// The wall clock as it was at the last step, plus the time since (CLOCK_BOOTTIME).
  func now() -> Timestamp

  /// Returns at the deadline or, early, when the task is cancelled.
  func sleep(until deadline: Timestamp) async

  /// Steps of the wall clock (by how much) and resumes (zero); each asks for new plans.
  func steps() -> AsyncStream<Duration>
}
