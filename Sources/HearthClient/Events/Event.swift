import HearthControl
import HearthCore

extension HearthClient {
  /// An element of ``Events``.
  public enum Event: Sendable {
    /// The complete state, which replaces all earlier state. It arrives when the sequence connects, reconnects or has
    /// missed events.
    case snapshot(sessions: [Session], outbox: Outbox)
    case sessionChanged(Session)
    case tokenRefreshed(account: String, fingerprint: String, previous: String, expiresAt: Time?)
    /// The token expires soon. Hearth has not been able to refresh it so far or, if `final` is true, cannot refresh it
    /// at all.
    case tokenExpiring(account: String, expiresAt: Time, final: Bool)
    case signedOut(account: String)
    /// The item was queued, delivered or held, will be retried, or is dead. See ``Item/state``.
    case itemChanged(Item)
    case outboxPaused(account: String, reason: String)
    case outboxResumed(account: String)
    case configurationReloaded
    /// An event that this version does not know.
    case other(name: String)
    /// The daemon is unreachable or refuses the subscription, for example because the account is unknown. The sequence
    /// reports this once and keeps trying. When it succeeds, it continues with a snapshot.
    case unavailable(Failure)

    /// Returns `nil` for `events.closed`, because the next step is a new snapshot.
    init?(_ step: EventFollower.Step) {
      switch step {
      case .snapshot(let value):
        self = .snapshot(sessions: value.sessions.map { Session(value: $0) }, outbox: Outbox(value: value.outbox))
      case .notification(let notification):
        guard notification.event != .eventsClosed else { return nil }
        self = Self.known(notification) ?? .other(name: notification.method)
      }
    }

    /// Returns the event for a notification, or `nil` if this version does not know the event.
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
