/// The result of `OutboxStore.exchange`.
package struct OutboxExchange: Hashable, Sendable {
  /// The claims for one demand.
  package struct Claimed: Hashable, Sendable {
    package var claims: [LaneClaim] = []
    /// The time at which the next unclaimed item becomes due, not counting items of the kinds in `cut` or `moved`. If
    /// `OutboxDemand.Room.unanswered` or the store's limit for claims has prevented a claim, this is at most one second
    /// from now, because the store cannot tell when there is room again.
    package var nextDueAt: Timestamp?
    /// For each origin that reached a limit, the kinds of items that the store may still have for it.
    package var cut: [Origin: OutboxKinds] = [:]
    /// The kinds of items that may have become claimable for any origin because other items have left their lanes.
    package var moved: OutboxKinds = []
    /// The origin to ask for the time because items seem to have expired, or `nil` if the time is not needed.
    package var timeNeededFrom: Origin?

    package init() {}

    /// Returns the claims with their times converted to a clock that is ahead by `shift`.
    func moved(by shift: Duration) -> Self {
      if shift == .zero { return self }
      var moved = self
      moved.nextDueAt = nextDueAt.map { $0 + shift }
      for claim in claims.indices { moved.claims[claim].shift(by: shift) }
      return moved
    }
  }

  package var claimed: [AccountName: Claimed] = [:]
  /// The store's clock during the exchange. All times in the exchange refer to it, except the times of expiry.
  package var time: Timestamp
  package var nextExpiryAt: Timestamp?

  package init(at time: Timestamp) { self.time = time }
}

/// The outcome of a delivery, to be written to the store.
package struct Settlement: Hashable, Sendable {
  /// The epoch of the claim. If the claim is no longer valid, the settlement has no effect.
  package var epoch: Int64
  package var number: Int64
  /// The outcome. If it leaves the item in its lane (see `DeliveryOutcome.leavesLane`), saving it also ends the claim.
  package var outcome: DeliveryOutcome
  /// Whether a request was sent since the item was claimed.
  package var hasLeft: Bool
  /// The age of the outcome when `OutboxStore.exchange` is called.
  package var age: Duration

  package init(epoch: Int64, number: Int64, outcome: DeliveryOutcome, hasLeft: Bool = false, age: Duration = .zero) {
    (self.epoch, self.number, self.outcome, self.hasLeft, self.age) = (epoch, number, outcome, hasLeft, age)
  }
}
