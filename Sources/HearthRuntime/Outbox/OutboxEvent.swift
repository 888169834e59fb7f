package import HearthCore

/// What happened in the outbox, told once it is on disk.
package enum OutboxEvent: Hashable, Sendable {
  case enqueued(OutboxItem)
  case delivered(OutboxItem)
  case retrying(OutboxItem)
  case dead(OutboxItem)
  case held(OutboxItem)
  case paused(AccountName, reason: String)
  case resumed(AccountName, reason: String)

  /// Nil for changes that are not told.
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

/// Whether an account's session lets its items go out.
package enum OutboxPermission: Hashable, Sendable {
  /// Under this subject; nil where the provider tells none.
  case sendable(under: Subject?)
  /// The reason is shown as `pausedReason`: `locked`, `signedOut`, `reauthRequired`, `hydrating` …
  case blocked(reason: String)
}
