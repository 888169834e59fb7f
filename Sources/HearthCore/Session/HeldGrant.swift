/// A credential in memory, and what is going on with it.
package struct HeldGrant: Hashable, Sendable {
  package var credential: Credential
  /// On disk as it is here; where not, it is written as soon as that can be.
  package var isStored: Bool
  /// Why the file cannot be read now; nil where it can.
  package var accessFailure: AccessFailure?
  /// The format of what a newer version wrote in its place; nil where nothing such was found.
  package var newerFormat: Int?
  /// When it is due to be refreshed; nil where it never expires.
  package var refreshAt: Timestamp?
  package var phase: RefreshPhase = .idle
  /// It was granted because the API had refused the one before it: refused again, the session ends.
  package var followsRefusal = false
  /// An API answered 401 to it, and nothing can renew it: its user is asked to sign in.
  package var isRefused = false
  /// Its times were taken from the clock in this run, and not read.
  package var isTimedHere = false
  package var expiryAnnounced = false

  package init(credential: Credential, isStored: Bool, accessFailure: AccessFailure?, refreshAt: Timestamp?) {
    self.credential = credential
    self.isStored = isStored
    self.accessFailure = accessFailure
    self.refreshAt = refreshAt
  }

  package var grant: Grant { credential.grant }

  /// The clock was set: a grant that was timed by it lasts as long as it did. One that was read keeps its times, which
  /// the clock may have only now come to agree with.
  mutating func move(by step: Duration) {
    if case .storing(var next, let flaw) = phase {
      next.grant.move(by: step)
      phase = .storing(next, flaw: flaw)
    }
    guard isTimedHere else { return }
    credential.grant.move(by: step)
    refreshAt = refreshAt.map { $0 + step }
    if step > Self.worthWriting || step < .zero - Self.worthWriting { isStored = false }
  }

  /// It says that it was issued so much later than now: a clock was ahead then, so that nobody knows how long it lasts.
  /// It lasts no longer than its lifetime from now on, and is refreshed at once where that is more than the clocks of
  /// two looks may differ by.
  mutating func wasIssuedAhead(by ahead: Duration, at now: Timestamp) {
    credential.grant.move(by: .zero - ahead)
    isTimedHere = true
    guard ahead > Self.worthWriting else { return }
    isStored = false
    refreshAt = refreshAt.map { Swift.min($0, now) }
  }

  /// From this step on, the times on disk would mislead the next start.
  private static let worthWriting: Duration = .seconds(60)
}

/// Where a refresh stands. One at a time: that is what this enum is for.
///
/// Legal transitions: idle → inFlight → inFlight (once, repeated) → storing → idle; inFlight → idle (it failed);
/// inFlight → confirming → idle, or the session ends.
package enum RefreshPhase: Hashable, Sendable {
  case idle
  /// `isRepeated`: the reply to the one before was lost, and this is its one repetition at once.
  case inFlight(isRepeated: Bool)
  /// The provider has answered; the new grant is on its way to the disk, and nobody sees it before it is there.
  /// `flaw`: why what came cannot be used, though it has to be kept.
  case storing(Credential, flaw: String?)
  /// The provider refused for good; the file is read once more, in case another program was faster.
  case confirming(EndReason)

  var isInFlight: Bool {
    if case .inFlight = self { true } else { false }
  }

  var isStoring: Bool {
    if case .storing = self { true } else { false }
  }

  var isConfirming: Bool {
    if case .confirming = self { true } else { false }
  }
}
