package import HearthCore

/// An event of the outbox. It is published once it is on disk.
package enum OutboxEvent: Hashable, Sendable {
  case enqueued(OutboxItem)
  case delivered(OutboxItem)
  case retrying(OutboxItem)
  case dead(OutboxItem)
  case held(OutboxItem)
  case paused(AccountName, reason: String)
  case resumed(AccountName, reason: String)

  /// The event of an item that has reached its state; nil for states without an event.
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
