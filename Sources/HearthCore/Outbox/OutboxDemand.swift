/// A demand for an account's next deliveries, under one subject.
package struct OutboxDemand: Hashable, Sendable {
  package var account: AccountName
  package var subject: Subject?
  /// The most items of lanes, and the most unordered ones. The two limits do not count against each other.
  package var lanes: Int
  package var unordered: Int
  /// Of those, the most that got no response when they were sent last: each may keep its place until the time limit.
  package var unanswered: Int
  /// The bytes of content after which no further item is claimed.
  package var bytes: Int
  /// Whether the items behind the head of a lane are claimed with it, to be sent one after the other.
  package var takesFollowers: Bool
  /// The origins that may be sent to now: without a limit, or (`probed`) one item alone. Items for other origins of
  /// `configured` are not claimed.
  package var open: Set<Origin>
  package var probed: Set<Origin>
  /// The account's `api_origins`. Items for any other origin are dead, `rejected`.
  package var configured: Set<Origin>
  package var expiry: ExpiryTime
  package var policy: DeliveryPolicy

  package init(
    account: AccountName, subject: Subject?, lanes: Int, unordered: Int, unanswered: Int = .max, bytes: Int = .max,
    takesFollowers: Bool, open: Set<Origin>, probed: Set<Origin> = [], configured: Set<Origin>, expiry: ExpiryTime,
    policy: DeliveryPolicy
  ) {
    self.account = account
    self.subject = subject
    self.lanes = lanes
    self.unordered = unordered
    self.unanswered = unanswered
    self.bytes = bytes
    self.takesFollowers = takesFollowers
    self.open = open
    self.probed = probed
    self.configured = configured
    self.expiry = expiry
    self.policy = policy
  }
}
