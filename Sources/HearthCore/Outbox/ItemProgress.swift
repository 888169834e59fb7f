/// The part of an item that changes during delivery, and the rules for its changes.
package struct ItemProgress: Hashable, Sendable {
  /// The state, which is never `inFlight`. An item whose request was sent stays pending or waiting until it is settled.
  package var state: OutboxItem.State
  package var reason: OutboxItem.Reason?
  /// The number of requests that were sent and count as attempts.
  package var attempts = 0
  /// The number of 409 responses so far.
  package var conflicts = 0
  /// The number of 407 and 511 responses since the API itself last responded. They are not included in `attempts`.
  package var offlineAnswers = 0
  /// The time from which the item can be claimed, or `nil` if it can be claimed now.
  package var dueAt: Timestamp?
  package var notBefore: Timestamp?
  package var expiresAt: Timestamp?
  package var nextAttemptAt: Timestamp?
  /// The time at which the first request with an unknown result was sent, or `nil` if the API has certainly not
  /// processed the item.
  package var unknownSince: Timestamp?
  /// Whether a request was sent that `attempts` and `unknownSince` do not show. Either it did not count as an attempt,
  /// or the user has retried the item since.
  package var hasLeft = false
  package var finishedAt: Timestamp?
  package var lastStatus: Int?
  package var lastError: String?

  /// Creates the progress of a new item. The item is waiting if `notBefore` is in the future.
  package init(notBefore: Timestamp? = nil, expiresAt: Timestamp? = nil, at now: Timestamp) {
    state = .pending
    (self.notBefore, self.expiresAt) = (notBefore, expiresAt)
    waitForStart(at: now)
  }

  /// Makes the item pending or, if `notBefore` is in the future, waiting.
  private mutating func waitForStart(at now: Timestamp) {
    let start = notBefore.flatMap { $0 > now ? $0 : nil }
    (state, dueAt, nextAttemptAt) = (start == nil ? .pending : .waiting, start, start)
  }

  /// Makes a new item wait until `time`, unless it already waits longer.
  mutating func wait(until time: Timestamp, at now: Timestamp) {
    guard time > max(dueAt ?? now, now) else { return }
    (state, dueAt, nextAttemptAt) = (.waiting, time, time)
  }

  /// Creates the progress of an item that was read from the store. The caller fills in the other properties.
  package init(state: OutboxItem.State) { self.state = state }

  /// Whether the last request got no response. The next one may then also run until it times out.
  package var isUnanswered: Bool { lastStatus == nil && unknownSince != nil }

  /// Whether the item is held in place. If so, it blocks its lane until the reason is resolved.
  package var isHeldInPlace: Bool { state == .held && reason?.keepsPlace == true }

  package var isActive: Bool { state.isActive || isHeldInPlace }

  /// Whether the item may have been sent. If so, an API may know its idempotency key.
  package var mayHaveLeft: Bool { hasLeft || attempts > 0 || unknownSince != nil }

  /// Whether the item has ended without being sent. If so, its idempotency key can be reused.
  package var hasEndedUnsent: Bool {
    if mayHaveLeft { return false }
    return state == .cancelled || state == .superseded || state == .dead && reason == .expired
  }

  // MARK: - Delivery

  /// Applies the outcome of a delivery. `hasLeft` is true if a request was sent. If the outcome is `released`, nothing
  /// else changes.
  package mutating func settle(_ outcome: DeliveryOutcome, hasLeft: Bool = false, at now: Timestamp) {
    self.hasLeft = self.hasLeft || hasLeft
    switch outcome {
    case .delivered(let status):
      attempts += 1
      lastStatus = status
      lastError =
        (200...299).contains(status)
        ? nil : "The server answered \(status), which the account's configuration counts as delivered."
      finish(.delivered, at: now)
    case .waiting(let wait):
      state = .waiting
      attempts += 1
      if wait.isConflict { conflicts += 1 }
      if wait.status != nil { offlineAnswers = 0 }
      (dueAt, nextAttemptAt) = (now + wait.duration, now + wait.duration)
      unknownSince = unknownSince ?? wait.unknownFor.map { now - $0 }
      (lastStatus, lastError) = (wait.status, wait.error)
    case .unreachable(let probeIn, let status, let error):
      state = .waiting
      // Without a status, the item becomes due now, because the claim decides when to probe the origin and with which
      // item. With a status, the item waits, because the response may concern only this item.
      nextAttemptAt = now + probeIn
      dueAt = status == nil ? now : nextAttemptAt
      if status != nil { offlineAnswers += 1 }
      (lastStatus, lastError) = (status, error)
    case .dead(let reason, let status, let error):
      if status != nil || reason == .attemptsExhausted { attempts += 1 }
      (lastStatus, lastError) = (status, error)
      leaveLane(reason, at: now)
    case .needsStepUp(let status, let error):
      (lastStatus, lastError) = (status, error)
      hold(.needsStepUp)
    case .released: break
    }
  }

  package mutating func hold(_ reason: OutboxItem.Reason) { (state, self.reason, nextAttemptAt) = (.held, reason, nil) }

  /// Resumes an item that is held in place. Returns false if it is not held in place.
  package mutating func goOn(at now: Timestamp) -> Bool {
    guard isHeldInPlace else { return false }
    reason = nil
    waitForStart(at: now)
    return true
  }

  /// Puts an item that was in flight when the daemon ended back into its lane. Its result counts as unknown from
  /// `since`, the time of the claim.
  package mutating func lost(since: Timestamp) {
    state = .pending
    (dueAt, nextAttemptAt) = (nil, nil)
    unknownSince = unknownSince ?? since
    lastError = Self.lostError
  }

  package static let lostError = "The daemon stopped while the request was in flight."

  /// The result of checking whether a due item can be sent.
  package enum Eligibility: Hashable, Sendable {
    case sendable
    /// The item seems to have expired, but a server still has to confirm the time.
    case timeNeeded
    case leaves(OutboxItem.Reason)
  }

  package func eligibility(
    method: String, policy: DeliveryPolicy, expiry: ExpiryTime, at now: Timestamp
  ) -> Eligibility {
    if let expiresAt, expiresAt <= expiry.time {
      switch expiry {
      case .agreed: return .leaves(.expired)
      case .unconfirmed: return .timeNeeded
      }
    }
    let maySend = policy.mayBeSent(method: method, unknownSince: unknownSince, at: now)
    return maySend ? .sendable : .leaves(.needsReview)
  }

  /// Moves the item out of its lane. The item stays in the outbox, dead or held, until the user handles it.
  package mutating func leaveLane(_ reason: OutboxItem.Reason, at now: Timestamp) {
    switch reason {
    case .needsReview:
      let last = lastError.map { " (\($0))" } ?? ""
      lastError = "The result has been unknown since \(unknownSince ?? now)\(last). Retry it or cancel it."
      hold(reason)
    case .damaged, .otherUser, .originNotConfigured, .needsStepUp: hold(reason)
    case .rejected, .expired, .attemptsExhausted, .redirected:
      finish(.dead, at: now)
      self.reason = reason
    }
  }

  // MARK: - User actions

  /// Cancels the item. Returns false if it has already ended. `hasBegun` is true if its request may have been sent.
  package mutating func cancel(hasBegun: Bool = false, at now: Timestamp) -> Bool {
    guard state.mayBeCancelled else { return false }
    if hasBegun { unknownSince = unknownSince ?? now }
    finish(.cancelled, at: now)
    return true
  }

  /// Restarts a dead or held item at the end of its lane or, if it is held in place, in that place. `notBefore` and
  /// `expiresAt` still apply. Returns false for any other item, and for an expired one, because its caller did not want
  /// it to be sent late.
  package mutating func retry(at now: Timestamp) -> Bool {
    if goOn(at: now) { return true }
    guard state == .held || state == .dead && reason != .expired else { return false }
    let before = self
    self = ItemProgress(notBefore: before.notBefore, expiresAt: before.expiresAt, at: now)
    (hasLeft, lastStatus, lastError) = (before.mayHaveLeft, before.lastStatus, before.lastError)
    return true
  }

  /// Holds this item for review and removes its idempotency key, because item `id` has the same key but different
  /// content. The user decides which one to send.
  package mutating func doubt(because id: String) {
    hold(.needsReview)
    lastError =
      "Item \(id) has the same idempotency key but different content. Cancel this item, or retry it to send it under a "
      + "new key."
  }

  /// Ends the item, because a newer item with the same `replaceKey` replaces it.
  package mutating func supersede(at now: Timestamp) { finish(.superseded, at: now) }

  /// Ends the item, because item `id` is the same write (`KeyedItem`).
  package mutating func supersede(by id: String, at now: Timestamp) {
    finish(.superseded, at: now)
    lastError = "Item \(id) has the same idempotency key and content, and is sent instead."
  }

  /// Makes a waiting item due now or at its `notBefore`. Returns false if it was already due by then.
  package mutating func retryNow(at now: Timestamp) -> Bool {
    let soonest = max(notBefore ?? now, now)
    guard let dueAt, soonest < dueAt else { return false }
    (self.dueAt, nextAttemptAt) = (soonest, soonest)
    return true
  }

  private mutating func finish(_ end: OutboxItem.State, at now: Timestamp) {
    state = end
    reason = nil
    nextAttemptAt = nil
    finishedAt = now
    // The error may quote the content, and the content is being deleted.
    if end == .cancelled || end == .superseded { lastError = nil }
  }
}
