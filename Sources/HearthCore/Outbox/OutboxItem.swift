/// One request in the outbox, as the store, the service, its workers and every client see it.
package struct OutboxItem: Hashable, Sendable {
  /// The raw value is the item's `state` on the wire.
  ///
  /// These are all transitions:
  ///
  /// | from | to | when |
  /// | --- | --- | --- |
  /// | (new) | `pending`, `waiting` | it is enqueued; `waiting` if its `notBefore` is in the future |
  /// | `pending`, `waiting` | `delivered`, `waiting`, `dead` | by the outcome of its delivery (`DeliveryOutcome`) |
  /// | `waiting` | `pending` | the daemon ended while its request was on its way |
  /// | `pending`, `waiting` | `held` | it needs review: its result is unknown beyond the idempotency horizon |
  /// | `pending`, `waiting` | `held` | its content is damaged |
  /// | `pending`, `waiting` | `held` | in its place: its origin is no longer the account's, or the API wants a step-up |
  /// | `held` | `pending`, `waiting` | it was held in its place, and the reason is gone |
  /// | `pending`, `waiting`, `held` | `dead` | it expired, held in its place or not held; its content is missing |
  /// | `pending`, `waiting`, `held`, `dead` | `superseded` | a newer item with its `replaceKey` is enqueued |
  /// | `pending`, `waiting` | `superseded` | another item is the same write (`KeyedItem`) |
  /// | `pending`, `waiting` | `held` | another item has its idempotency key but different content (`KeyedItem`) |
  /// | `pending`, `waiting`, `held`, `dead` | `cancelled` | the user cancels it, or signs out with `outbox: "discard"` |
  /// | `held`, `dead` | `pending`, `waiting` | the user retries it, unless it expired |
  ///
  /// `delivered`, `cancelled` and `superseded` are final. A pending or waiting item is shown as `inFlight` from the
  /// moment that its request may have left until it is settled. An item of a user other than the current one is shown
  /// as `held` (`otherUser`) until that user is back. Neither changes the stored state.
  package enum State: String, Hashable, Sendable, CaseIterable {
    case pending, inFlight, waiting, held, delivered, dead, cancelled, superseded
  }

  /// Why an item is held or dead. The raw value is the item's `reason` on the wire.
  package enum Reason: String, Hashable, Sendable, CaseIterable {
    case otherUser, needsReview, damaged, originNotConfigured, needsStepUp
    case rejected, expired, attemptsExhausted, redirected
  }

  package var id: String
  package var account: AccountName
  /// The user who owns the item, or `nil` if no user has been known since it was made.
  package var subject: Subject?
  /// The lane, or `nil` for an unordered item.
  package var lane: Name?
  package var method: String
  package var url: String
  package var state: State
  package var reason: Reason?
  /// The number of requests that were sent and counted.
  package var attempts: Int
  package var createdAt: Timestamp
  package var nextAttemptAt: Timestamp?
  package var lastStatus: Int?
  package var lastError: String?
  package var idempotencyKey: String
  /// The size of body, headers and URL.
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
}

extension OutboxItem.Reason {
  /// Whether an item that is held for this reason keeps its place and blocks its lane until the reason is gone.
  package var keepsPlace: Bool {
    switch self {
    case .originNotConfigured, .needsStepUp: true
    case .otherUser, .needsReview, .damaged, .rejected, .expired, .attemptsExhausted, .redirected: false
    }
  }
}

extension OutboxItem.State {
  /// Whether the item still occupies a place in its lane. Some held items do too (`ItemProgress.isActive`).
  package var isActive: Bool {
    switch self {
    case .pending, .inFlight, .waiting: true
    case .held, .delivered, .dead, .cancelled, .superseded: false
    }
  }

  /// Whether headers and body are kept, which they are as long as the item may be sent again.
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
}

/// Makes and checks the identifiers of outbox items. They sort by creation time.
package enum ItemID {
  /// Makes a UUID of version 7 (RFC 9562, section 5.7) from 74 of the given random bits.
  package static func make(at time: Timestamp, random: (UInt64, UInt64)) -> String {
    let high = UInt64(bitPattern: time.milliseconds) << 16 | 0x7000 | random.0 & 0x0FFF
    let low = 0x8000_0000_0000_0000 | random.1 & 0x3FFF_FFFF_FFFF_FFFF
    let digits = hex(high) + hex(low)
    return "\(digits.prefix(8))-\(digits.dropFirst(8).prefix(4))-\(digits.dropFirst(12).prefix(4))"
      + "-\(digits.dropFirst(16).prefix(4))-\(digits.dropFirst(20))"
  }

  /// Whether a text has the form of an item's identifier, so that it may be sent as a key.
  package static func isValid(_ text: String) -> Bool {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    return parts.map(\.utf8.count) == [8, 4, 4, 4, 12]
      && text.utf8.allSatisfy { byte in "0123456789abcdef-".utf8.contains(byte) }
  }

  private static func hex(_ number: UInt64) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
