/// One request in the outbox, as the store, the service, its workers and every client see it.
package struct OutboxItem: Hashable, Sendable {
  /// The raw value is the `state` of the item on the wire.
  ///
  /// These are all transitions that there are (`transitions` lists them for the tests):
  ///
  /// | from | to | when |
  /// | --- | --- | --- |
  /// | (new) | `pending`, `waiting` | it is enqueued; `waiting` where its `notBefore` is in the future |
  /// | `pending`, `waiting` | `delivered`, `waiting`, `dead` | by the outcome of its delivery (`DeliveryOutcome`) |
  /// | `waiting` | `pending` | the daemon ended while its request was on its way |
  /// | `pending`, `waiting` | `held` | it needs review: its fate is unknown for longer than the idempotency horizon |
  /// | `pending`, `waiting` | `held` | its content is damaged |
  /// | `pending`, `waiting` | `held` | in its place: its origin is no longer the account's, or the API wants a step-up |
  /// | `held` | `pending` | what it was held for in its place is over |
  /// | `pending`, `waiting`, `held` | `dead` | it expired, held in its place or not held; its content is missing |
  /// | `pending`, `waiting`, `held`, `dead` | `superseded` | a newer item with its `replaceKey` is enqueued |
  /// | `pending`, `waiting` | `superseded` | another is the same write (`KeyedItem`) |
  /// | `pending`, `waiting` | `held` | another has its idempotency key and other content (`KeyedItem`) |
  /// | `pending`, `waiting`, `held`, `dead` | `cancelled` | the user cancels it, or signs out with `outbox: "discard"` |
  /// | `held`, `dead` | `pending` | the user retries it; not one that expired |
  ///
  /// `delivered`, `cancelled` and `superseded` are final. A pending or waiting item is shown as `inFlight` from the moment
  /// that its request may have left until it is settled; one of another user than the current one is shown as `held`
  /// (`otherUser`) until its user is back. The state that is kept does not change by either.
  package enum State: String, Hashable, Sendable, CaseIterable {
    case pending, inFlight, waiting, held, delivered, dead, cancelled, superseded
  }

  /// Why an item is held or dead. The raw value is the `reason` of the item.
  package enum Reason: String, Hashable, Sendable, CaseIterable {
    case otherUser, needsReview, damaged, originNotConfigured, needsStepUp
    case rejected, expired, attemptsExhausted, redirected
  }

  package var id: String
  package var account: AccountName
  /// Nil as long as no user has been known since it was made.
  package var subject: Subject?
  /// Nil for an unordered item.
  package var lane: Name?
  package var method: String
  package var url: String
  package var state: State
  package var reason: Reason?
  /// How many requests were sent and charged to the item.
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
  /// Whether an item that is held for this reason keeps its place, and holds its lane, until the reason is gone.
  package var keepsPlace: Bool {
    switch self {
    case .originNotConfigured, .needsStepUp: true
    case .otherUser, .needsReview, .damaged, .rejected, .expired, .attemptsExhausted, .redirected: false
    }
  }
}

extension OutboxItem.State {
  /// The states that are kept and may follow this one.
  package var transitions: Set<Self> {
    switch self {
    case .pending: [.waiting, .delivered, .held, .dead, .superseded, .cancelled]
    case .waiting: [.pending, .delivered, .held, .dead, .superseded, .cancelled]
    case .inFlight: []
    case .held: [.pending, .dead, .superseded, .cancelled]
    case .dead: [.pending, .superseded, .cancelled]
    case .delivered, .cancelled, .superseded: []
    }
  }

  /// Whether the item still takes a place in its lane. Some that are held do as well (`ItemProgress.isActive`).
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
