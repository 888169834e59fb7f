/// Throttles something that others can cause as often as they like. The first one passes at once, and those that come
/// within the interval after it are counted and pass together when it is over.
struct Throttle: Hashable, Sendable {
  enum Decision: Hashable, Sendable {
    case pass
    /// It was counted. Call `release` at this time.
    case countUntil(Duration)
    /// It was counted, and `release` is already planned.
    case count
  }

  let interval: Duration
  /// Until this time everything is counted. If it is `nil`, the next one passes.
  private var end: Duration?
  private var counted = 0

  init(interval: Duration) {
    self.interval = interval
  }

  /// Called for one more. `now` is the time since a fixed point, on a clock that is never set.
  mutating func admit(at now: Duration) -> Decision {
    guard let end, now < end || counted > 0 else {
      end = now + interval
      return .pass
    }
    counted += 1
    return counted == 1 ? .countUntil(end) : .count
  }

  /// Returns how many were counted, once the interval is over. Begins another interval if there were any.
  mutating func release(at now: Duration) -> Int {
    let due = counted
    counted = 0
    end = due > 0 ? now + interval : nil
    return due
  }
}
