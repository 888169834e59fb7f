/// The start of a session: what is remembered about the account.
extension SessionMachine {
  mutating func started(_ remembered: RememberedAccount, at now: Timestamp) {
    isStarted = true
    file.read.end()
    file.read.request()
    // This also applies after a sign-out, which leaves the lock.
    if remembered.lockedByUser { locks.restore() }
    refreshes.restoreBar(remembered.barred)
    (clockStep, rejected) = (remembered.clockStep, remembered.rejected)
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
}
