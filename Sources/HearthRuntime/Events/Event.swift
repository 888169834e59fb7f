import HearthControl
package import HearthCore

/// Everything that subscribers or the journal are told, each with what belongs to it.
package enum Event: Sendable {
  case started(version: String)
  case stopping(version: String)
  case reloaded(version: String)
  /// The configuration cannot be used; the sentence says why.
  case configurationRefused(String)
  /// With the status after it.
  case session(SessionEvent, SessionStatus)
  /// Clients see another session than before: its status, and the state before it.
  case sessionStatus(SessionStatus, previous: SessionState)
  case outbox(OutboxEvent)
}

/// One notification before it is numbered and addressed.
struct EventNotification {
  let name: EventName
  let topic: EventTopic
  /// Nil: it is about no account, and every subscriber of the topic is sent it.
  var account: AccountName?
  var params: JSONObject = [:]
}

extension Event {
  /// What subscribers are sent; nil for what only the journal is told. `now`: the time of the event.
  func notification(at now: Timestamp) -> EventNotification? {
    switch self {
    case .started, .stopping, .configurationRefused: nil
    case .reloaded: EventNotification(name: .daemonReloaded, topic: .daemon)
    case .session(let event, let status): event.notification(of: status.account)
    case .sessionStatus(let status, let previous):
      EventNotification(
        name: .sessionChanged, topic: .session, account: status.account,
        params: ["session": status.json(at: now), "previous": .string(previous.name)])
    case .outbox(let event): event.notification
    }
  }
}

extension SessionEvent {
  /// Nil also for what `session.changed` says.
  fileprivate func notification(of account: AccountName) -> EventNotification? {
    let name = JSON.string(account.description)
    func notification(_ event: EventName, _ params: JSONObject) -> EventNotification {
      EventNotification(name: event, topic: .session, account: account, params: params)
    }
    switch self {
    case .refreshed(let fingerprint, let previous, let expiresAt):
      return notification(
        .sessionRefreshed,
        [
          "account": name, "expiresAt": JSON(expiresAt), "fingerprint": .string(fingerprint.description),
          "previousFingerprint": .string(previous.description),
        ])
    case .expiring(let at, let final):
      return notification(.sessionExpiring, ["account": name, "expiresAt": JSON(at), "final": .bool(final)])
    case .signedOut: return notification(.sessionSignedOut, ["account": name])
    case .changed, .refreshFailed, .signedIn, .unauthorized, .credentialUnreadable, .credentialReadable,
      .credentialSetAside, .credentialPendingWrite, .statusChanged:
      return nil
    }
  }
}

extension OutboxEvent {
  fileprivate var notification: EventNotification {
    switch self {
    case .enqueued(let item): item.notification(.outboxEnqueued)
    case .delivered(let item): item.notification(.outboxDelivered)
    case .retrying(let item): item.notification(.outboxRetrying)
    case .dead(let item): item.notification(.outboxDead)
    case .held(let item): item.notification(.outboxHeld)
    case .paused(let account, let reason): Self.notification(.outboxPaused, account, reason)
    case .resumed(let account, let reason): Self.notification(.outboxResumed, account, reason)
    }
  }

  private static func notification(
    _ event: EventName, _ account: AccountName, _ reason: String
  ) -> EventNotification {
    EventNotification(
      name: event, topic: .outbox, account: account,
      params: ["account": .string(account.description), "reason": .string(reason)])
  }
}

extension OutboxItem {
  fileprivate func notification(_ event: EventName) -> EventNotification {
    EventNotification(name: event, topic: .outbox, account: account, params: ["item": json])
  }
}
