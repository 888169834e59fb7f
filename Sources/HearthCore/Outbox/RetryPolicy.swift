/// How long a retry waits.
package struct RetryPolicy: Hashable, Sendable {
  /// What a server may ask for at most.
  static let longestRetryAfter = Duration.seconds(24 * 3600)

  package let initial: Duration
  package let max: Duration

  package init(initial: Duration, max: Duration) {
    self.initial = initial
    self.max = max
  }

  /// Between half and whole of a step that doubles with each failure; `retryAfter` is a floor, at most 24 h.
  /// `failures` counts from 1; `random` is in 0..<1.
  package func wait(failures: Int, retryAfter: Duration? = nil, random: Double) -> Duration {
    var step = initial
    for _ in 1..<Swift.max(failures, 1) where step < max { step = step * 2 }
    step = Swift.min(step, max)
    let wait = step * (0.5 + 0.5 * random)
    return Swift.max(wait, Swift.min(retryAfter ?? .zero, Self.longestRetryAfter))
  }
}
