/// A demand for an account's next deliveries, under one subject.
package struct OutboxDemand: Hashable, Sendable {
  /// What may be claimed for one origin. Those who wait for one origin wait for no other.
  package struct Room: Hashable, Sendable {
    /// The most items of lanes, and the most unordered ones. The two limits do not count against each other.
    package var lanes: Int
    package var unordered: Int
    /// The most items that got no response when they were sent last: each may keep its place until the time limit.
    package var unanswered: Int
    /// The bytes of content after which no further item is claimed.
    package var bytes: Int
    /// Whether the items behind the head of a lane are claimed with it, to be sent one after the other.
    package var takesFollowers: Bool
    /// The origin could not be reached: one item alone is claimed.
    package var isProbe: Bool

    package init(
      lanes: Int, unordered: Int, unanswered: Int = .max, bytes: Int = .max, takesFollowers: Bool = false,
      isProbe: Bool = false
    ) {
      self.lanes = lanes
      self.unordered = unordered
      self.unanswered = unanswered
      self.bytes = bytes
      self.takesFollowers = takesFollowers
      self.isProbe = isProbe
    }

    package func limit(_ kind: OutboxKinds) -> Int { kind == .lanes ? lanes : unordered }
  }

  package var account: AccountName
  package var subject: Subject?
  /// The origins that may be sent to now. Items for other origins of `configured` are not claimed.
  package var rooms: [Origin: Room]
  /// The account's `api_origins`. Items for any other origin are held, `originNotConfigured`.
  package var configured: Set<Origin>
  package var expiry: ExpiryTime
  package var policy: DeliveryPolicy

  package init(
    account: AccountName, subject: Subject?, rooms: [Origin: Room], configured: Set<Origin>, expiry: ExpiryTime,
    policy: DeliveryPolicy
  ) {
    self.account = account
    self.subject = subject
    self.rooms = rooms
    self.configured = configured
    self.expiry = expiry
    self.policy = policy
  }

  /// The kinds of which items are demanded.
  package var kinds: OutboxKinds {
    [
      rooms.values.contains { $0.lanes > 0 } ? .lanes : [],
      rooms.values.contains { $0.unordered > 0 } ? .unordered : [],
    ]
  }
}
