/// An item with everything needed to import it into another outbox, or back into the same one.
package struct ExportedItem: Hashable, Sendable {
  package var id: String
  /// The user who owns the item, or `nil` if no user was known yet.
  package var subject: Subject?
  package var draft: OutboxDraft
  /// The state that clients saw when the item was exported.
  package var state: OutboxItem.State
  package var reason: OutboxItem.Reason?
  package var attempts: Int
  package var createdAt: Timestamp
  /// The time of the next attempt, if the item is waiting.
  package var nextAttemptAt: Timestamp?
  /// The time at which the first request with an unknown result was sent. `nil` if there was no such request, or if the
  /// user had retried the item since.
  package var unknownSince: Timestamp?
  /// Whether an API may already know the idempotency key. If so, the key must not be used with different content.
  package var mayHaveLeft: Bool
  package var lastStatus: Int?
  package var lastError: String?
  /// The time of the export. The original outbox may have changed the item later.
  package var exportedAt: Timestamp

  package init(
    id: String, subject: Subject?, draft: OutboxDraft, state: OutboxItem.State, reason: OutboxItem.Reason? = nil,
    attempts: Int = 0, createdAt: Timestamp, nextAttemptAt: Timestamp? = nil, unknownSince: Timestamp? = nil,
    mayHaveLeft: Bool = false, lastStatus: Int? = nil, lastError: String? = nil, exportedAt: Timestamp
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
    self.mayHaveLeft = mayHaveLeft
    self.lastStatus = lastStatus
    self.lastError = lastError
    self.exportedAt = exportedAt
  }

  /// The maximum number of attempts that an imported item can have.
  package static let mostAttempts = 1_000_000

  /// Validates the item for an import and returns its progress. If the item was in flight, or if the export is older
  /// than the idempotency horizon, the original outbox may have sent the item in the meantime. The item's result then
  /// counts as unknown since the export, unless it was already unknown before.
  package func kept(horizon: Duration, at now: Timestamp) throws -> NewOutboxItem.Kept {
    guard OutboxItem.isID(id) else { throw Failure.invalidParams("id must be a lowercase UUID") }
    if let reason, !state.reasons.contains(reason) {
      throw Failure.invalidParams("reason cannot be \(reason.rawValue) if the state is \(state.rawValue)")
    }
    var progress = ItemProgress(notBefore: draft.notBefore, expiresAt: draft.expiresAt, at: now)
    (progress.attempts, progress.hasLeft) = (attempts, mayHaveLeft)
    (progress.lastStatus, progress.lastError) = (lastStatus, lastError)
    let hasLeft = state == .inFlight || now - exportedAt > horizon
    progress.unknownSince = (unknownSince ?? (hasLeft ? exportedAt : nil)).map { min($0, now) }
    if let nextAttemptAt {
      // If the exporting machine's clock was ahead of this machine's clock, correct the time by the difference.
      progress.wait(
        until: min(nextAttemptAt - max(exportedAt - now, .zero), now + RetryPolicy.longestRetryAfter), at: now)
    }
    switch state {
    case .pending, .waiting, .inFlight: break
    case .held:
      // This outbox finds out by itself whether the item belongs to another user or must be held in place, so import
      // such an item without the hold.
      if reason != .otherUser, reason?.keepsPlace != true { progress.end(.held, reason ?? .needsReview, at: now) }
    case .dead: progress.end(.dead, reason ?? .rejected, at: now)
    case .delivered, .cancelled, .superseded:
      throw Failure.invalidParams("state is \(state.rawValue), so the item cannot be imported")
    }
    return NewOutboxItem.Kept(progress: progress, createdAt: min(createdAt, now))
  }
}

extension ItemProgress {
  /// Marks the item as dead or held, and cancels its next attempt.
  fileprivate mutating func end(_ state: OutboxItem.State, _ reason: OutboxItem.Reason, at now: Timestamp) {
    (self.state, self.reason) = (state, reason)
    (dueAt, nextAttemptAt) = (nil, nil)
    if state == .dead { finishedAt = now }
  }
}

package struct ExportPage: Hashable, Sendable {
  package var items: [ExportedItem]
  /// The number of items that were skipped on this page because their content is damaged or missing.
  package var damaged: Int
  /// The cursor for the next page, or `nil` on the last page.
  package var cursor: String?

  package init(items: [ExportedItem], damaged: Int, cursor: String?) {
    (self.items, self.damaged, self.cursor) = (items, damaged, cursor)
  }
}
