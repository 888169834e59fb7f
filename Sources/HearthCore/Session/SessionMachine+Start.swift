/// The start of a session: what is remembered about the account, and what the previous session hands over.
extension SessionMachine {
  mutating func started(_ remembered: RememberedAccount, at now: Timestamp) {
    isStarted = true
    file.read.end()
    file.read.request()
    // This also applies after a sign-out, which leaves the lock.
    if remembered.lockedByUser { locks.restore() }
    refreshes.restoreBar(remembered.barred)
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
    if let unwritten = remembered.unwritten { inherit(unwritten, at: now) }
  }

  /// Whether a client that needs no user to sign in requests its own grant again after this end.
  func isRecoverable(_ end: EndReason) -> Bool {
    switch end {
    case .signedOut, .rejectedByServer, .credentialTooNew: false
    case .refreshTokenRejected, .refreshTokenExpired, .noRefreshToken, .accountDisabled, .credentialMissing,
      .credentialCorrupt:
      settings.renewsWithoutRefreshToken
    }
  }

  /// Keeps in memory what the previous session could not write, even under a lock: it is nowhere else, and is wiped
  /// once it is on disk. It is newer than any end on record, since a session that has ended or was signed out hands
  /// nothing over. The clock may have been set in between, so its times are treated like times that were read.
  private mutating func inherit(_ unwritten: UnwrittenGrant, at now: Timestamp) {
    file.onDisk = unwritten.onDisk
    subject = unwritten.credential.subject ?? subject
    activate(unwritten.credential, isStored: false, .read, at: now)
    active?.correctIssueTime(at: now)
  }

  /// What would be lost if no session inherited it, or nil if everything is on disk.
  package var unwritten: UnwrittenGrant? {
    switch credentialState {
    case .adopting(let adoption):
      return UnwrittenGrant(credential: adoption.credential, onDisk: file.onDisk)
    case .active(let active):
      guard active.phase.isStoring || !active.isStored else { return nil }
      return UnwrittenGrant(credential: active.newest, onDisk: file.onDisk)
    case .unread, .withheld, .unreadable, .starting, .ending, .ended, .absent: return nil
    }
  }
}

/// The newest grant of a session that ended before it could be written, for the session that follows.
package struct UnwrittenGrant: Hashable, Sendable {
  package let credential: Credential
  /// The older grant on disk.
  let onDisk: GrantMarks?
}
