/// One request in the outbox, as people and programs see it.
package struct OutboxItem: Hashable, Sendable {
  /// The raw value is the `state` of the item.
  package enum State: String, Hashable, Sendable, CaseIterable {
    case pending, inFlight, waiting, held, delivered, dead, cancelled, superseded
  }

  /// Why an item is held or dead. The raw value is the `reason` of the item.
  package enum Reason: String, Hashable, Sendable, CaseIterable {
    case otherUser, needsReview
    case rejected, expired, attemptsExhausted, redirected
  }

  package var id: String
  package var account: AccountName
  /// Nil while nobody was known since it was made.
  package var subject: Subject?
  /// Nil for an unordered item.
  package var lane: String?
  package var method: String
  package var url: String
  package var state: State
  package var reason: Reason?
  /// Requests that were sent and are charged to the item.
  package var attempts: Int
  package var createdAt: Timestamp
  package var nextAttemptAt: Timestamp?
  package var lastStatus: Int?
  package var lastError: String?
  package var idempotencyKey: String
  /// Of body and headers.
  package var bytes: Int

  package init(
    id: String, account: AccountName, subject: Subject?, lane: String?, method: String, url: String, state: State,
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

extension OutboxItem.State {
  /// Whether the item still takes a place in its lane.
  package var isActive: Bool {
    switch self {
    case .pending, .inFlight, .waiting: true
    case .held, .delivered, .dead, .cancelled, .superseded: false
    }
  }

  /// Whether headers and body are kept: as long as the item may be sent again.
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
