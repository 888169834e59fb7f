/// How long to wait before a retry.
package struct RetryPolicy: Hashable, Sendable {
  /// The longest `Retry-After` that is obeyed.
  static let longestRetryAfter = Duration.seconds(24 * 3600)

  package let initial: Duration
  package let max: Duration

  package init(initial: Duration, max: Duration) { (self.initial, self.max) = (initial, max) }

  /// Returns between half and the whole of a step that doubles with each failure. `retryAfter` is the minimum, up to 24
  /// hours. `failures` counts from 1; `random` is in 0..<1.
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
