package import HearthControl
package import HearthCore

extension OutboxItem {
  /// The item as clients see it.
  package var report: OutboxItemReport {
    OutboxItemReport(
      id: id, account: account.description, subject: subject?.id, lane: lane, method: method, url: url,
      state: state.rawValue, reason: reason?.rawValue, attempts: attempts, createdAt: createdAt.description,
      nextAttemptAt: nextAttemptAt?.description, lastStatus: lastStatus, lastError: lastError,
      idempotencyKey: idempotencyKey, bytes: bytes)
  }
}

extension OutboxStats {
  /// The counts as clients see them.
  package var report: OutboxStatsReport {
    OutboxStatsReport(
      pending: pending, inFlight: inFlight, waiting: waiting, held: held, delivered: delivered, dead: dead,
      bytes: bytes, oldestPendingAt: oldestPendingAt?.description, paused: isPaused, pausedReason: pausedReason)
  }
}

extension OutboxEvent {
  /// The notification that tells it.
  package var news: EventHub.News {
    switch self {
    case .enqueued(let item): item.news(.outboxEnqueued)
    case .delivered(let item): item.news(.outboxDelivered)
    case .retrying(let item): item.news(.outboxRetrying)
    case .dead(let item): item.news(.outboxDead)
    case .held(let item): item.news(.outboxHeld)
    case .paused(let account, let reason): Self.news(.outboxPaused, account, reason)
    case .resumed(let account, let reason): Self.news(.outboxResumed, account, reason)
    }
  }

  private static func news(_ event: Event, _ account: AccountName, _ reason: String) -> EventHub.News {
    EventHub.News(
      event, topic: .outbox, account: account,
      params: ["account": .string(account.description), "reason": .string(reason)])
  }
}

extension OutboxItem {
  fileprivate func news(_ event: Event) -> EventHub.News {
    EventHub.News(event, topic: .outbox, account: account, params: ["item": report.json])
  }
}

extension SessionStatus {
  /// What the session means for the account's outbox.
  package var outboxPermission: OutboxPermission {
    switch state {
    case .authenticated where isForeign: .blocked(reason: SessionState.Action.fixConfiguration.rawValue)
    case .authenticated: .sendable(under: subject)
    case .unauthenticated(let signedOut): .blocked(reason: signedOut ? "signedOut" : "neverSignedIn")
    case .hydrating, .locked, .reauthRequired: .blocked(reason: state.name)
    }
  }
}
