/// How many items there are in which state, of one account or of all.
package struct OutboxStats: Hashable, Sendable {
  package var pending = 0
  package var inFlight = 0
  package var waiting = 0
  package var held = 0
  package var delivered = 0
  package var dead = 0
  /// The bytes of the bodies, headers and URLs that are kept.
  package var bytes = 0
  package var oldestPendingAt: Timestamp?
  package var isPaused = false
  package var pausedReason: String?
  /// Why the outbox cannot be written now, and nothing is sent meanwhile, or what was lost in this run, as sentences for
  /// people.
  package var trouble: String?

  package init() {}

  /// The sum with the `new` counts of an account in place of its `old` ones. `oldestPendingAt` is only brought forward.
  package func replacing(_ old: Self, by new: Self) -> Self {
    var sum = adding(new)
    sum.pending -= old.pending
    sum.inFlight -= old.inFlight
    sum.waiting -= old.waiting
    sum.held -= old.held
    sum.delivered -= old.delivered
    sum.dead -= old.dead
    sum.bytes -= old.bytes
    return sum
  }

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
