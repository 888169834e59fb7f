package import HearthControl
package import HearthCore

extension SessionStatus {
  /// The status as clients see it at `now`. `issuer`: the configured one, where the session does not tell.
  package func report(issuer: String?, at now: Timestamp) -> SessionStatusReport {
    SessionStatusReport(
      account: account.description, subject: subject?.id, issuer: subject?.issuer ?? issuer, state: state.name,
      reason: state.reason, message: message, action: action?.rawValue, route: state.route,
      since: since.description, token: token?.report(at: now),
      refresh: SessionStatusReport.Refresh(
        inFlight: isRefreshing, failures: history.failures, lastAt: history.lastAt?.description,
        lastResult: history.lastOutcome?.rawValue, nextAttemptAt: nextAttemptAt?.description,
        lastError: history.lastError),
      credential: SessionStatusReport.Credential(
        readable: isReadable, pendingWrite: isWritePending, error: credentialError))
  }
}

extension SessionStatus.TokenLife {
  fileprivate func report(at now: Timestamp) -> SessionStatusReport.Token {
    SessionStatusReport.Token(
      expiresAt: expiresAt?.description,
      remainingSeconds: expiresAt.map { Swift.max(Int(($0 - now).components.seconds), 0) },
      lifetimeSeconds: expiresAt.map { Int(($0 - issuedAt).components.seconds) },
      refreshAt: refreshAt?.description, refreshExpiresAt: refreshExpiresAt?.description,
      health: health(at: now).rawValue, fingerprint: fingerprint.description)
  }
}
