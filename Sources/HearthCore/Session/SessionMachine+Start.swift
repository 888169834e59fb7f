/// The start: what is remembered of the account, and what the session before this one hands over.
extension SessionMachine {
  mutating func started(_ remembered: RememberedAccount) {
    isStarted = true
    file.read.end()
    file.read.request()
    // Also after a sign-out, which leaves the lock.
    if remembered.lockedByUser { locks.restore() }
    switch credentialState {
    case .unread, .unreadable: break
    case .withheld, .active, .starting, .adopting, .ending, .ended, .absent: return
    }
    subject = remembered.subject ?? settings.configuredSubject
    if let end = remembered.end, !isRecoverable(end.reason) {
      if end.reason == .signedOut { subject = settings.configuredSubject }
      credentialState = CredentialState(end)
      published.restore(end)
    }
    if let unwritten = remembered.unwritten { inherit(unwritten) }
  }

  /// Whether a client that needs nobody to sign in asks for its own grant again after this end.
  func isRecoverable(_ end: EndReason) -> Bool {
    switch end {
    case .signedOut, .rejectedByServer, .credentialTooNew: false
    case .refreshTokenRejected, .refreshTokenExpired, .noRefreshToken, .accountDisabled, .credentialMissing,
      .credentialCorrupt:
      settings.renewsWithoutRefreshToken
    }
  }

  /// Keeps in memory what the session before could not write, under a lock too: it is nowhere else, and is wiped once it
  /// is on disk. It is newer than any end on record, since a session that has ended or was signed out hands nothing over.
  private mutating func inherit(_ unwritten: UnwrittenGrant) {
    file.onDisk = unwritten.onDisk
    subject = unwritten.credential.subject ?? subject
    activate(unwritten.credential, isStored: false, unwritten.timing)
  }

  /// What would be lost if no session inherited it; nil where all is on disk.
  package var unwritten: UnwrittenGrant? {
    switch credentialState {
    case .adopting(let adoption):
      return UnwrittenGrant(credential: adoption.credential, timing: adoption.timing, onDisk: file.onDisk)
    case .active(let active):
      guard active.phase.isStoring || !active.isStored else { return nil }
      return UnwrittenGrant(credential: active.newest, timing: active.newestTiming, onDisk: file.onDisk)
    case .unread, .withheld, .unreadable, .starting, .ending, .ended, .absent: return nil
    }
  }
}

/// The newest grant of a session that ended before it could be written, for the session that follows at the same place.
package struct UnwrittenGrant: Hashable, Sendable {
  package let credential: Credential
  let timing: GrantTiming
  /// The older one that lies there.
  let onDisk: GrantMarks?
}
