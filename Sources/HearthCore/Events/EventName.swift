/// The name of an event. The raw value appears in notifications to subscribers and in the journal (HEARTH_EVENT).
/// `systemd/hearth.catalog` explains each event that is written to the journal.
package enum EventName: String, CaseIterable, Sendable {
  case daemonStarted = "daemon.started"
  case daemonStopping = "daemon.stopping"
  case daemonReloaded = "daemon.reloaded"
  case daemonConfigurationRefused = "daemon.configurationRefused"
  /// A log message that has no more specific event name.
  case daemonNotice = "daemon.notice"
  case sessionChanged = "session.changed"
  case sessionRefreshed = "session.refreshed"
  case sessionRefreshFailed = "session.refreshFailed"
  case sessionReauthRequired = "session.reauthRequired"
  case sessionExpiring = "session.expiring"
  case sessionSignedIn = "session.signedIn"
  case sessionSignedOut = "session.signedOut"
  case apiUnauthorized = "api.unauthorized"
  case credentialUnreadable = "credential.unreadable"
  case credentialReadable = "credential.readable"
  case credentialSetAside = "credential.setAside"
  case credentialPendingWrite = "credential.pendingWrite"
  case outboxPaused = "outbox.paused"
  case outboxResumed = "outbox.resumed"
  case outboxItemDead = "outbox.itemDead"
  case outboxItemHeld = "outbox.itemHeld"
  case outboxEnqueued = "outbox.enqueued"
  case outboxDelivered = "outbox.delivered"
  case outboxRetrying = "outbox.retrying"
  case outboxDead = "outbox.dead"
  case outboxHeld = "outbox.held"
  case eventsClosed = "events.closed"

  /// The event's MESSAGE_ID in the journal (systemd.journal-fields(7)), or `nil` for an event that is sent only to
  /// subscribers. These identifiers must never change.
  package var messageID: String? {
    switch self {
    case .daemonStarted: "8814652a85af47f38e677c6b044aee8a"
    case .daemonStopping: "591fb050d91a47c2a615b4bcfe5540ec"
    case .daemonReloaded: "29b9a37f55b243349f347020ceaaa486"
    case .daemonConfigurationRefused: "9a1c6a756eec4f9baef3c46258df2a10"
    case .daemonNotice: "7eff0952448b4e03bfec1ecf0d2f9d2b"
    case .sessionChanged: "80051098b7494ad583e56feb21ab8b50"
    case .sessionRefreshed: "dd4be69c348a4543baa2115f04a66f21"
    case .sessionRefreshFailed: "1a4827964155418b9365038cb61ef0be"
    case .sessionReauthRequired: "e62eb49e415944248ceb38c660b1e463"
    case .sessionExpiring: "cb95c8ce3f284d4ebe7fec793764cff1"
    case .sessionSignedIn: "8f852d47528649a1b151988fb39c8e63"
    case .sessionSignedOut: "2f5180462f184958a17d33a85c0b6236"
    case .apiUnauthorized: "0a56b4f7fef54bf38cecc950f28c0ae9"
    case .credentialUnreadable: "be4670facd6e44a49b90df0e7adac229"
    case .credentialReadable: "d642b376cf0f40c68154ffef8a44e4df"
    case .credentialSetAside: "994f0a625ed04dfab3ebdb41f5a11bc1"
    case .credentialPendingWrite: "a023a5dff0594e56a13776db054763e7"
    case .outboxPaused: "94a81135090f4c19b66dcc03179ac9b1"
    case .outboxResumed: "ce1a553cefa64a02b67ff286d3ddd21d"
    case .outboxItemDead: "21a32f1266e0486bbbb76f04887b0276"
    case .outboxItemHeld: "2f31c62f9a904d42adc0465bd7cdca11"
    case .outboxEnqueued, .outboxDelivered, .outboxRetrying, .outboxDead, .outboxHeld, .eventsClosed: nil
    }
  }
}

/// A change in a session, for subscribers and the journal.
package enum SessionEvent: Hashable, Sendable {
  case changed(from: SessionState, to: SessionState)
  case refreshed(Fingerprint, previous: Fingerprint, expiresAt: Timestamp?)
  case refreshFailed(message: String, failures: Int)
  /// `final` is true if no refresh can replace the token before it expires.
  case expiring(at: Timestamp, final: Bool)
  case signedIn(Subject?)
  case signedOut(Subject?)
  case unauthorized(APIRejection)
  case credentialUnreadable(AccessFailure)
  case credentialReadable
  /// `name` is the file's new path.
  case credentialSetAside(name: String, why: String)
  case credentialPendingWrite(AccessFailure)
  /// The status changed but the state did not, for example because another program's grant is now in use.
  case statusChanged

  package var isSignIn: Bool { if case .signedIn = self { true } else { false } }

  /// Whether an authenticated session has ended, so that the user has to sign in again.
  package var isEndOfUse: Bool {
    if case .changed(from: .authenticated, to: .reauthRequired) = self { true } else { false }
  }
}
