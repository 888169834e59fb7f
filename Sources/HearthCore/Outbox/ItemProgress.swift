/// The part of an item that changes during delivery, and the rules for its changes.
package struct ItemProgress: Hashable, Sendable {
  /// The state, which is never `inFlight`. An item whose request was sent stays pending or waiting until it is settled.
  package var state: OutboxItem.State
  package var reason: OutboxItem.Reason?
  /// The number of requests that were sent and count as attempts.
  package var attempts = 0
  /// The number of 409 responses without `Retry-After` so far.
  package var conflicts = 0
  /// The number of 407 and 511 responses since the last response that counted as an attempt.
  package var offlineAnswers = 0
  /// The time from which the item can be claimed, or `nil` if it can be claimed immediately.
  package var dueAt: Timestamp?
  package var notBefore: Timestamp?
  package var expiresAt: Timestamp?
  package var nextAttemptAt: Timestamp?
  /// The time at which the first request with an unknown result was sent. `nil` if there is no such request, or if the
  /// user has retried the item since.
  package var unknownSince: Timestamp?
  /// Whether a request for the item was sent. This cannot be derived from `attempts` and `unknownSince`, because some
  /// requests do not count as attempts and a retry by the user resets both values.
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

  /// Makes a new item wait until `time`, unless that time has passed or the item already waits longer.
  mutating func wait(until time: Timestamp, at now: Timestamp) {
    guard time > max(dueAt ?? now, now) else { return }
    (state, dueAt, nextAttemptAt) = (.waiting, time, time)
  }

  /// Creates the progress of an item that was read from the store. The caller fills in the other properties.
  package init(state: OutboxItem.State) { self.state = state }

  /// Whether the last request got no response. If so, the next request may also run until it times out.
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

  /// Applies the outcome of a delivery. `hasLeft` is true if a request was sent. If the outcome is `released`, only the
  /// property `hasLeft` can change.
  package mutating func settle(_ outcome: DeliveryOutcome, hasLeft: Bool = false, at now: Timestamp) {
    self.hasLeft = self.hasLeft || hasLeft
    switch outcome {
    case .delivered(let status):
      attempts += 1
      lastStatus = status
      lastError =
        (200...299).contains(status)
        ? nil : "The server returned HTTP \(status), which the account's configuration counts as delivered."
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
      // Without a status, the item becomes due immediately, because `CircuitBreaker` decides when to probe the origin,
      // and the next claim decides with which item. With a status, the item waits, because the response may concern
      // only this item.
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

  /// Resumes an item that is held in place. Returns false for any other item.
  package mutating func goOn(at now: Timestamp) -> Bool {
    guard isHeldInPlace else { return false }
    reason = nil
    waitForStart(at: now)
    return true
  }

  /// Makes an item pending again after the daemon stopped while the item's request may have been in flight. The result
  /// counts as unknown from `since`, the time of the request or, if that time was not recorded, of the claim.
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

  /// Stops the delivery of the item. Depending on `reason`, the item becomes dead or held.
  package mutating func leaveLane(_ reason: OutboxItem.Reason, at now: Timestamp) {
    switch reason {
    case .needsReview:
      let last = lastError.map { " (\($0))" } ?? ""
      lastError =
        "Since \(unknownSince ?? now), Hearth has not known whether the request took effect\(last). Retry or cancel "
        + "the item."
      hold(reason)
    case .damaged, .otherUser, .originNotConfigured, .needsStepUp: hold(reason)
    case .rejected, .expired, .attemptsExhausted, .redirected:
      finish(.dead, at: now)
      self.reason = reason
    }
  }

  // MARK: - User actions

  /// Cancels the item. Returns false if the item was already delivered, cancelled or superseded. `hasBegun` is true if
  /// its request may have been sent.
  package mutating func cancel(hasBegun: Bool = false, at now: Timestamp) -> Bool {
    guard state.mayBeCancelled else { return false }
    if hasBegun { unknownSince = unknownSince ?? now }
    finish(.cancelled, at: now)
    return true
  }

  /// Restarts a dead or held item. `notBefore` and `expiresAt` still apply. The store moves the item to the end of its
  /// lane, unless the item was held in place.
  ///
  /// Returns false if the item is neither dead nor held. Also returns false for an expired item, because the program
  /// that enqueued it did not want it to be sent late.
  package mutating func retry(at now: Timestamp) -> Bool {
    if goOn(at: now) { return true }
    guard state == .held || state == .dead && reason != .expired else { return false }
    let before = self
    self = ItemProgress(notBefore: before.notBefore, expiresAt: before.expiresAt, at: now)
    (hasLeft, lastStatus, lastError) = (before.mayHaveLeft, before.lastStatus, before.lastError)
    return true
  }

  /// Holds this item for review, because item `id` has the same idempotency key but different content. The store then
  /// gives this item a new key, and the user decides whether to send it.
  package mutating func doubt(because id: String) {
    hold(.needsReview)
    lastError =
      "Item \(id) has the same idempotency key but different content. Cancel this item, or retry it to send it under a "
      + "new key."
  }

  /// Ends the item, because a newer item with the same `replaceKey` replaces it.
  package mutating func supersede(at now: Timestamp) { finish(.superseded, at: now) }

  /// Ends the item, because item `id` has the same idempotency key and content (`KeyedItem`).
  package mutating func supersede(by id: String, at now: Timestamp) {
    finish(.superseded, at: now)
    lastError = "Item \(id) has the same idempotency key and content, so this item is not sent."
  }

  /// Makes a waiting item due immediately or at its `notBefore`, whichever is later. Returns false if the item was
  /// already due by that time.
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
    // The error may quote the item's content, so delete the error together with the content.
    if end == .cancelled || end == .superseded { lastError = nil }
  }
}
