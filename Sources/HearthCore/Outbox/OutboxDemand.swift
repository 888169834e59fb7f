/// A request to the store to claim an account's next deliveries, for one subject.
package struct OutboxDemand: Hashable, Sendable {
  /// The limits for claiming items for one origin.
  package struct Room: Hashable, Sendable {
    package var lanes: Int
    package var unordered: Int
    /// The maximum number of items whose last request got no response. Each may occupy a sender until it times out.
    package var unanswered: Int
    /// The total size at which no further item is claimed, in bytes.
    package var bytes: Int
    /// The maximum size of a claimed item, in bytes.
    package var largest = Int.max
    /// Whether to claim several items of a lane at a time, to be sent one after the other.
    package var takesFollowers: Bool
    /// Whether the origin is unreachable. If so, only one item is claimed as a probe.
    package var isProbe: Bool

    package init(
      lanes: Int, unordered: Int, unanswered: Int = .max, bytes: Int = .max, takesFollowers: Bool = false,
      isProbe: Bool = false
    ) {
      (self.lanes, self.unordered, self.unanswered) = (lanes, unordered, unanswered)
      (self.bytes, self.takesFollowers, self.isProbe) = (bytes, takesFollowers, isProbe)
    }

    package func limit(_ kind: OutboxKinds) -> Int { kind == .lanes ? lanes : unordered }

    /// The kinds of items for which there is room.
    var kinds: OutboxKinds { [lanes > 0 ? .lanes : [], unordered > 0 ? .unordered : []] }
  }

  package var account: AccountName
  package var subject: Subject?
  /// The limits for each origin that Hearth may send to now. Items for other origins in `configured` are not claimed.
  package var rooms: [Origin: Room]
  /// The account's `api_origins`. Items for other origins are held as `originNotConfigured`.
  package var configured: Set<Origin>
  package var expiry: ExpiryTime
  package var policy: DeliveryPolicy
  /// The numbers of items that must not be claimed. These items still block their lanes.
  package var refused: Set<Int64>

  package init(
    account: AccountName, subject: Subject?, rooms: [Origin: Room], configured: Set<Origin>, expiry: ExpiryTime,
    policy: DeliveryPolicy, refused: Set<Int64> = []
  ) {
    self.refused = refused
    (self.account, self.subject, self.rooms) = (account, subject, rooms)
    (self.configured, self.expiry, self.policy) = (configured, expiry, policy)
  }

  package var kinds: OutboxKinds { OutboxKinds(rooms.values.map(\.kinds)) }
}

/// The two kinds of items: items in lanes, which are sent in order, and unordered items. Neither kind waits for the
/// other.
package struct OutboxKinds: OptionSet, Hashable, Sendable {
  package static let lanes = OutboxKinds(rawValue: 1)
  package static let unordered = OutboxKinds(rawValue: 2)
  package static let all: OutboxKinds = [.lanes, .unordered]

  package let rawValue: Int

  package init(rawValue: Int) { self.rawValue = rawValue }
}

/// The time that decides whether items have expired. It comes from the caller instead of the store, so that no item is
/// lost because a single clock is ahead.
package enum ExpiryTime: Hashable, Sendable {
  /// A server has confirmed the time, or the servers do not report the time.
  case agreed(Timestamp)
  /// No server has confirmed the time yet, so items past `expiresAt` are neither sent nor marked as expired.
  case unconfirmed(Timestamp)

  var time: Timestamp {
    switch self {
    case .agreed(let time), .unconfirmed(let time): time
    }
  }
}
