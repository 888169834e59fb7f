/// A claimed outbox item and the request that delivers it.
package struct Delivery: Hashable, Sendable {
  /// The item's row number in the store.
  package let number: Int64
  /// The item at the time of the claim.
  package let item: OutboxItem
  /// The number of 409 responses without `Retry-After` so far.
  package let conflicts: Int
  /// See `ItemProgress.offlineAnswers`.
  package let offlineAnswers: Int
  /// The time at which the first request with an unknown result was sent. `nil` if there is no such request, or if the
  /// user has retried the item since.
  package var unknownSince: Timestamp?
  /// The time from which the item must not be sent, or `nil` if it does not expire.
  package let expiresAt: Timestamp?
  package let request: APIRequest
  package let expect: ExpectedContent?

  package init(
    number: Int64, item: OutboxItem, conflicts: Int, offlineAnswers: Int = 0, unknownSince: Timestamp? = nil,
    expiresAt: Timestamp? = nil, request: APIRequest, expect: ExpectedContent? = nil
  ) {
    (self.number, self.item, self.conflicts, self.unknownSince) = (number, item, conflicts, unknownSince)
    self.offlineAnswers = offlineAnswers
    (self.expiresAt, self.request, self.expect) = (expiresAt, request, expect)
  }

  var kind: OutboxKinds { item.lane == nil ? .unordered : .lanes }

  /// Whether the last request for the item got no response.
  var wasUnanswered: Bool { unknownSince != nil && item.lastStatus == nil }

  mutating func shift(by shift: Duration) { unknownSince = unknownSince.map { $0 + shift } }
}

extension Collection<Delivery> {
  var bytes: Int { reduce(0) { $0 + $1.item.bytes } }
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
