/// A demand for an account's next deliveries, under one subject.
package struct OutboxDemand: Hashable, Sendable {
  /// What may be claimed for one origin. Origins do not wait for each other.
  package struct Room: Hashable, Sendable {
    /// The maximum number of items of lanes, and of unordered ones. The two limits are independent.
    package var lanes: Int
    package var unordered: Int
    /// The maximum number of items that got no response when last sent: each may keep its place until the time limit.
    package var unanswered: Int
    /// The bytes of content after which no further item is claimed.
    package var bytes: Int
    /// The largest content of an item that may be claimed, in bytes.
    package var largest = Int.max
    /// Whether the items behind the head of a lane are claimed with it, to be sent one after the other.
    package var takesFollowers: Bool
    /// Whether the origin was unreachable, so that only one item is claimed.
    package var isProbe: Bool

    package init(
      lanes: Int, unordered: Int, unanswered: Int = .max, bytes: Int = .max, takesFollowers: Bool = false,
      isProbe: Bool = false
    ) {
      (self.lanes, self.unordered, self.unanswered) = (lanes, unordered, unanswered)
      (self.bytes, self.takesFollowers, self.isProbe) = (bytes, takesFollowers, isProbe)
    }

    package func limit(_ kind: OutboxKinds) -> Int { kind == .lanes ? lanes : unordered }
  }

  package var account: AccountName
  package var subject: Subject?
  /// The origins that may be sent to now. Items for other origins in `configured` are not claimed.
  package var rooms: [Origin: Room]
  /// The account's `api_origins`. Items for any other origin are held as `originNotConfigured`.
  package var configured: Set<Origin>
  package var expiry: ExpiryTime
  package var policy: DeliveryPolicy
  /// The numbers of items that must not be claimed. They still block their lanes.
  package var refused: Set<Int64>

  package init(
    account: AccountName, subject: Subject?, rooms: [Origin: Room], configured: Set<Origin>, expiry: ExpiryTime,
    policy: DeliveryPolicy, refused: Set<Int64> = []
  ) {
    self.refused = refused
    (self.account, self.subject, self.rooms) = (account, subject, rooms)
    (self.configured, self.expiry, self.policy) = (configured, expiry, policy)
  }

  /// The kinds of items that are demanded.
  package var kinds: OutboxKinds {
    [
      rooms.values.contains { $0.lanes > 0 } ? .lanes : [],
      rooms.values.contains { $0.unordered > 0 } ? .unordered : [],
    ]
  }
}

/// The kinds of items: those of lanes, sent one after the other, and unordered ones. Neither waits for the other.
package struct OutboxKinds: OptionSet, Hashable, Sendable {
  package static let lanes = OutboxKinds(rawValue: 1)
  package static let unordered = OutboxKinds(rawValue: 2)
  package static let all: OutboxKinds = [.lanes, .unordered]

  package let rawValue: Int

  package init(rawValue: Int) { self.rawValue = rawValue }
}

/// The time that decides whether items have expired. It is the caller's and not the store's: `expiresAt` is real-world
/// time, and no item may be lost because a single clock is ahead.
package enum ExpiryTime: Hashable, Sendable {
  /// A server has confirmed the time.
  case agreed(Timestamp)
  /// No server has confirmed the time, so items past their `expiresAt` only seem to have expired.
  case unconfirmed(Timestamp)

  var time: Timestamp {
    switch self {
    case .agreed(let time), .unconfirmed(let time): time
    }
  }
}
