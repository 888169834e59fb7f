/// A point on the wall clock, in whole milliseconds since 1970-01-01T00:00:00Z.
package struct Timestamp: Hashable, Comparable, Sendable {
  package var milliseconds: Int64

  package init(milliseconds: Int64) {
    self.milliseconds = milliseconds
  }

  package init(seconds: Int64) {
    self.init(milliseconds: seconds.multipliedReportingOverflow(by: 1000).partialValue)
  }

  /// The latest time that RFC 3339 can write: 9999-12-31T23:59:59.999Z.
  package static let distantFuture = Timestamp(milliseconds: 253_402_300_799_999)

  package static func < (lhs: Timestamp, rhs: Timestamp) -> Bool {
    lhs.milliseconds < rhs.milliseconds
  }

  /// Adds a duration, rounded to milliseconds; stops at the ends of what RFC 3339 can write.
  package static func + (lhs: Timestamp, rhs: Duration) -> Timestamp {
    let (sum, overflow) = lhs.milliseconds.addingReportingOverflow(rhs.wholeMilliseconds)
    guard !overflow, sum <= distantFuture.milliseconds else {
      return rhs < .zero ? Timestamp(milliseconds: 0) : distantFuture
    }
    return Timestamp(milliseconds: Swift.max(sum, 0))
  }

  package static func - (lhs: Timestamp, rhs: Duration) -> Timestamp {
    lhs + (.zero - rhs)
  }

  /// How long it is from `rhs` to `lhs`; negative where `lhs` is the earlier. Stops at the ends of `Int64`.
  package static func - (lhs: Timestamp, rhs: Timestamp) -> Duration {
    let (difference, overflow) = lhs.milliseconds.subtractingReportingOverflow(rhs.milliseconds)
    return .milliseconds(overflow ? (lhs < rhs ? .min : .max) : difference)
  }
}

extension Duration {
  /// The duration in milliseconds, rounded towards zero; the ends of `Int64` where it is longer.
  package var wholeMilliseconds: Int64 {
    let (seconds, attoseconds) = components
    let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1000)
    if overflow { return seconds < 0 ? .min : .max }
    let (sum, sumOverflow) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000_000_000)
    return sumOverflow ? (seconds < 0 ? .min : .max) : sum
  }
}
