/// How deliveries and claims end: settled, released, or left in flight.
extension OutboxMachine {
  /// The delays between attempts to get a token.
  static let stallPolicy = RetryPolicy(initial: .seconds(2), max: .seconds(300))

  mutating func settle(_ id: SenderID, _ outcome: DeliveryOutcome, at now: Timestamp) {
    guard let name = senders[id], let sender = accounts[name]?.senders[id], let delivery = sender.current else {
      return
    }
    let settlement = Settlement(
      epoch: sender.epoch, number: delivery.number, outcome: outcome, hasLeft: sender.hasLeft)
    unwritten.settle(settlement, at: now)
    accounts[name]?.readAhead[delivery.request.url.origin, default: ReadAhead()]
      .finished(at: now, after: now - (sender.begunAt ?? now))
    freePlace(of: delivery)
    makeRoom(after: delivery, isSlow: sender.isSlow(at: now))
    accounts[name]?.senders[id]?.step = .between
    accounts[name]?.senders[id]?.current = nil
    wake(name)
    if case .released = outcome {
      accounts[name]?.breaker.probeGivenUp(delivery.request.url.origin)
    } else {
      accounts[name]?.refused.settled(delivery.number)
    }
    if outcome.leavesLane {
      finishedSincePrune += 1
    } else {
      accounts[name]?.senders[id]?.rest = []
    }
  }

  /// Records that the store can claim another item whose last request got no response. The store does not report this
  /// itself.
  mutating func freePlace(of delivery: Delivery) {
    if delivery.progress.isUnanswered {
      accounts[delivery.item.account]?.leaves(delivery.kind, for: delivery.request.url.origin)
    }
  }

  /// Records that the store can claim another large item. The store does not report this itself.
  private mutating func makeRoom(after delivery: Delivery, isSlow: Bool) {
    let (name, origin) = (delivery.item.account, delivery.request.url.origin)
    guard isSlow, delivery.item.bytes > Self.small, accounts[name]?.api.origins.contains(origin) == true else { return }
    accounts[name]?.leaves(.all, for: origin)
  }

  /// Ends the sender's claim without sending or releasing its remaining deliveries.
  mutating func leaveClaim(_ id: SenderID, of name: AccountName) {
    accounts[name]?.senders[id]?.step = .between
    accounts[name]?.senders[id]?.current = nil
    accounts[name]?.senders[id]?.rest = []
    wake(name)
  }

  /// Releases a claim whose deliveries in `left` were not sent.
  mutating func release(_ epoch: Int64, _ left: some Collection<Delivery>, at now: Timestamp) {
    unwritten.release(epoch, at: now)
    guard let first = left.first else { return }
    accounts[first.item.account]?.breaker.probeGivenUp(first.request.url.origin)
    wake(first.item.account)
  }

  /// Releases the account's matching claims that no sender has started. Active senders check for themselves whether
  /// they may continue.
  mutating func withdraw(
    _ name: AccountName, at now: Timestamp, where matches: (LaneClaim) -> Bool = { _ in true }
  ) {
    guard let queue = accounts[name]?.queue else { return }
    accounts[name]?.queue.removeAll(where: matches)
    for claim in queue where matches(claim) { release(claim.epoch, claim.deliveries, at: now) }
  }

  /// Delays all of the account's items because no token is available. This does not count as an attempt.
  mutating func stall(_ name: AccountName, retryAfter: Duration?, at now: Timestamp) {
    guard let account = accounts[name], account.stalledUntil == nil else { return }
    let wait = Self.stallPolicy.wait(
      failures: account.bearerFailures + 1, retryAfter: retryAfter.map { min($0, Self.stallPolicy.max) },
      random: random())
    accounts[name]?.bearerFailures += 1
    accounts[name]?.stalledUntil = now + wait
    wake(name)
    withdraw(name, at: now)
  }
}
