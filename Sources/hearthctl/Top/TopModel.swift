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
