/// The state of the clock when a stored grant got its times. It is stored in accounts.json, so that later processes
/// in the same boot can tell how much the clock has been adjusted since then.
package struct GrantClock: Hashable, Sendable {
  /// The fingerprint of the grant's access token. Together with `issuedAt`, it identifies the stored times.
  package let token: Fingerprint
  package let issuedAt: Timestamp
  package let boot: String
  /// The sum of the clock's steps (`Clock.moment`).
  package let stepped: Duration

  package init(token: Fingerprint, issuedAt: Timestamp, boot: String, stepped: Duration) {
    (self.token, self.issuedAt, self.boot, self.stepped) = (token, issuedAt, boot, stepped)
  }

  /// Creates the clock state for a grant that was just stored or read. Reuses `known` if it is from the same boot and
  /// has the same times.
  package init(
    of grant: Grant, after known: GrantClock?, boot: String, at moment: (now: Timestamp, stepped: Duration)
  ) {
    let (token, issuedAt) = (grant.accessToken.fingerprint, grant.issuedAt)
    if let known, known.token == token, known.issuedAt == issuedAt, known.boot == boot {
      self = known
      return
    }
    // A grant that was issued in the future got its times from another clock. Count its lifetime from now. If the clocks
    // differ by too much, the grant may have expired, so count it as expired in every process of this boot.
    let isOther = issuedAt - moment.now > Self.tolerance
    let rest = (isOther ? grant.expiresAt ?? issuedAt : Swift.max(issuedAt, moment.now)) - moment.now
    self.init(token: token, issuedAt: issuedAt, boot: boot, stepped: moment.stepped + rest)
  }

  /// Returns how much the clock has been adjusted since the grant got its times. Starts at zero after a reboot, because
  /// the adjustment is then unknown.
  package func step(to stepped: Duration, boot: String) -> ClockStep {
    let isKnown = boot == self.boot
    return ClockStep(token: token, step: isKnown ? stepped - self.stepped : .zero, isKnown: isKnown)
  }

  /// The largest difference between two clocks that can result from reading them at different moments or from network
  /// time corrections.
  static let tolerance: Duration = .seconds(60)
}

/// How much the clock has been adjusted since the grant with this access token got its times.
package struct ClockStep: Hashable, Sendable {
  package let token: Fingerprint
  package private(set) var step: Duration
  /// Whether `step` contains all adjustments. False after a reboot.
  private let isKnown: Bool

  package init(token: Fingerprint, step: Duration, isKnown: Bool = true) {
    (self.token, self.step, self.isKnown) = (token, step, isKnown)
  }

  /// Adds an adjustment. After a reboot, one forward may only have corrected the clock, and one back undoes that, so it
  /// must not count as time that the grant has left.
  mutating func add(_ adjustment: Duration) {
    step = isKnown ? step + adjustment : Swift.min(step + adjustment, .zero)
  }
}
