/// The clock that the times of a stored grant go by. It is remembered beside the grant, so that the next process of the
/// same boot goes on counting them, wherever the wall clock was set meanwhile.
package struct GrantClock: Hashable, Sendable {
  /// Identifies the grant, and its times as they are stored.
  package let token: Fingerprint
  package let issuedAt: Timestamp
  /// The id of the boot.
  package let boot: String
  /// As `Clock.moment` tells it.
  package let stepped: Duration

  package init(token: Fingerprint, issuedAt: Timestamp, boot: String, stepped: Duration) {
    (self.token, self.issuedAt, self.boot, self.stepped) = (token, issuedAt, boot, stepped)
  }

  /// The clock of a grant that was just stored or read. `known` is that of the last time, and stays as long as this boot
  /// lasts and the times are the same.
  package init(
    of grant: Grant, after known: GrantClock?, boot: String, at moment: (now: Timestamp, stepped: Duration)
  ) {
    let (token, issuedAt) = (grant.accessToken.fingerprint, grant.issuedAt)
    if let known, known.token == token, known.issuedAt == issuedAt, known.boot == boot {
      self = known
      return
    }
    // The times of a grant that was issued later than now are not by this clock. As it may have expired, no process of
    // this boot takes it for a valid one.
    let isOther = issuedAt - moment.now > Self.tolerance
    let rest = isOther ? (grant.expiresAt ?? issuedAt) - moment.now : .zero
    self.init(token: token, issuedAt: issuedAt, boot: boot, stepped: moment.stepped + rest)
  }

  /// How far the clock has been set since, as a new process is told. In another boot nobody knows.
  package func step(to stepped: Duration, boot: String) -> ClockStep {
    ClockStep(token: token, step: boot == self.boot ? stepped - self.stepped : .zero)
  }

  /// A difference between clocks that is more than two looks at them, or a correction by the network, explain.
  static let tolerance: Duration = .seconds(60)
}

/// How far the clock has been set since the grant with this access token got its times.
package struct ClockStep: Hashable, Sendable {
  package let token: Fingerprint
  package internal(set) var step: Duration

  package init(token: Fingerprint, step: Duration) { (self.token, self.step) = (token, step) }
}
