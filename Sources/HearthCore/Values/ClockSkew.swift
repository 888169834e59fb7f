/// How far a server's clock is ahead of this machine's, as its answers' `Date` headers show. Lifetimes are counted by
/// this machine's clock alone, so that the difference harms nothing; above a minute somebody should mend a clock.
package struct ClockSkew: Hashable, Sendable {
  package static let alarming: Duration = .seconds(60)

  private var warnedOf: Duration = .zero

  package init() {}

  /// Adds one measurement; true where the difference is worth a warning that was not given yet.
  package mutating func observe(_ measured: Duration) -> Bool {
    guard measured.magnitude > Self.alarming else {
      warnedOf = .zero
      return false
    }
    guard (measured - warnedOf).magnitude > Self.alarming else { return false }
    warnedOf = measured
    return true
  }
}
