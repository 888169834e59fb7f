/// How many items there are in which state, of one account or of all.
package struct OutboxStats: Hashable, Sendable {
  package var pending = 0
  package var inFlight = 0
  package var waiting = 0
  package var held = 0
  package var delivered = 0
  package var dead = 0
  /// Of bodies and headers that are kept.
  package var bytes = 0
  package var oldestPendingAt: Timestamp?
  package var isPaused = false
  package var pausedReason: String?

  package init() {}
}
