import HearthCore

/// What is counted of a history of the outbox with its sessions.
enum OutboxTallied: Hashable, Sendable {
  case request, crash, lostCall, unanswered, notSent, signIn
  case answered(Int)
  case ended(EndReason)
  /// An item's state and reason at the end.
  case item(String)
}
