/// An item that was taken from the outbox to be sent now.
package struct Delivery: Hashable, Sendable {
  /// The store's own number of it.
  package let number: Int64
  package let id: String
  package let account: AccountName
  package let subject: Subject?
  package let isUnordered: Bool
  package let attempts: Int
  package let conflicts: Int
  /// Since when nobody knows whether it has been done.
  package let unknownSince: Timestamp?
  package let request: APIRequest

  package init(
    number: Int64, id: String, account: AccountName, subject: Subject?, isUnordered: Bool = false, attempts: Int,
    conflicts: Int, unknownSince: Timestamp? = nil,
    request: APIRequest
  ) {
    self.number = number
    self.id = id
    self.account = account
    self.subject = subject
    self.isUnordered = isUnordered
    self.attempts = attempts
    self.conflicts = conflicts
    self.unknownSince = unknownSince
    self.request = request
  }
}

/// Deliveries that must go out one after the other: the front of a lane, or one unordered item.
package struct LaneBatch: Hashable, Sendable {
  package var deliveries: [Delivery]

  package init(_ deliveries: [Delivery]) {
    self.deliveries = deliveries
  }
}
