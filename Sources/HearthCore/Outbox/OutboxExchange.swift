/// The result of `OutboxStore.exchange`.
package struct OutboxExchange: Hashable, Sendable {
  /// The result of one demand.
  package struct Claimed: Hashable, Sendable {
    package var claims: [LaneClaim] = []
    /// When the next item that could not be claimed yet becomes due, not counting `cut`. One second from now if only
    /// `OutboxDemand.Room.unanswered` prevented the claim.
    package var nextDueAt: Timestamp?
    /// The kinds that an origin may have more of, because a limit of its room was reached.
    package var cut: [Origin: OutboxKinds] = [:]
    /// The kinds that any origin may have more of, because items have left their lanes.
    package var moved: OutboxKinds = []
    /// The origin to ask for the time, if some items seem to have expired.
    package var timeNeededFrom: Origin?

    package init() {}
  }

  package var claimed: [AccountName: Claimed] = [:]
  /// The store's clock during the exchange. All times of the exchange refer to it, except `nextExpiryAt`.
  package var time: Timestamp
  /// The earliest `expiresAt` of an undelivered item.
  package var nextExpiryAt: Timestamp?

  package init(at time: Timestamp) { self.time = time }
}

extension OutboxExchange.Claimed {
  /// Returns these claims with their times on a clock that is ahead by `shift`.
  func moved(by shift: Duration) -> Self {
    if shift == .zero { return self }
    var moved = self
    moved.nextDueAt = nextDueAt.map { $0 + shift }
    for claim in claims.indices { moved.claims[claim].shift(by: shift) }
    return moved
  }
}

/// The outcome of a delivery, to be written to the store.
package struct Settlement: Hashable, Sendable {
  /// The epoch of the claim. If the claim is no longer valid, the settlement changes nothing.
  package var epoch: Int64
  /// The store's number of the item.
  package var number: Int64
  /// If the item stays in its lane (`DeliveryOutcome.leavesLane`), the claim ends with it.
  package var outcome: DeliveryOutcome
  /// Whether a request has left since the item was claimed.
  package var hasLeft: Bool
  /// How long before the call of `OutboxStore.exchange` the outcome came. The store adds the time that writing takes.
  package var age: Duration

  package init(epoch: Int64, number: Int64, outcome: DeliveryOutcome, hasLeft: Bool = false, age: Duration = .zero) {
    (self.epoch, self.number, self.outcome, self.hasLeft, self.age) = (epoch, number, outcome, hasLeft, age)
  }
}
