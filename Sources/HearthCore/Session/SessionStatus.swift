/// A session at one moment, without its secrets: what every client is shown.
package struct SessionStatus: Hashable, Sendable {
  package let account: AccountName
  package let subject: Subject?
  /// The same user, by the issuer that was or would have been assumed; nil where the provider has told none, or it is the
  /// same.
  package let formerSubject: Subject?
  package let state: SessionState
  package let message: String
  package let action: SessionState.Action?
  package let since: Timestamp
  /// The grant came from elsewhere than the configuration names: it is sent nowhere.
  package let isForeign: Bool
  package let token: TokenLife?
  package let isRefreshing: Bool
  package let history: RefreshHistory
  package let nextAttemptAt: Timestamp?
  package let isReadable: Bool
  package let isWritePending: Bool
  package let credentialError: String?

  /// The life of the token that is held.
  package struct TokenLife: Hashable, Sendable {
    package let fingerprint: Fingerprint
    package let issuedAt: Timestamp
    package let expiresAt: Timestamp?
    package let refreshAt: Timestamp?
    package let refreshExpiresAt: Timestamp?
    package let isRenewable: Bool
    /// From here on the token counts as expiring.
    package let expiringFrom: Timestamp?

    package enum Health: String, Sendable {
      case fresh, expiring, expired
    }

    package func health(at now: Timestamp) -> Health {
      if let expiresAt, expiresAt <= now { return .expired }
      return expiringFrom.map { $0 <= now } ?? false ? .expiring : .fresh
    }
  }
}
