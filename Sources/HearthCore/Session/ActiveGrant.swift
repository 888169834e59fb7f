/// A credential in memory, with the state of its refresh and storage.
package struct ActiveGrant: Hashable, Sendable {
  package internal(set) var credential: Credential
  /// Whether the grant is on disk. If not, it is written as soon as possible.
  package internal(set) var isStored: Bool
  /// The reason why the file cannot be read now, or `nil` if it can be read.
  package internal(set) var accessFailure: AccessFailure?
  /// The format of a file that a newer version of Hearth has written, or `nil` if there is no such file.
  package internal(set) var newerFormat: Int?
  /// The time at which a refresh is due, or `nil` if no expiry is known.
  package internal(set) var refreshAt: Timestamp?
  package internal(set) var phase = RefreshPhase.idle
  /// Whether the grant replaced one that an API had rejected. If an API rejects this grant, too, within two minutes
  /// of its issue, the session ends, unless the rejection has `isAcceptedElsewhere`.
  private(set) var followsRejection = false
  /// Whether an API has rejected this grant, which cannot be renewed and is not known to be accepted elsewhere. If
  /// so, the status advises a sign-in.
  var isRejected = false
  /// How reliable the grant's times are.
  private(set) var timing: GrantTiming
  var isExpiryPublished = false

  package var grant: Grant { credential.grant }

  /// The newest grant, even if it is still being written to disk.
  var newest: Credential { if case .storing(let next, _) = phase { next } else { credential } }

  /// How reliable the newest grant's times are.
  var newestTiming: GrantTiming { timing.of(newest.grant, after: grant) }

  /// The credential to store. Times that were read from disk are stored unchanged, even if the clock has been set
  /// since.
  var stored: Credential {
    var stored = credential
    stored.grant = timing.unsettled(grant)
    return stored
  }

  /// Adjusts the times after the clock was set. A grant that this process received keeps its remaining lifetime. For
  /// times from disk that are not certain, the earlier possible expiry counts.
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

  /// Adjusts the times to the provider's clock, which is ahead by `skew`, to find out whether a grant that cannot be
  /// renewed has expired.
  mutating func compare(providerAhead skew: Duration, at now: Timestamp) {
    timing.settle(&credential.grant, providerAhead: skew)
    correctIssueTime(at: now)
  }

  /// Corrects a grant that appears to have been issued in the future because a clock is or was wrong. The grant then
  /// lasts at most its lifetime from now. If the clock is off by more than `GrantClock.tolerance`, a refresh is due
  /// immediately, and a grant with uncertain times counts as expired until the provider has responded.
  mutating func correctIssueTime(at now: Timestamp) {
    let ahead = grant.issuedAt - now
    guard ahead > .zero else { return }
    let isFar = ahead > GrantClock.tolerance
    let planStep = timing.settle(&credential.grant, issuedAhead: ahead, mayBeOver: isFar && !timing.access.isCertain)
    refreshAt = refreshAt.map { isFar ? Swift.min($0, now) : $0 + planStep }
  }
}

/// What is known about the stored grant's times and its rejection while no grant is in memory.
struct RecalledGrant: Hashable, Sendable {
  /// The last grant that was wiped from memory, without its tokens.
  private(set) var wiped: ActiveGrant?
  /// How much the clock was adjusted after the stored grant's times were recorded.
  private(set) var clockStep: ClockStep?
  /// The token that an API had rejected before this process started.
  private(set) var rejected: Fingerprint?

  mutating func restore(_ remembered: RememberedAccount) {
    (clockStep, rejected) = (remembered.clockStep, remembered.rejected)
  }

  mutating func wipe(_ active: ActiveGrant) { wiped = active.wiped }

  /// Returns the grant to use for a credential that was read from disk.
  func grant(_ credential: Credential) -> ActiveGrant {
    if let restored = wiped?.restored(credential) { return restored }
    var read = ActiveGrant(credential: credential, isStored: true, timing: .read)
    if let clockStep, clockStep.token == credential.grant.accessToken.fingerprint { read.move(by: clockStep.step) }
    return read
  }

  mutating func move(by step: Duration) {
    wiped?.move(by: step)
    clockStep?.add(step)
  }
}

/// Grants that a lock wipes from memory.
extension ActiveGrant {
  /// The grant without its tokens, but with their fingerprints. Hearth keeps adjusting its times.
  fileprivate var wiped: ActiveGrant {
    func wiped(_ token: Token) -> Token { Token(secret: Secret(""), fingerprint: token.fingerprint) }
    var active = self
    active.credential.grant.accessToken = wiped(grant.accessToken)
    active.credential.grant.refreshToken = grant.refreshToken.map(wiped)
    active.credential.grant.idToken = grant.idToken.map(wiped)
    return active
  }

  /// Returns this wiped grant with its tokens and its adjusted times, or `nil` if `credential` is a different grant.
  func restored(_ credential: Credential) -> ActiveGrant? {
    guard GrantMarks(credential.grant) == GrantMarks(grant) else { return nil }
    var active = self
    active.credential = credential
    active.credential.grant.issuedAt = grant.issuedAt
    active.credential.grant.expiresAt = grant.expiresAt
    active.credential.grant.refreshExpiresAt = grant.refreshExpiresAt
    active.isStored = isStored || active.stored == credential
    (active.accessFailure, active.newerFormat) = (nil, nil)
    return active
  }
}

/// The phase of a grant's refresh, with these transitions:
///
///     idle → inFlight
///     inFlight → inFlight                    the response was lost, and the request is repeated once
///     inFlight → idle                        the request failed, was not sent, or only asked for the time
///     inFlight → storing → idle              the write of the new grant has succeeded or failed
///     inFlight → confirming                  the provider permanently rejected the token
///
/// A grant leaves `confirming` when the session ends or another grant replaces it.
package enum RefreshPhase: Hashable, Sendable {
  case idle
  /// `isRepeated` is true if this request repeats a request whose response was lost. Hearth repeats a request only
  /// once.
  case inFlight(isRepeated: Bool)
  /// The provider has returned a new grant, which is not visible until its write to disk has ended. If `error` is not
  /// `nil`, the token cannot be used, but the grant must still be saved.
  case storing(Credential, error: RefreshFailure?)
  /// The provider has permanently rejected the token. The file is read once more, in case another program has replaced
  /// the grant.
  case confirming(EndReason)

  var isInFlight: Bool { if case .inFlight = self { true } else { false } }

  var isStoring: Bool { if case .storing = self { true } else { false } }

  var isConfirming: Bool { if case .confirming = self { true } else { false } }
}
