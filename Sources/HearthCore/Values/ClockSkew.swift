/// How far a server's clock is ahead of this machine's, measured by the `Date` headers of its responses. Lifetimes are
/// counted only by this machine's clock, so the difference does no harm, but above a minute somebody should fix a
/// clock.
package struct ClockSkew: Hashable, Sendable {
  package static let alarming: Duration = .seconds(60)

  private var warnedOf: Duration = .zero

  package init() {}

  /// Adds a measurement. Returns true if the difference deserves a warning that was not given yet.
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
