/// The delays between retries, which double with each failure up to a maximum.
struct RetryPolicy: Hashable, Sendable {
  /// The upper limit for `Retry-After`.
  static let longestRetryAfter = Duration.seconds(24 * 3600)

  let initial: Duration
  let max: Duration

  /// Returns the delay before the next retry: a random time between half of a step and the whole step, which doubles
  /// with each failure. If `retryAfter` is longer, it replaces this time, up to a maximum of 24 hours. `failures`
  /// starts at 1, and `random` is in 0..<1.
  func wait(failures: Int, retryAfter: Duration? = nil, random: Double) -> Duration {
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
