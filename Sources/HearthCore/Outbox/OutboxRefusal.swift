/// Why an item cannot be cancelled or retried, derived from its shown state.
package struct OutboxRefusal: Hashable, Sendable, CustomStringConvertible {
  package var state: OutboxItem.State
  package var reason: OutboxItem.Reason?

  package init(_ state: OutboxItem.State, _ reason: OutboxItem.Reason? = nil) {
    (self.state, self.reason) = (state, reason)
  }

  /// A sentence for people that says what they can do.
  package var description: String {
    switch (state, reason) {
    case (.pending, _): "The item is pending; it is sent without being retried."
    case (.waiting, _): "The item is waiting for its next attempt; flush the outbox to have it tried now."
    case (.inFlight, _): "The item is in flight: its request may have left. Wait for what comes of it."
    case (.held, .otherUser):
      "The item is held, for it is another user's; it is sent once that user signs in again. Cancel it if it is not "
        + "to be sent."
    case (.held, .originNotConfigured):
      "The item is held, for its account is not configured; it goes on once that is. Cancel it if it is not to be sent."
    case (.held, _): "The item is held; retry it, or cancel it."
    case (.delivered, _): "The item is delivered."
    case (.dead, .expired): "The item is dead, for its time is over (expiresAt); enqueue it anew to have it sent."
    case (.dead, _): "The item is dead; retry it, or cancel it."
    case (.cancelled, _): "The item is cancelled; enqueue it anew to have it sent."
    case (.superseded, _): "The item is superseded; another one has taken its place."
    }
  }
}
