/// The status of a session, without secrets. The token's health and remaining time are calculated when they are
/// needed.
package struct SessionStatus: Hashable, Sendable {
  package var account: AccountName
  package var subject: Subject?
  /// The subject under which this user's items may have been stored before the provider named the user or the issuer,
  /// or `nil` if there is none. Not sent to clients.
  package var formerSubject: Subject?
  /// The configured issuer, which clients see while the subject is unknown.
  package var issuer: String?
  package var username: String?
  package var state: SessionState
  /// A sentence about the state and what to do.
  package var message: String
  package var action: SessionState.Action?
  package var since: Timestamp
  /// Whether the grant came from a provider other than the configured one. If so, Hearth does not send the grant
  /// anywhere. Not sent to clients.
  package var isForeign = false
  /// Whether the account is locked. `state` does not show this after the session has ended. Not sent to clients.
  package var isLocked = false
  package var token: TokenLife?
  package var isRefreshing = false
  package var history = RefreshHistory()
  package var nextAttemptAt: Timestamp?
  package var isReadable: Bool
  package var isWritePending = false
  package var credentialError: String?
  package var signIn: SignInProgress?

  package struct TokenLife: Hashable, Sendable {
    package enum Health: String, Sendable, CaseIterable {
      case fresh, expiring, expired
    }

    package var fingerprint: Fingerprint
    /// The token's lifetime when it was issued, or `nil` if its expiry is unknown.
    package var lifetime: Duration?
    package var expiresAt: Timestamp?
    package var refreshAt: Timestamp?
    package var refreshExpiresAt: Timestamp?
    package var isRenewable: Bool
    /// Whether an API has rejected the token. If so, the token is withheld and counts as expired. Not sent to clients.
    package var isRejected = false
    /// The time from which the token counts as expiring.
    package var expiringFrom: Timestamp?
    /// The health that the daemon has reported to a client, or `nil` in the daemon itself.
    package var reportedHealth: Health?
    /// The remaining time that the daemon has reported with the health.
    package var reportedRemaining: Duration?

    /// Returns the token's health at `now`. In a client, returns the health that the daemon reported.
    package func health(at now: Timestamp) -> Health {
      if let reportedHealth { return reportedHealth }
      if isRejected { return .expired }
      if let expiresAt, expiresAt <= now { return .expired }
      return expiringFrom.map { $0 <= now } ?? false ? .expiring : .fresh
    }

    /// Returns how long the token is still valid, or `nil` if its expiry is unknown. In a client, returns the time
    /// that the daemon reported.
    package func remaining(at now: Timestamp) -> Duration? {
      if reportedHealth != nil { return reportedRemaining }
      return expiresAt.map { isRejected ? .zero : Swift.max($0 - now, .zero) }
    }
  }
}

extension SessionStatus {
  /// Creates a status without any details.
  package init(account: AccountName, state: SessionState, message: String, since: Timestamp, isReadable: Bool) {
    self.init(
      account: account, state: state, message: message, since: since, isForeign: false, isReadable: isReadable)
  }
}

extension SessionStatus.TokenLife {
  /// Creates the value in a client, from the health and remaining time that the daemon reported.
  package init(_ fingerprint: Fingerprint, health: Health, remaining: Duration?) {
    self.init(fingerprint: fingerprint, isRenewable: false, reportedHealth: health, reportedRemaining: remaining)
  }
}
