/// An item with all that it takes to keep it in another outbox, or in the same one again.
package struct ExportedItem: Hashable, Sendable {
  package var id: String
  /// The user whose item it is; nil as long as none was known.
  package var subject: Subject?
  package var draft: OutboxDraft
  /// As it was shown.
  package var state: OutboxItem.State
  package var reason: OutboxItem.Reason?
  package var attempts: Int
  package var createdAt: Timestamp
  /// When it was due again, where it waited: as long as an API may have asked for.
  package var nextAttemptAt: Timestamp?
  /// When the first request was sent whose fate is unknown; nil where the API had surely not acted on the item.
  package var unknownSince: Timestamp?
  package var lastStatus: Int?
  package var lastError: String?
  /// What became of it later is not known here.
  package var exportedAt: Timestamp

  package init(
    id: String, subject: Subject?, draft: OutboxDraft, state: OutboxItem.State, reason: OutboxItem.Reason? = nil,
    attempts: Int = 0, createdAt: Timestamp, nextAttemptAt: Timestamp? = nil, unknownSince: Timestamp? = nil,
    lastStatus: Int? = nil,
    lastError: String? = nil, exportedAt: Timestamp
  ) {
    self.id = id
    self.subject = subject
    self.draft = draft
    self.state = state
    self.reason = reason
    self.attempts = attempts
    self.createdAt = createdAt
    self.nextAttemptAt = nextAttemptAt
    self.unknownSince = unknownSince
    self.lastStatus = lastStatus
    self.lastError = lastError
    self.exportedAt = exportedAt
  }
}

extension ExportedItem {
  /// The most attempts that an item may have had.
  package static let mostAttempts = 1_000_000

  /// What of it is kept besides its draft. The outbox that it came from may have sent it since: after longer than the
  /// idempotency horizon its fate is unknown since then, as if its request had left.
  package func kept(horizon: Duration, at now: Timestamp) throws(DraftError) -> NewOutboxItem.Kept {
    guard ItemID.isValid(id) else { throw DraftError("id: it is not a UUID in small letters") }
    if let reason, !state.reasons.contains(reason) {
      throw DraftError("reason: \(reason.rawValue) is no reason for an item to be \(state.rawValue)")
    }
    var progress = ItemProgress(notBefore: draft.notBefore, expiresAt: draft.expiresAt, at: now)
    progress.attempts = attempts
    (progress.lastStatus, progress.lastError) = (lastStatus, lastError)
    let hasLeft = state == .inFlight || now - exportedAt > horizon
    progress.unknownSince = (unknownSince ?? (hasLeft ? exportedAt : nil)).map { min($0, now) }
    if let nextAttemptAt {
      // The clock may have been ahead there.
      progress.wait(
        until: min(nextAttemptAt - max(exportedAt - now, .zero), now + RetryPolicy.longestRetryAfter), at: now)
    }
    switch state {
    case .pending, .waiting, .inFlight: break
    case .held:
      // That it was another user's is found out anew, and so is what it was held for in its place.
      if reason != .otherUser, reason?.keepsPlace != true { progress.end(.held, reason ?? .needsReview, at: now) }
    case .dead: progress.end(.dead, reason ?? .rejected, at: now)
    case .delivered, .cancelled, .superseded:
      throw DraftError("state: an item that is \(state.rawValue) is not sent any more")
    }
    return NewOutboxItem.Kept(progress: progress, createdAt: min(createdAt, now))
  }
}

extension OutboxItem.State {
  /// Why an item may be in it.
  fileprivate var reasons: Set<OutboxItem.Reason> {
    switch self {
    case .held: [.otherUser, .needsReview, .damaged, .originNotConfigured, .needsStepUp]
    case .dead: [.rejected, .expired, .attemptsExhausted, .redirected]
    case .pending, .inFlight, .waiting, .delivered, .cancelled, .superseded: []
    }
  }
}

extension ItemProgress {
  /// As it was elsewhere: dead, or held for a person to look at.
  fileprivate mutating func end(_ state: OutboxItem.State, _ reason: OutboxItem.Reason, at now: Timestamp) {
    (self.state, self.reason) = (state, reason)
    (dueAt, nextAttemptAt) = (nil, nil)
    if state == .dead { finishedAt = now }
  }
}

/// One page of an export.
package struct ExportPage: Hashable, Sendable {
  package var items: [ExportedItem]
  /// Items of this page that are left out, for their content is damaged.
  package var damaged: Int
  /// Where the next page begins; nil on the last page.
  package var cursor: String?

  package init(items: [ExportedItem], damaged: Int, cursor: String?) {
    self.items = items
    self.damaged = damaged
    self.cursor = cursor
  }
}
