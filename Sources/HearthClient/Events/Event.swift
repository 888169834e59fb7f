import HearthControl
import HearthCore

extension HearthClient {
  /// What happens at the daemon.
  public enum Event: Sendable {
    /// How things are, before all that follows: what was known before is out of date. It comes first, after the daemon was
    /// away, and where events were missed.
    case snapshot(sessions: [Session], outbox: Outbox)
    case sessionChanged(Session)
    case tokenRefreshed(account: String, fingerprint: String, previous: String, expiresAt: Time?)
    /// Refreshing keeps failing or, where it is `final`, cannot prevent it.
    case tokenExpiring(account: String, expiresAt: Time, final: Bool)
    case signedOut(account: String)
    /// An item was queued, delivered, is tried again, is dead or held: its state tells.
    case itemChanged(Item)
    case outboxPaused(account: String, reason: String)
    case outboxResumed(account: String)
    case configurationReloaded
    /// One that this version does not know.
    case other(name: String)
    /// Nothing can be heard of the daemon; it is tried again and again, and a snapshot comes when it is back. Told once.
    case unavailable(Failure)

    /// It is nil for what means nothing to a program.
    init?(_ step: EventFollower.Step) {
      switch step {
      case .snapshot(let value):
        self = .snapshot(sessions: value.sessions.map { Session(value: $0) }, outbox: Outbox(value: value.outbox))
      case .notification(let notification):
        guard notification.event != .eventsClosed else { return nil }
        self = Self.known(notification) ?? .other(name: notification.method)
      }
    }

    /// It is nil for an event that this version does not know.
    private static func known(_ notification: Notification) -> Event? {
      guard let name = notification.event, let type = name.params,
        let value = type.init(json: .object(notification.params))
      else { return nil }
      return switch value {
      case let change as SessionChange: .sessionChanged(Session(value: change.session))
      case let refresh as TokenRefresh:
        .tokenRefreshed(
          account: "\(refresh.account)", fingerprint: "\(refresh.fingerprint)",
          previous: "\(refresh.previousFingerprint)", expiresAt: refresh.expiresAt.map(Time.init))
      case let expiry as TokenExpiry:
        .tokenExpiring(account: "\(expiry.account)", expiresAt: Time(expiry.expiresAt), final: expiry.isFinal)
      case let end as AccountSignedOut: .signedOut(account: "\(end.account)")
      case let change as ItemChange: .itemChanged(Item(value: change.item))
      case let pause as OutboxPause where name == .outboxPaused:
        .outboxPaused(account: "\(pause.account)", reason: pause.reason)
      case let pause as OutboxPause: .outboxResumed(account: "\(pause.account)")
      case is Empty where name == .daemonReloaded: .configurationReloaded
      default: nil
      }
    }
  }
}
