/// The reason why an item cannot be cancelled or retried, derived from the state that clients see.
package struct OutboxRefusal: Hashable, Sendable, CustomStringConvertible {
  package var state: OutboxItem.State
  package var reason: OutboxItem.Reason?

  package init(_ state: OutboxItem.State, _ reason: OutboxItem.Reason? = nil) {
    (self.state, self.reason) = (state, reason)
  }

  /// A message that explains the reason and, if the user can do something, what to do.
  package var description: String {
    switch (state, reason) {
    case (.pending, _): "The item is pending and will be sent anyway."
    case (.waiting, _):
      "The item is waiting for its next attempt. To try it now, flush the outbox, unless its notBefore is still ahead."
    case (.inFlight, _): "The item is in flight, so its request may already have been sent. Wait for the result."
    case (.held, .otherUser):
      "The item is held because it belongs to another user. Hearth sends it once that user signs in again. To discard "
        + "it, cancel it."
    case (.held, .originNotConfigured):
      "The item is held because its account is not configured. Hearth sends it once the account is configured again. "
        + "To discard it, cancel it."
    case (.held, _): "The item is held. Retry it or cancel it."
    case (.delivered, _): "The item has already been delivered."
    case (.dead, .expired): "The item is dead because it has expired (expiresAt). Enqueue it again to send it."
    case (.dead, _): "The item is dead. Retry it or cancel it."
    case (.cancelled, _): "The item was cancelled. Enqueue it again to send it."
    case (.superseded, _): "The item has been replaced by another item."
    }
  }
}
