/// A session without its secrets: what every client is shown. It changes with what happens, never with the time alone.
package struct SessionStatus: Hashable, Sendable {
  package var account: AccountName
  package var subject: Subject?
  /// The same user, by the issuer that was or would have been assumed; nil where the provider has named none, or it is the
  /// same. It is not on the wire.
  package var formerSubject: Subject?
  /// The configured issuer, which stands in while the subject is not known.
  package var issuer: String?
  package var state: SessionState
  /// One sentence that says what is and what to do.
  package var message: String
  package var action: SessionState.Action?
  package var since: Timestamp
  /// The grant came from elsewhere than the configuration names: it is sent nowhere. It is not on the wire.
  package var isForeign = false
  package var token: TokenLife?
  package var isRefreshing = false
  package var history = RefreshHistory()
  package var nextAttemptAt: Timestamp?
  package var isReadable: Bool
  package var isWritePending = false
  package var credentialError: String?
  /// The sign-in under way; nil where there is none.
  package var signIn: SignInProgress?

  /// The life of the token that is held.
  package struct TokenLife: Hashable, Sendable {
    package enum Health: String, Sendable, CaseIterable {
      case fresh, expiring, expired
    }

    package var fingerprint: Fingerprint
    /// How long it lasted when it was new; nil where it names no expiry. So for the times below.
    package var lifetime: Duration?
    package var expiresAt: Timestamp?
    package var refreshAt: Timestamp?
    package var refreshExpiresAt: Timestamp?
    package var isRenewable: Bool
    /// An API has rejected it, and it is given to nobody: it counts as expired. It is not on the wire.
    package var isRejected = false
    /// From here on the token counts as expiring.
    package var expiringFrom: Timestamp?
    /// In a client: what the daemon reported, as of its response. Nil in the daemon.
    package var reported: Reported?

    package struct Reported: Hashable, Sendable {
      package var health: Health
      package var remaining: Duration?

      package init(health: Health, remaining: Duration?) {
        self.health = health
        self.remaining = remaining
      }
    }

    /// In a client: as the daemon reported it.
    package func health(at now: Timestamp) -> Health {
      if let reported { return reported.health }
      if isRejected { return .expired }
      if let expiresAt, expiresAt <= now { return .expired }
      return expiringFrom.map { $0 <= now } ?? false ? .expiring : .fresh
    }

    /// How long the token lasts from `now` on, never negative; nil where it names no expiry. In a client: as the daemon
    /// reported it.
    package func remaining(at now: Timestamp) -> Duration? {
      if let reported { return reported.remaining }
      return expiresAt.map { isRejected ? .zero : Swift.max($0 - now, .zero) }
    }
  }
}

extension SessionStatus {
  /// A session of which nothing more is known.
  package init(account: AccountName, state: SessionState, message: String, since: Timestamp, isReadable: Bool) {
    self.init(
      account: account, state: state, message: message, since: since, isForeign: false, isReadable: isReadable)
  }
}

extension SessionStatus.TokenLife {
  /// The life of a token as the daemon reported it.
  package init(_ fingerprint: Fingerprint, reported: Reported) {
    self.init(fingerprint: fingerprint, isRenewable: false, reported: reported)
  }
}
