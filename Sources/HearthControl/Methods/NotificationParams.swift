package import HearthCore

/// The parameters of notifications, in addition to `subscription`, `seq` and `time`.
extension EventName {
  /// The type of the event's parameters, or `nil` if subscribers do not receive the event.
  package var params: (any WireValue.Type)? {
    switch self {
    case .sessionChanged: SessionChange.self
    case .sessionExpiring: TokenExpiry.self
    case .sessionRefreshed: TokenRefresh.self
    case .sessionSignedOut: AccountSignedOut.self
    case .outboxEnqueued, .outboxDelivered, .outboxRetrying, .outboxDead, .outboxHeld: ItemChange.self
    case .outboxPaused, .outboxResumed: OutboxPause.self
    case .daemonReloaded: Empty.self
    case .eventsClosed: SubscriptionEnd.self
    case .daemonStarted, .daemonStopping, .daemonConfigurationRefused, .daemonNotice, .sessionRefreshFailed,
      .sessionReauthRequired, .sessionSignedIn, .apiUnauthorized, .credentialUnreadable, .credentialReadable,
      .credentialSetAside, .credentialPendingWrite, .outboxItemDead, .outboxItemHeld:
      nil
    }
  }
}

package struct SessionChange: WireValue {
  package static let fields = Fields<SessionChange>(
    .required("session", \.session, .object(SessionStatus.fields)), .required("previous", \.previous, .stateName),
    make: Self.init)

  package let session: SessionStatus
  package let previous: String

  package init(session: SessionStatus, previous: String) {
    (self.session, self.previous) = (session, previous)
  }
}

package struct TokenExpiry: TimelessWireValue {
  package static let fields = Fields<TokenExpiry>(
    .required("account", \.account, .account), .required("expiresAt", \.expiresAt, .time),
    .required("final", \.isFinal, .bool), make: Self.init)

  package let account: AccountName
  package let expiresAt: Timestamp
  /// Whether a refresh cannot prevent the expiry.
  package let isFinal: Bool

  package init(account: AccountName, expiresAt: Timestamp, isFinal: Bool) {
    (self.account, self.expiresAt, self.isFinal) = (account, expiresAt, isFinal)
  }
}

package struct TokenRefresh: TimelessWireValue {
  package static let fields = Fields<TokenRefresh>(
    .required("account", \.account, .account), .optional("expiresAt", \.expiresAt, .time),
    .required("fingerprint", \.fingerprint, .fingerprint),
    .required("previousFingerprint", \.previousFingerprint, .fingerprint), make: Self.init)

  package let account: AccountName
  package let expiresAt: Timestamp?
  package let fingerprint: Fingerprint
  package let previousFingerprint: Fingerprint

  package init(
    account: AccountName, expiresAt: Timestamp?, fingerprint: Fingerprint, previousFingerprint: Fingerprint
  ) {
    (self.account, self.expiresAt) = (account, expiresAt)
    (self.fingerprint, self.previousFingerprint) = (fingerprint, previousFingerprint)
  }
}

package struct AccountSignedOut: TimelessWireValue {
  package static let fields = Fields<AccountSignedOut>(.required("account", \.account, .account), make: Self.init)

  package let account: AccountName
  package init(account: AccountName) { self.account = account }
}

package struct ItemChange: TimelessWireValue {
  package static let fields = Fields<ItemChange>(
    .required("item", \.item, .object(OutboxItem.fields)), make: Self.init)

  package let item: OutboxItem
  package init(item: OutboxItem) { self.item = item }
}

package struct OutboxPause: TimelessWireValue {
  package static let fields = Fields<OutboxPause>(
    .required("account", \.account, .account), .required("reason", \.reason, .text), make: Self.init)

  package let account: AccountName
  package let reason: String

  package init(account: AccountName, reason: String) { (self.account, self.reason) = (account, reason) }
}

/// A notification that a subscription has ended because its subscriber was too slow.
package struct SubscriptionEnd: TimelessWireValue {
  package enum Reason: String, CaseIterable, Sendable {
    case lagged
  }

  package static let fields = Fields<SubscriptionEnd>(.required("reason", \.reason, .choice), make: Self.init)

  package let reason: Reason
  package init(reason: Reason) { self.reason = reason }
}
