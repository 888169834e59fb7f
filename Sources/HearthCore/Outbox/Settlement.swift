/// What became of a delivery, to be written down.
package struct Settlement: Hashable, Sendable {
  /// The claim's. Where it holds no more, the settlement changes nothing.
  package var epoch: Int64
  /// The store's number of the item.
  package var number: Int64
  /// Where it does not take the item out of its lane (`DeliveryOutcome.leavesLane`), the claim ends with it.
  package var outcome: DeliveryOutcome
  /// How long before the call of `OutboxStore.exchange` this came. The store adds what it takes to write it down.
  package var age: Duration

  package init(epoch: Int64, number: Int64, outcome: DeliveryOutcome, age: Duration = .zero) {
    self.epoch = epoch
    self.number = number
    self.outcome = outcome
    self.age = age
  }
}
