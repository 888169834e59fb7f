/// How deliveries and claims end: settled, given back, or left in flight.
extension OutboxMachine {
  private static let shortestStall = Duration.seconds(1)
  private static let longestStall = Duration.seconds(300)

  mutating func settle(_ id: SenderID, _ outcome: DeliveryOutcome, at now: Timestamp) {
    guard let name = senders[id], let sender = accounts[name]?.senders[id], let delivery = sender.current else {
      return
    }
    unwritten.settle(Settlement(epoch: sender.epoch, number: delivery.number, outcome: outcome), at: now)
    accounts[name]?.readAhead[delivery.request.url.origin, default: ReadAhead()]
      .finished(at: now, after: now - (sender.begunAt ?? now))
    freePlace(of: delivery)
    accounts[name]?.senders[id]?.step = .between
    accounts[name]?.senders[id]?.current = nil
    wake(name)
    if case .released = outcome { accounts[name]?.breaker.probeGivenUp(delivery.request.url.origin) }
    if outcome.leavesLane {
      finishedSincePrune += 1
    } else {
      // The claim ends with the settlement.
      accounts[name]?.senders[id]?.rest = []
    }
  }

  /// Another item that got no response may be sent in place of this one; the store does not tell of it.
  mutating func freePlace(of delivery: Delivery) {
    if delivery.wasUnanswered {
      accounts[delivery.item.account]?.leaves(delivery.kind, for: delivery.request.url.origin)
    }
  }

  /// Nothing more is sent of the sender's claim.
  mutating func leaveClaim(_ id: SenderID, of name: AccountName) {
    accounts[name]?.senders[id]?.step = .between
    accounts[name]?.senders[id]?.current = nil
    accounts[name]?.senders[id]?.rest = []
    wake(name)
  }

  /// Gives a claim back; what is left of it was not sent.
  mutating func release(_ epoch: Int64, _ left: some Collection<Delivery>, at now: Timestamp) {
    unwritten.release(epoch, at: now)
    guard let first = left.first else { return }
    accounts[first.item.account]?.breaker.probeGivenUp(first.request.url.origin)
    wake(first.item.account)
  }

  /// Gives back the claims that no sender has taken. Those that are under way are left where their senders find that they
  /// may not be sent.
  mutating func withdraw(
    _ name: AccountName, at now: Timestamp, where matches: (LaneClaim) -> Bool = { _ in true }
  ) {
    guard let queue = accounts[name]?.queue else { return }
    accounts[name]?.queue.removeAll(where: matches)
    for claim in queue where matches(claim) { release(claim.epoch, claim.deliveries, at: now) }
  }

  /// No token can be had: the account's items wait, and no attempt is charged.
  mutating func stall(_ name: AccountName, retryAfter: Duration?, at now: Timestamp) {
    guard let account = accounts[name], account.stalledUntil == nil else { return }
    let retry = RetryPolicy(initial: Self.shortestStall * 2, max: Self.longestStall)
    let wait = retry.wait(
      failures: account.bearerFailures + 1, retryAfter: retryAfter.map { min($0, Self.longestStall) },
      random: random())
    accounts[name]?.bearerFailures += 1
    accounts[name]?.stalledUntil = now + wait
    wake(name)
    withdraw(name, at: now)
  }
}
