import HearthCore

/// An account in the live picture: its state, and what was seen of it.
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

  /// The number of undelivered items in the outbox, including those that need a person.
  var depth: Int { outbox.pending + outbox.inFlight + outbox.waiting + outbox.held }

  /// Counts the changes since the last call.
  mutating func observe(_ next: SessionStatus, _ stats: OutboxStats, at now: Timestamp) {
    let (history, before) = (next.history, session.history)
    let isNew = history.lastAt != nil && history.lastAt != before.lastAt
    refreshes.add(isNew && history.lastOutcome == .success ? 1 : 0, at: now)
    failures.add(max(history.failures - before.failures, isNew && history.lastOutcome != .success ? 1 : 0), at: now)
    // Delivered items are eventually removed, which lowers their number.
    sent.add(max(stats.delivered - outbox.delivered, 0), at: now)
    (session, outbox) = (next, stats)
    queued.see(depth, at: now)
  }
}
