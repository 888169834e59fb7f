/// How long to wait after a wrong password before another is tried: 1 s, then twice as long each time, up to a minute.
/// Its times are `Clock.steadyNow`.
package struct WrongPasswords: Hashable, Sendable {
  private var count = 0
  private var nextAttemptAt: Timestamp?

  package init() {}

  /// How long to wait until the next try, or `nil` if one may be made now.
  package func wait(at now: Timestamp) -> Duration? {
    nextAttemptAt.flatMap { now < $0 ? $0 - now : nil }
  }

  package mutating func add(at now: Timestamp) {
    nextAttemptAt = now + .seconds(min(1 << min(count, 6), 60))
    count += 1
  }
}
