/// A session without its secrets, as clients see it. It does not change only because time passes.
package struct SessionStatus: Hashable, Sendable {
  package var account: AccountName
  package var subject: Subject?
  /// This user under the issuer that was assumed before the provider named one, if it differs. Not on the wire.
  package var formerSubject: Subject?
  /// The configured issuer, which is used while the subject is unknown.
  package var issuer: String?
  /// The user's name in other programs, from the configuration.
  package var username: String?
  package var state: SessionState
  /// One sentence that says what the state is and what to do.
  package var message: String
  package var action: SessionState.Action?
  package var since: Timestamp
  /// Whether the grant came from a place other than the configured one, so that it is sent nowhere. Not on the wire.
  package var isForeign = false
  package var token: TokenLife?
  package var isRefreshing = false
  package var history = RefreshHistory()
  package var nextAttemptAt: Timestamp?
  package var isReadable: Bool
  package var isWritePending = false
  package var credentialError: String?
  /// The sign-in under way, or `nil`.
  package var signIn: SignInProgress?

  /// The lifetime of the current token.
  package struct TokenLife: Hashable, Sendable {
    package enum Health: String, Sendable, CaseIterable {
      case fresh, expiring, expired
    }

    package var fingerprint: Fingerprint
    /// The token's lifetime when it was new. Like the times below, `nil` if the token has no expiry.
    package var lifetime: Duration?
    package var expiresAt: Timestamp?
    package var refreshAt: Timestamp?
    package var refreshExpiresAt: Timestamp?
    package var isRenewable: Bool
    /// Whether an API has rejected it, so that it is not given out and counts as expired. Not on the wire.
    package var isRejected = false
    /// The time from which the token counts as expiring.
    package var expiringFrom: Timestamp?
    /// In a client, what the daemon reported as of its response. `nil` in the daemon.
    package var reported: Reported?

    package struct Reported: Hashable, Sendable {
      package var health: Health
      package var remaining: Duration?

      package init(health: Health, remaining: Duration?) {
        (self.health, self.remaining) = (health, remaining)
      }
    }

    /// The token's health at `now` or, in a client, as the daemon reported it.
    package func health(at now: Timestamp) -> Health {
      if let reported { return reported.health }
      if isRejected { return .expired }
      if let expiresAt, expiresAt <= now { return .expired }
      return expiringFrom.map { $0 <= now } ?? false ? .expiring : .fresh
    }

    /// How long the token is valid from `now`, or `nil` without expiry. In a client, as the daemon reported it.
    package func remaining(at now: Timestamp) -> Duration? {
      if let reported { return reported.remaining }
      return expiresAt.map { isRejected ? .zero : Swift.max($0 - now, .zero) }
    }
  }
}

extension SessionStatus {
  /// A session about which nothing more is known.
  package init(account: AccountName, state: SessionState, message: String, since: Timestamp, isReadable: Bool) {
    self.init(
      account: account, state: state, message: message, since: since, isForeign: false, isReadable: isReadable)
  }
}

extension SessionStatus.TokenLife {
  /// The lifetime of a token as the daemon reported it.
  package init(_ fingerprint: Fingerprint, reported: Reported) {
    self.init(fingerprint: fingerprint, isRenewable: false, reported: reported)
  }
}
