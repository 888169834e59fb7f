import HearthControl
import HearthCore

extension HearthClient {
  /// An event of the daemon.
  public enum Event: Sendable {
    /// The state of everything before the events that follow. It replaces all earlier state. It comes first, after the
    /// daemon was away, and after events were missed.
    case snapshot(sessions: [Session], outbox: Outbox)
    case sessionChanged(Session)
    case tokenRefreshed(account: String, fingerprint: String, previous: String, expiresAt: Time?)
    /// The token is about to expire, because refreshing keeps failing or, if `final`, cannot prevent it.
    case tokenExpiring(account: String, expiresAt: Time, final: Bool)
    case signedOut(account: String)
    /// An item was queued, delivered, delayed for a retry, given up or held, as its state says.
    case itemChanged(Item)
    case outboxPaused(account: String, reason: String)
    case outboxResumed(account: String)
    case configurationReloaded
    /// An event that this version does not know.
    case other(name: String)
    /// The daemon cannot be reached. Hearth keeps trying, and a snapshot follows once it is back. Reported once.
    case unavailable(Failure)

    /// Returns `nil` for steps that mean nothing to a program.
    init?(_ step: EventFollower.Step) {
      switch step {
      case .snapshot(let value):
        self = .snapshot(sessions: value.sessions.map { Session(value: $0) }, outbox: Outbox(value: value.outbox))
      case .notification(let notification):
        guard notification.event != .eventsClosed else { return nil }
        self = Self.known(notification) ?? .other(name: notification.method)
      }
    }

    /// The event, or `nil` if this version does not know it.
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
