/// The state of the clock when a stored grant got its times. It is stored with the grant, so that the next process of
/// the same boot can tell how far the wall clock was set since.
package struct GrantClock: Hashable, Sendable {
  /// The grant's access token. With `issuedAt` it identifies the grant and its stored times.
  package let token: Fingerprint
  package let issuedAt: Timestamp
  /// The id of the boot.
  package let boot: String
  /// The sum of the clock's steps, from `Clock.moment`.
  package let stepped: Duration

  package init(token: Fingerprint, issuedAt: Timestamp, boot: String, stepped: Duration) {
    (self.token, self.issuedAt, self.boot, self.stepped) = (token, issuedAt, boot, stepped)
  }

  /// The clock of a grant that was just stored or read. `known` is the clock from the last time. It is kept if the boot
  /// and the grant's times are the same.
  package init(
    of grant: Grant, after known: GrantClock?, boot: String, at moment: (now: Timestamp, stepped: Duration)
  ) {
    let (token, issuedAt) = (grant.accessToken.fingerprint, grant.issuedAt)
    if let known, known.token == token, known.issuedAt == issuedAt, known.boot == boot {
      self = known
      return
    }
    // A grant that was issued later than now got its times from another clock, and may have expired. Count it as
    // expired in every process of this boot.
    let isOther = issuedAt - moment.now > Self.tolerance
    let rest = isOther ? (grant.expiresAt ?? issuedAt) - moment.now : .zero
    self.init(token: token, issuedAt: issuedAt, boot: boot, stepped: moment.stepped + rest)
  }

  /// How far the clock has been set since, for a new process. Zero in another boot, because it is not known there.
  package func step(to stepped: Duration, boot: String) -> ClockStep {
    ClockStep(token: token, step: boot == self.boot ? stepped - self.stepped : .zero)
  }

  /// Differences between clocks up to this one can come from reading them at different moments, or from corrections
  /// over the network.
  static let tolerance: Duration = .seconds(60)
}

/// How far the clock has been set since the grant with this access token got its times.
package struct ClockStep: Hashable, Sendable {
  package let token: Fingerprint
  package internal(set) var step: Duration

  package init(token: Fingerprint, step: Duration) { (self.token, self.step) = (token, step) }
}
