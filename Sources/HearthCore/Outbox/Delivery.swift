/// An item that was claimed from the outbox, with the request that delivers it.
package struct Delivery: Hashable, Sendable {
  /// The store's number of the item.
  package let number: Int64
  /// The item as it was when it was claimed.
  package let item: OutboxItem
  /// How often the API has answered 409.
  package let conflicts: Int
  /// When the request was sent whose fate is unknown; nil where the API has surely not acted on the item.
  package var unknownSince: Timestamp?
  /// It is not sent after that.
  package let expiresAt: Timestamp?
  package let request: APIRequest
  package let expect: ExpectedContent?

  package init(
    number: Int64, item: OutboxItem, conflicts: Int, unknownSince: Timestamp? = nil, expiresAt: Timestamp? = nil,
    request: APIRequest, expect: ExpectedContent? = nil
  ) {
    self.number = number
    self.item = item
    self.conflicts = conflicts
    self.unknownSince = unknownSince
    self.expiresAt = expiresAt
    self.request = request
    self.expect = expect
  }
}
