/// A request in the outbox, as clients see it.
package struct OutboxItem: Hashable, Sendable {
  /// The state of an item. The raw value is the item's `state` on the wire.
  ///
  /// These are all transitions:
  ///
  /// | From | To | Cause |
  /// | --- | --- | --- |
  /// | (new) | `pending`, `waiting` | A caller enqueues the item (`waiting` if `notBefore` is in the future) |
  /// | (new) | `pending`, `waiting`, `held`, `dead` | A caller imports the item |
  /// | `pending`, `waiting` | `delivered`, `waiting`, `dead` | A delivery ends (`DeliveryOutcome`) |
  /// | `waiting` | `pending` | The daemon stops while the request is in flight |
  /// | `pending`, `waiting` | `held` | The result is unknown past the idempotency horizon, or the content is damaged |
  /// | `pending`, `waiting` | `held` in place | The origin is not configured, or the API requires a step-up |
  /// | `held` in place | `pending`, `waiting` | The reason is resolved |
  /// | `pending`, `waiting`, `held` in place | `dead` | The item expires |
  /// | `pending`, `waiting` | `dead` | The content is missing |
  /// | `pending`, `waiting`, `held`, `dead` | `superseded` | A newer item has the same `replaceKey` |
  /// | `pending`, `waiting`, `held` in place | `superseded` | Another item has the same idempotency key and content |
  /// | `pending`, `waiting`, `held` in place | `held` | Another item has the same idempotency key but other content |
  /// | `pending`, `waiting`, `held`, `dead` | `cancelled` | The user cancels it or signs out with `outbox: "discard"` |
  /// | `held`, `dead` | `pending`, `waiting` | The user retries it, unless it has expired |
  ///
  /// `delivered`, `cancelled` and `superseded` are final. Two states that clients see are not stored: `inFlight`, from
  /// the time a request may have been sent until it is settled, and `held` for items of a user who is not signed in
  /// (`otherUser`) or of an account that is not configured (`originNotConfigured`).
  package enum State: String, Hashable, Sendable, CaseIterable {
    case pending, inFlight, waiting, held, delivered, dead, cancelled, superseded

    /// Whether items in this state occupy a place in their lane. Some held items do too (`ItemProgress.isActive`).
    package var isActive: Bool {
      switch self {
      case .pending, .inFlight, .waiting: true
      case .held, .delivered, .dead, .cancelled, .superseded: false
      }
    }

    /// Whether the store keeps the headers and body, so that the item can be sent again.
    package var keepsContent: Bool {
      switch self {
      case .pending, .inFlight, .waiting, .held, .dead: true
      case .delivered, .cancelled, .superseded: false
      }
    }

    package var mayBeCancelled: Bool {
      switch self {
      case .pending, .waiting, .held, .dead: true
      case .inFlight, .delivered, .cancelled, .superseded: false
      }
    }

    /// The reasons that an item in this state can have.
    var reasons: Set<OutboxItem.Reason> {
      switch self {
      case .held: [.otherUser, .needsReview, .damaged, .originNotConfigured, .needsStepUp]
      case .dead: [.rejected, .expired, .attemptsExhausted, .redirected]
      case .pending, .inFlight, .waiting, .delivered, .cancelled, .superseded: []
      }
    }
  }

  /// The reason why an item is held or dead. The raw value is the item's `reason` on the wire.
  package enum Reason: String, Hashable, Sendable, CaseIterable {
    case otherUser, needsReview, damaged, originNotConfigured, needsStepUp
    case rejected, expired, attemptsExhausted, redirected

    /// Whether an item held for this reason keeps its place and blocks its lane until the reason is resolved.
    package var keepsPlace: Bool {
      switch self {
      case .originNotConfigured, .needsStepUp: true
      case .otherUser, .needsReview, .damaged, .rejected, .expired, .attemptsExhausted, .redirected: false
      }
    }
  }

  package var id: String
  package var account: AccountName
  /// The user who owns the item, or `nil` if no user has been known since it was created.
  package var subject: Subject?
  /// The lane, or `nil` for an unordered item.
  package var lane: Name?
  package var method: String
  package var url: String
  package var state: State
  package var reason: Reason?
  /// The number of requests that were sent and count as attempts.
  package var attempts: Int
  package var createdAt: Timestamp
  package var nextAttemptAt: Timestamp?
  package var lastStatus: Int?
  package var lastError: String?
  package var idempotencyKey: String
  /// The size of the body, headers and URL, in bytes.
  package var bytes: Int

  package init(
    id: String, account: AccountName, subject: Subject?, lane: Name?, method: String, url: String, state: State,
    reason: Reason? = nil, attempts: Int = 0, createdAt: Timestamp, nextAttemptAt: Timestamp? = nil,
    lastStatus: Int? = nil, lastError: String? = nil, idempotencyKey: String, bytes: Int
  ) {
    self.id = id
    self.account = account
    self.subject = subject
    self.lane = lane
    self.method = method
    self.url = url
    self.state = state
    self.reason = reason
    self.attempts = attempts
    self.createdAt = createdAt
    self.nextAttemptAt = nextAttemptAt
    self.lastStatus = lastStatus
    self.lastError = lastError
    self.idempotencyKey = idempotencyKey
    self.bytes = bytes
  }

  /// Creates an identifier: a version 7 UUID (RFC 9562, section 5.7) from 74 of the given random bits. The identifiers
  /// sort by creation time.
  package static func makeID(at time: Timestamp, random: (UInt64, UInt64)) -> String {
    let high = UInt64(bitPattern: time.milliseconds) << 16 | 0x7000 | random.0 & 0x0FFF
    let low = 0x8000_0000_0000_0000 | random.1 & 0x3FFF_FFFF_FFFF_FFFF
    let digits = hex(high) + hex(low)
    return "\(digits.prefix(8))-\(digits.dropFirst(8).prefix(4))-\(digits.dropFirst(12).prefix(4))"
      + "-\(digits.dropFirst(16).prefix(4))-\(digits.dropFirst(20))"
  }

  static func isID(_ text: String) -> Bool {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    return parts.map(\.utf8.count) == [8, 4, 4, 4, 12]
      && text.utf8.allSatisfy { byte in "0123456789abcdef-".utf8.contains(byte) }
  }

  private static func hex(_ number: UInt64) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
