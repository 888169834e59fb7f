/// What came of `OutboxStore.exchange`.
package struct OutboxExchange: Hashable, Sendable {
  /// What a demand brought.
  package struct Claimed: Hashable, Sendable {
    package var claims: [LaneClaim] = []
    /// When the next item becomes due that could not be claimed yet, but for what is `cut`. A second from now where only
    /// `OutboxDemand.Room.unanswered` stood in the way.
    package var nextDueAt: Timestamp?
    /// The kinds of which there may be more for an origin: a limit of its room was reached.
    package var cut: [Origin: OutboxKinds] = [:]
    /// The kinds of which there may be more for any origin: items have left their lanes.
    package var moved: OutboxKinds = []
    /// Some items seem to have expired; whether they have depends on the time that this origin reports.
    package var timeNeededFrom: Origin?

    package init() {}
  }

  package var claimed: [AccountName: Claimed] = [:]
  /// The store's clock at that moment: the times of this exchange are by it, but for `nextExpiryAt`.
  package var time: Timestamp
  /// The earliest `expiresAt` of an undelivered item.
  package var nextExpiryAt: Timestamp?

  package init(at time: Timestamp) {
    self.time = time
  }
}

extension OutboxExchange.Claimed {
  /// Tells the same by another clock, which is ahead by `shift`.
  func moved(by shift: Duration) -> Self {
    if shift == .zero { return self }
    var moved = self
    moved.nextDueAt = nextDueAt.map { $0 + shift }
    for claim in claims.indices { moved.claims[claim].shift(by: shift) }
    return moved
  }
}
