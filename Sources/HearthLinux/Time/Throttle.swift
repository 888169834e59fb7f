/// Limits how often an event from outside is handled. The first event passes immediately. Events within the interval
/// after it are counted and reported together when the interval ends.
struct Throttle: Hashable, Sendable {
  enum Decision: Hashable, Sendable {
    case pass
    /// The event was counted. The caller must call `release` at this time.
    case countUntil(Duration)
    /// The event was counted, and a call to `release` is already scheduled.
    case count
  }

  let interval: Duration
  /// The end of the current interval, or `nil` if the next event passes.
  private var end: Duration?
  private var counted = 0

  init(interval: Duration) {
    self.interval = interval
  }

  /// Returns how to handle an event. `now` is the time since a fixed point on a clock that cannot be set.
  mutating func admit(at now: Duration) -> Decision {
    guard let end, now < end || counted > 0 else {
      end = now + interval
      return .pass
    }
    counted += 1
    return counted == 1 ? .countUntil(end) : .count
  }

  /// Returns the number of events counted in the interval. Starts another interval unless the number is zero.
  mutating func release(at now: Duration) -> Int {
    let due = counted
    counted = 0
    end = due > 0 ? now + interval : nil
    return due
  }
}
