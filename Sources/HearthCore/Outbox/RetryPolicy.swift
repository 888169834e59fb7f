/// How long a retry waits.
package struct RetryPolicy: Hashable, Sendable {
  /// The longest `Retry-After` that is followed.
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
    var step = Swift.min(initial, max)
    var left = failures - 1
    while left > 0, step < max {
      step = Swift.min(step * 2, max)
      left -= 1
    }
    let wait = step * (0.5 + 0.5 * random)
    return Swift.max(wait, Swift.min(retryAfter ?? .zero, Self.longestRetryAfter))
  }
}
