import HearthControl
package import HearthCore
import Logging

/// An outbox event. Changes to items are published once they are on disk.
package enum OutboxEvent: Hashable, Sendable {
  case enqueued(OutboxItem)
  case delivered(OutboxItem)
  case retrying(OutboxItem)
  case dead(OutboxItem)
  case held(OutboxItem)
  case paused(AccountName, reason: String)
  case resumed(AccountName, reason: String)

  /// Creates the event for an item that has just entered its state. Returns `nil` if entering that state is not an
  /// event.
  init?(_ item: OutboxItem) {
    switch item.state {
    case .delivered: self = .delivered(item)
    case .waiting: self = .retrying(item)
    case .dead: self = .dead(item)
    case .held: self = .held(item)
    case .pending, .inFlight, .cancelled, .superseded: return nil
    }
  }
}

extension OutboxEvent {
  var publication: Publication {
    switch self {
    case .enqueued(let item): item.publication(.outboxEnqueued)
    case .delivered(let item): item.publication(.outboxDelivered)
    case .retrying(let item): item.publication(.outboxRetrying)
    case .dead(let item): item.publication(.outboxDead, recordedAs: .outboxItemDead)
    case .held(let item): item.publication(.outboxHeld, recordedAs: .outboxItemHeld)
    case .paused(let account, let reason):
      Self.publication(.outboxPaused, account, reason, "Paused sending for \(account) (\(reason)).")
    case .resumed(let account, let reason):
      Self.publication(.outboxResumed, account, reason, "Resumed sending for \(account).")
    }
  }

  private static func publication(
    _ name: EventName, _ account: AccountName, _ reason: String, _ message: String
  ) -> Publication {
    Publication(
      records: [
        JournalRecord(
          name: name, level: .notice, message: message, account: account, fields: ["HEARTH_REASON": reason])
      ],
      notification: EventNotification(
        name: name, topic: .outbox, account: account,
        params: OutboxPause(account: account, reason: reason)))
  }
}

extension OutboxItem {
  /// Returns the publication. `recordName` is the event's name in the journal, or `nil` if only subscribers are
  /// notified.
  fileprivate func publication(_ name: EventName, recordedAs recordName: EventName? = nil) -> Publication {
    let reason = reason?.rawValue ?? ""
    let record = recordName.map { recordName in
      JournalRecord(
        name: recordName, level: .warning, message: "Item \(id) is \(state.rawValue): \(reason).", account: account,
        // Give every field a value, because the journal's message catalog quotes all of these fields.
        fields: ["HEARTH_REASON": reason, "HEARTH_ITEM": id, "HEARTH_STATUS": lastStatus.map(String.init) ?? "none"])
    }
    return Publication(
      records: record.map { [$0] } ?? [],
      notification: EventNotification(name: name, topic: .outbox, account: account, params: ItemChange(item: self)))
  }
}
