/// A claimed outbox item and the request that delivers it.
package struct Delivery: Hashable, Sendable {
  /// The item's row number in the store.
  package let number: Int64
  /// The item at the time of the claim.
  package let item: OutboxItem
  /// The item's progress at the time of the claim. Only `unknownSince` is converted to the machine's clock.
  package private(set) var progress: ItemProgress
  package let request: APIRequest
  package let expect: ExpectedContent?

  package init(
    number: Int64, item: OutboxItem, progress: ItemProgress, request: APIRequest, expect: ExpectedContent? = nil
  ) {
    (self.number, self.item, self.progress, self.request, self.expect) = (number, item, progress, request, expect)
  }

  var kind: OutboxKinds { item.lane == nil ? .unordered : .lanes }

  mutating func shift(by shift: Duration) { progress.unknownSince = progress.unknownSince.map { $0 + shift } }
}

/// A claim on one unordered item, or on consecutive items from the front of a lane.
package struct LaneClaim: Hashable, Sendable {
  /// The identifier of the claim. It is never reused, even after a restart.
  package let epoch: Int64
  package var deliveries: [Delivery]

  package init(epoch: Int64, deliveries: [Delivery]) { (self.epoch, self.deliveries) = (epoch, deliveries) }

  var kind: OutboxKinds { deliveries.first?.kind ?? .lanes }
  var origin: Origin? { deliveries.first?.request.url.origin }

  mutating func shift(by shift: Duration) {
    for index in deliveries.indices { deliveries[index].shift(by: shift) }
  }
}
