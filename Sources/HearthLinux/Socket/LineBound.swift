/// Bounds a log line that others can cause as often as they like: the first is written at once, those that come within
/// the interval after it are counted and written together when it is over.
struct LineBound: Hashable, Sendable {
  /// What to do about one more.
  enum Verdict: Hashable, Sendable {
    case write
    /// It is counted; ask `due` at this time.
    case countUntil(Duration)
    /// It is counted, and somebody has been told when to ask.
    case count
  }

  static let interval: Duration = .seconds(60)

  /// While it runs, lines are counted; nil: the next one is written.
  private var end: Duration?
  private var counted = 0

  /// `now`: since any moment that stays the same, on a clock that is not set.
  mutating func happened(at now: Duration) -> Verdict {
    guard let end, now < end || counted > 0 else {
      end = now + Self.interval
      return .write
    }
    counted += 1
    return counted == 1 ? .countUntil(end) : .count
  }

  /// How many were counted, once the interval is over; another one begins where there were any.
  mutating func due(at now: Duration) -> Int {
    let due = counted
    counted = 0
    end = due > 0 ? now + Self.interval : nil
    return due
  }
}
