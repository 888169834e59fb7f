/// A credential in memory and its state.
package struct ActiveGrant: Hashable, Sendable {
  package internal(set) var credential: Credential
  /// Whether the grant on disk is this one. If not, it is written as soon as possible.
  package internal(set) var isStored: Bool
  /// Why the file cannot be read now, or `nil` if it can.
  package internal(set) var accessFailure: AccessFailure?
  /// The format version that a newer version of Hearth wrote in its place, if such a file was found.
  package internal(set) var newerFormat: Int?
  /// When its refresh is due, or `nil` if it never expires.
  package internal(set) var refreshAt: Timestamp?
  package internal(set) var phase = RefreshPhase.idle
  /// Whether it was granted because the API had rejected the one before it. If it is rejected too, the session ends.
  var followsRejection = false
  /// Whether an API has rejected it and nothing can renew it, so that its user is asked to sign in.
  var isRejected = false
  /// What its times are based on.
  var timing: GrantTiming
  /// Whether its coming expiry has been published.
  var isExpiryPublished = false

  package var grant: Grant { credential.grant }

  /// The newest grant: the one being written to disk, if there is one.
  var newest: Credential { if case .storing(let next, _) = phase { next } else { credential } }

  /// What the newest grant's times are based on.
  var newestTiming: GrantTiming { timing.of(newest.grant, after: grant) }

  /// The credential as it belongs on disk. Times that were read stay as they were, even if the clock was set since.
  var stored: Credential {
    var stored = credential
    stored.grant = timing.unsettled(grant)
    return stored
  }

  /// Called when the clock was set. A grant that this process has timed keeps its length; one that was read does not
  /// grow.
  mutating func move(by step: Duration) {
    if case .storing(var next, let error) = phase {
      var own = newestTiming
      own.move(&next.grant, by: step)
      phase = .storing(next, error: error)
    }
    let planStep = timing.move(&credential.grant, by: step)
    refreshAt = refreshAt.map { $0 + planStep }
    let isWorthWriting = step.magnitude > GrantClock.tolerance
    if isWorthWriting, timing.access == .counted || timing.refresh == .counted { isStored = false }
  }

  /// Uses the provider's clock, which is ahead by `skew`, to decide whether a grant that nothing can renew has expired.
  mutating func compare(providerAhead skew: Duration, at now: Timestamp) {
    timing.settle(&credential.grant, providerAhead: skew)
    correctIssueTime(at: now)
  }

  /// Corrects a grant whose time of issue is in the future because a clock was or is wrong. It lasts no longer than its
  /// lifetime from now. If the clock is far off, the grant counts as expired until the provider has been asked.
  mutating func correctIssueTime(at now: Timestamp) {
    let ahead = grant.issuedAt - now
    guard ahead > .zero else { return }
    let isFar = ahead > GrantClock.tolerance
    let planStep = timing.settle(&credential.grant, issuedAhead: ahead, mayBeOver: isFar && !timing.access.isCertain)
    refreshAt = refreshAt.map { isFar ? Swift.min($0, now) : $0 + planStep }
  }
}

/// The times of a grant that a lock has wiped from memory. This process keeps counting them, without the tokens.
struct WipedGrant: Hashable, Sendable {
  private let marks: GrantMarks
  private var counted: ActiveGrant

  init(_ active: ActiveGrant) {
    func wiped(_ token: Token) -> Token { Token(secret: Secret(""), fingerprint: token.fingerprint) }
    marks = GrantMarks(active.grant)
    counted = active
    counted.credential.grant.accessToken = wiped(active.grant.accessToken)
    counted.credential.grant.refreshToken = active.grant.refreshToken.map(wiped)
    counted.credential.grant.idToken = active.grant.idToken.map(wiped)
  }

  /// Called when the clock was set.
  mutating func move(by step: Duration) { counted.move(by: step) }

  /// The credential that was read, with the times that were counted, or `nil` if this is another grant.
  func restored(_ credential: Credential) -> ActiveGrant? {
    guard GrantMarks(credential.grant) == marks else { return nil }
    var active = counted
    active.credential = credential
    active.credential.grant.issuedAt = counted.grant.issuedAt
    active.credential.grant.expiresAt = counted.grant.expiresAt
    active.credential.grant.refreshExpiresAt = counted.grant.refreshExpiresAt
    active.isStored = counted.isStored || active.stored == credential
    (active.accessFailure, active.newerFormat) = (nil, nil)
    return active
  }
}

/// The phase of the refresh of the grant in memory.
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
  /// `isRepeated` is true if the reply to the first request was lost, and this is its one immediate repetition.
  case inFlight(isRepeated: Bool)
  /// The provider has answered and the new grant is being written to disk. It is not visible until then. `error` says
  /// why its token cannot be used, although the grant has to be kept.
  case storing(Credential, error: RefreshFailure?)
  /// The provider rejected the token for good. The file is read once more, in case another program was faster.
  case confirming(EndReason)

  var isInFlight: Bool { if case .inFlight = self { true } else { false } }

  var isStoring: Bool { if case .storing = self { true } else { false } }

  var isConfirming: Bool { if case .confirming = self { true } else { false } }
}
