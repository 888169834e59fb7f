/// Decides when to warn that a server's clock, according to the `Date` headers of its responses, differs from this
/// machine's clock.
///
/// A difference does no harm by itself, because Hearth measures lifetimes only with this machine's clock. A difference
/// of more than a minute, however, means that one of the two clocks is wrong.
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
