/// Starts a session from what Hearth remembers about the account.
extension SessionMachine {
  mutating func started(_ remembered: RememberedAccount, at now: Timestamp) {
    isStarted = true
    file.read.end()
    file.read.request()
    // A sign-out does not remove the lock, so restore it in every state.
    if remembered.lockedByUser { locks.restore() }
    refreshes.restoreBar(remembered.barred)
    (clockStep, rejected) = (remembered.clockStep, remembered.rejected)
    switch credentialState {
    case .notHeld(.unread), .notHeld(.unreadable): break
    case .notHeld(.locked), .active, .starting, .adopting, .ending, .ended, .absent: return
    }
    subject = remembered.subject ?? settings.configuredSubject
    if let end = remembered.end, !isRecoverable(end.reason) {
      if end.reason == .signedOut { subject = settings.configuredSubject }
      credentialState = CredentialState(end)
      published.restore(end)
    }
  }

  /// Returns whether the client requests its own grant again after this end.
  func isRecoverable(_ end: EndReason) -> Bool {
    switch end {
    case .signedOut, .rejectedByServer, .credentialTooNew: false
    case .refreshTokenRejected, .refreshTokenExpired, .noRefreshToken, .accountDisabled, .credentialMissing,
      .credentialCorrupt:
      settings.renewsWithoutRefreshToken
    }
  }
}
