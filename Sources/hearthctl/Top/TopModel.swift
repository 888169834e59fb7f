import HearthControl
import HearthCore

/// The accounts and events that `hearthctl top` shows.
struct TopModel {
  private static let eventsKept = 100

  let startedAt: Timestamp
  private(set) var accounts: [TopAccount] = []
  /// The events, newest last.
  private(set) var events: [EventLine] = []
  /// The latest message about an action that the user started.
  var message = ""
  private var selected: AccountName?

  init(at now: Timestamp) { startedAt = now }

  var selection: Int? {
    accounts.isEmpty ? nil : accounts.firstIndex { $0.session.account == selected } ?? 0
  }

  var chosen: TopAccount? { selection.map { accounts[$0] } }

  mutating func choose(_ step: Int) {
    guard let selection else { return }
    selected = accounts[min(max(selection + step, 0), accounts.count - 1)].session.account
  }

  /// Updates the accounts from the daemon's data.
  mutating func observe(_ sessions: [(SessionStatus, OutboxStats)], at now: Timestamp) {
    accounts = sessions.map { session, outbox in
      guard var known = accounts.first(where: { $0.session.account == session.account }) else {
        return TopAccount(session, outbox, at: now)
      }
      known.observe(session, outbox, at: now)
      return known
    }
  }

  mutating func note(_ notification: Notification, at now: Timestamp) {
    events = (events + [EventLine(notification, time: now.timeOfDay)]).suffix(Self.eventsKept)
  }
}

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
