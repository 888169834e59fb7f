/// The wall clock for services. It keeps running during sleep, and reports when it is set.
package protocol Clock: Sendable {
  /// Returns the wall-clock time at the last step plus the time elapsed since then (CLOCK_BOOTTIME).
  func now() -> Timestamp

  /// Returns the time and the sum of all steps. During a boot, all processes count the steps from the same point. If
  /// the sum has changed between two calls, the clock was set in between.
  func moment() -> (now: Timestamp, stepped: Duration)

  /// Waits until the deadline, or until the task is cancelled.
  func sleep(until deadline: Timestamp) async

  /// Calls `action` once at the deadline, or immediately if the deadline has passed, unless the timer is cancelled
  /// first. Use this method for frequent timers, for which a sleeping task is too expensive. The action must be short
  /// and must not block.
  func timer(at deadline: Timestamp, _ action: @escaping @Sendable () -> Void) -> ClockTimer

  /// Yields the size of each clock step, or zero if the machine wakes up without a step. Recompute all deadlines after
  /// each element.
  func steps() -> AsyncStream<Duration>
}

extension Clock {
  /// Returns the time as if the clock had never been set. Use it for waits that must not change when the clock is set.
  package func steadyNow() -> Timestamp {
    let (now, stepped) = moment()
    return now - stepped
  }
}

package struct ClockTimer: Sendable {
  private let cancellation: @Sendable () -> Void

  package init(cancellation: @escaping @Sendable () -> Void) { self.cancellation = cancellation }

  /// Cancels the timer. The action may already be running on another thread.
  package func cancel() { cancellation() }
}
