/// How long whoever gave a wrong password waits before another is tried: 1 s, then twice as long each time, up to a minute.
/// Its times are `Clock.steadyNow`.
package struct WrongPasswords: Hashable, Sendable {
  private var count = 0
  private var nextAttemptAt: Timestamp?

  package init() {}

  /// How long none is tried yet; nil where one may be.
  package func wait(at now: Timestamp) -> Duration? {
    nextAttemptAt.flatMap { now < $0 ? $0 - now : nil }
  }

  package mutating func add(at now: Timestamp) {
    nextAttemptAt = now + .seconds(min(1 << min(count, 6), 60))
    count += 1
  }
}
