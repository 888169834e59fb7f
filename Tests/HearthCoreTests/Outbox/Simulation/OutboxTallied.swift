/// What is counted in a history of the outbox's machine.
enum OutboxTallied: Hashable, Sendable {
  case request, crash, powerLoss, stop, call, storeFailure, revokedClaim, unwrittenOutcome, flush, override
  /// An item's state at the end.
  case item(String)
}
