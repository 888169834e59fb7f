/// An item that was claimed from the outbox, with the request that delivers it.
package struct Delivery: Hashable, Sendable {
  /// The store's number of the item.
  package let number: Int64
  /// The item as it was when it was claimed.
  package let item: OutboxItem
  /// The number of 409 responses of the API so far.
  package let conflicts: Int
  /// See `ItemProgress.offlineAnswers`.
  package let offlineAnswers: Int
  /// When the request whose result is unknown was sent. `nil` if the API has certainly not acted on the item.
  package var unknownSince: Timestamp?
  /// The item is not sent after this time.
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

  /// Whether its last request got no response.
  var wasUnanswered: Bool { unknownSince != nil && item.lastStatus == nil }

  mutating func shift(by shift: Duration) { unknownSince = unknownSince.map { $0 + shift } }
}

extension Collection<Delivery> {
  var bytes: Int { reduce(0) { $0 + $1.item.bytes } }
}

/// The items at the front of a lane, or one unordered item, claimed to be sent one after the other.
package struct LaneClaim: Hashable, Sendable {
  /// Unique to this claim, also across restarts.
  package let epoch: Int64
  package var deliveries: [Delivery]

  package init(epoch: Int64, deliveries: [Delivery]) { (self.epoch, self.deliveries) = (epoch, deliveries) }

  var kind: OutboxKinds { deliveries.first?.kind ?? .lanes }
  var origin: Origin? { deliveries.first?.request.url.origin }

  mutating func shift(by shift: Duration) {
    for index in deliveries.indices { deliveries[index].shift(by: shift) }
  }
}
