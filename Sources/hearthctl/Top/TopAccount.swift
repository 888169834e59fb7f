import HearthCore

/// An account on the live screen, with its current state and its history of the last hour.
struct TopAccount {
  private(set) var session: SessionStatus
  private(set) var outbox = OutboxStats()
  private(set) var refreshes = LastHour()
  private(set) var failures = LastHour()
  private(set) var queued = LastHour()
  private(set) var sent = LastHour()

  init(_ session: SessionStatus, _ outbox: OutboxStats, at now: Timestamp) {
    (self.session, self.outbox) = (session, outbox)
    observe(session, outbox, at: now)
  }

  /// The number of items that wait for delivery or are being delivered, including held items.
  var depth: Int { outbox.pending + outbox.inFlight + outbox.waiting + outbox.held }

  /// Updates the state and counts the changes since the last call.
  mutating func observe(_ next: SessionStatus, _ stats: OutboxStats, at now: Timestamp) {
    let (history, before) = (next.history, session.history)
    let isNew = history.lastAt != nil && history.lastAt != before.lastAt
    refreshes.add(isNew && history.lastOutcome == .success ? 1 : 0, at: now)
    failures.add(max(history.failures - before.failures, isNew && history.lastOutcome != .success ? 1 : 0), at: now)
    // Ignore a decrease, because delivered items are eventually deleted.
    sent.add(max(stats.delivered - outbox.delivered, 0), at: now)
    (session, outbox) = (next, stats)
    queued.see(depth, at: now)
  }
}
