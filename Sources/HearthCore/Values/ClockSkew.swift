/// How far a provider's clock is ahead of this machine's, measured from its answers' `Date` headers.
package struct ClockSkew: Hashable, Sendable {
  /// Below this it is the header's own coarseness, and counts as none.
  package static let tolerance: Duration = .seconds(5)

  /// Above this somebody should mend a clock.
  package static let alarming: Duration = .seconds(60)

  package private(set) var offset: Duration = .zero
  private var isMeasured = false

  package init() {}

  /// Takes in one measurement; true where it is news that somebody should hear of.
  package mutating func observe(_ measured: Duration) -> Bool {
    let isSmall = abs(measured) < Self.tolerance
    let next = isSmall ? .zero : measured
    let isNews = abs(next) > Self.alarming && abs(next - offset) > Self.alarming
    // Answers come with whole seconds: what wobbles by less than the tolerance is the same skew.
    if !isMeasured || abs(next - offset) >= Self.tolerance || isSmall { offset = next }
    isMeasured = true
    return isNews
  }

  /// This machine's clock was set: what was measured against it moves the other way.
  package mutating func machineStepped(by step: Duration) {
    if isMeasured { offset = offset - step }
    if abs(offset) < Self.tolerance { offset = .zero }
  }

  private func abs(_ duration: Duration) -> Duration { duration < .zero ? .zero - duration : duration }
}
