/// How far a server's clock is ahead of this machine's, according to the `Date` headers of its responses. The
/// difference does no harm, because only this machine's clock measures lifetimes. If it exceeds a minute, however,
/// somebody should set a clock.
package struct ClockSkew: Hashable, Sendable {
  package static let alarming: Duration = .seconds(60)

  private var warnedOf: Duration = .zero

  package init() {}

  /// Adds a measurement, and returns whether a new warning is necessary.
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
