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

  /// With the counts of another account. Whether all are paused is not told by that.
  package func adding(_ other: Self) -> Self {
    var sum = self
    sum.pending += other.pending
    sum.inFlight += other.inFlight
    sum.waiting += other.waiting
    sum.held += other.held
    sum.delivered += other.delivered
    sum.dead += other.dead
    sum.bytes += other.bytes
    sum.oldestPendingAt = [oldestPendingAt, other.oldestPendingAt].compactMap(\.self).min()
    return sum
  }
}
