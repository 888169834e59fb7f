/// A credential in memory, and what is going on with it.
package struct ActiveGrant: Hashable, Sendable {
  package internal(set) var credential: Credential
  /// On disk as it is here; where not, it is written as soon as that can be.
  package internal(set) var isStored: Bool
  /// Why the file cannot be read now; nil where it can.
  package internal(set) var accessFailure: AccessFailure?
  /// The format of what a newer version wrote in its place; nil where nothing such was found.
  package internal(set) var newerFormat: Int?
  /// When it is due to be refreshed; nil where it never expires.
  package internal(set) var refreshAt: Timestamp?
  package internal(set) var phase = RefreshPhase.idle
  /// It was granted because the API had rejected the one before it: rejected again, the session ends.
  var followsRejection = false
  /// An API has rejected it, and nothing can renew it: its user is asked to sign in.
  var isRejected = false
  /// What its times rest on.
  var timing: GrantTiming
  /// That it expires soon has been published.
  var isExpiryPublished = false

  package var grant: Grant { credential.grant }

  /// The newest grant there is: the one that is on its way to the disk, where there is one.
  var newest: Credential {
    if case .storing(let next, _) = phase { next } else { credential }
  }

  /// What its times rest on once the newest grant there is takes its place.
  var newestTiming: GrantTiming { timing.of(newest.grant, after: grant) }

  /// As it belongs on the disk: times that were read stay as they were, whatever the clock was set to since.
  var stored: Credential {
    var stored = credential
    stored.grant = timing.unsettled(grant)
    return stored
  }

  /// The clock was set: a grant that this process has timed lasts as long as it did, and what was read no longer.
  mutating func move(by step: Duration) {
    if case .storing(var next, let error) = phase {
      var own = newestTiming
      own.move(&next.grant, by: step)
      phase = .storing(next, error: error)
    }
    let planStep = timing.move(&credential.grant, by: step)
    refreshAt = refreshAt.map { $0 + planStep }
    let isWorthWriting = step > Self.worthWriting || step < .zero - Self.worthWriting
    if isWorthWriting, timing.access == .counted || timing.refresh == .counted { isStored = false }
  }

  /// Nothing can renew it, and the provider's clock is so far ahead of this one: that decides whether it has run out.
  mutating func compare(providerAhead skew: Duration, at now: Timestamp) {
    timing.settle(&credential.grant, providerAhead: skew)
    correctIssueTime(at: now)
  }

  /// Corrects a grant whose time of issue lies in the future because a clock was or is wrong: it lasts no longer than its
  /// lifetime from now on, and is refreshed at once where the clock is far off.
  mutating func correctIssueTime(at now: Timestamp) {
    let ahead = grant.issuedAt - now
    guard ahead > .zero else { return }
    timing.settle(&credential.grant, issuedAhead: ahead)
    if ahead > Self.worthWriting { refreshAt = refreshAt.map { Swift.min($0, now) } }
  }

  /// A difference between clocks from which on the times on disk would mislead the next start.
  private static let worthWriting: Duration = .seconds(60)
}

/// Where the refresh of the grant in memory stands.
///
/// Legal transitions:
///
///     idle → inFlight
///     inFlight → inFlight                    once: the reply was lost, and the request is repeated
///     inFlight → idle                        it failed
///     inFlight → storing → idle              it succeeded, and the grant is on disk or kept in memory
///     inFlight → confirming                  the provider rejected the token for good
///
/// From `confirming` the session ends, or another grant replaces this one.
package enum RefreshPhase: Hashable, Sendable {
  case idle
  /// `isRepeated`: the reply to the one before was lost, and this is its one repetition at once.
  case inFlight(isRepeated: Bool)
  /// The provider has answered; the new grant is on its way to the disk, and nobody sees it before it is there.
  /// `error`: why its token cannot be used, though the grant has to be kept.
  case storing(Credential, error: RefreshFailure?)
  /// The provider rejected the token for good; the file is read once more, in case another program was faster.
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
