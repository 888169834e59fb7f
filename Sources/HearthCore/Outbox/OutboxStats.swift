/// Statistics about the items of one account or all accounts.
package struct OutboxStats: Hashable, Sendable {
  package var pending = 0
  package var inFlight = 0
  package var waiting = 0
  package var held = 0
  package var delivered = 0
  package var dead = 0
  /// The total size of the items whose content is stored (body, headers and URL), in bytes.
  package var bytes = 0
  package var oldestPendingAt: Timestamp?
  package var isPaused = false
  package var pausedReason: String?
  /// Sentences that say why the outbox cannot be written to now, or how items were lost since the daemon started.
  package var trouble: String?

  package init() {}

  /// Returns this sum, updated for one account whose counts have changed from `old` to `new`. `oldestPendingAt` can
  /// only become earlier.
  package func replacing(_ old: Self, by new: Self) -> Self {
    var sum = adding(new)
    sum.count(old, times: -1)
    return sum
  }

  /// Returns the sum of these counts and another account's. Ignores the other account's pause.
  package func adding(_ other: Self) -> Self {
    var sum = self
    sum.count(other, times: 1)
    sum.oldestPendingAt = [oldestPendingAt, other.oldestPendingAt].compactMap(\.self).min()
    return sum
  }

  private mutating func count(_ other: Self, times sign: Int) {
    pending += sign * other.pending
    inFlight += sign * other.inFlight
    waiting += sign * other.waiting
    held += sign * other.held
    delivered += sign * other.delivered
    dead += sign * other.dead
    bytes += sign * other.bytes
  }
}

/// The counts of the whole outbox and of individual accounts.
package typealias OutboxOverview = (all: OutboxStats, accounts: [AccountName: OutboxStats])
