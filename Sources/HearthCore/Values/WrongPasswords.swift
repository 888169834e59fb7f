/// Delays the next attempt after a wrong password. The delay starts at 1 s and doubles up to a minute. Pass only times
/// from `Clock.steadyNow`, so that setting the clock does not change the delay.
package struct WrongPasswords: Hashable, Sendable {
  private var count = 0
  private var nextAttemptAt: Timestamp?

  package init() {}

  /// Returns how long to wait before the next attempt, or `nil` if it is allowed immediately.
  package func wait(at now: Timestamp) -> Duration? {
    nextAttemptAt.flatMap { now < $0 ? $0 - now : nil }
  }

  package mutating func add(at now: Timestamp) {
    nextAttemptAt = now + .seconds(min(1 << min(count, 6), 60))
    count += 1
  }
}
