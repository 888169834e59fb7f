/// The part of an item that changes during its delivery, with the rules for the changes. A store selects items and
/// writes the results of these transitions.
package struct ItemProgress: Hashable, Sendable {
  /// Never `inFlight`: an item whose request has left stays pending or waiting until it is settled.
  package var state: OutboxItem.State
  package var reason: OutboxItem.Reason?
  /// The number of requests that were sent and counted.
  package var attempts = 0
  /// The number of 409 responses of the API.
  package var conflicts = 0
  /// The number of 407 and 511 responses since the API itself has answered. They are not counted in `attempts`.
  package var offlineAnswers = 0
  /// When the item may be claimed. `nil` means at once.
  package var dueAt: Timestamp?
  package var notBefore: Timestamp?
  package var expiresAt: Timestamp?
  package var nextAttemptAt: Timestamp?
  /// When the first request whose result is unknown was sent. `nil` if the API has certainly not acted on the item.
  package var unknownSince: Timestamp?
  /// Whether a request has left that `attempts` and `unknownSince` do not show, because it was not counted or because
  /// somebody has retried the item since.
  package var hasLeft = false
  package var finishedAt: Timestamp?
  package var lastStatus: Int?
  package var lastError: String?

  /// Makes a new item. It is waiting if its `notBefore` is in the future.
  package init(notBefore: Timestamp? = nil, expiresAt: Timestamp? = nil, at now: Timestamp) {
    state = .pending
    (self.notBefore, self.expiresAt) = (notBefore, expiresAt)
    waitForStart(at: now)
  }

  /// Makes an item that can be sent wait for its `notBefore`, if that is in the future.
  private mutating func waitForStart(at now: Timestamp) {
    let start = notBefore.flatMap { $0 > now ? $0 : nil }
    (state, dueAt, nextAttemptAt) = (start == nil ? .pending : .waiting, start, start)
  }

  /// Makes a new item wait until `time`, unless it already waits longer.
  mutating func wait(until time: Timestamp, at now: Timestamp) {
    guard time > max(dueAt ?? now, now) else { return }
    (state, dueAt, nextAttemptAt) = (.waiting, time, time)
  }

  /// Makes an item that the store has read.
  package init(state: OutboxItem.State) { self.state = state }

  /// Whether the last request got no response, so that the next one may also take the whole time limit.
  package var isUnanswered: Bool { lastStatus == nil && unknownSince != nil }

  /// Whether the item is held but keeps its place, and so blocks its lane until the reason is gone.
  package var isHeldInPlace: Bool { state == .held && reason?.keepsPlace == true }

  /// Whether the item still occupies a place in its lane.
  package var isActive: Bool { state.isActive || isHeldInPlace }

  /// Whether any of the item's requests may have left, so that an API may know its idempotency key.
  package var mayHaveLeft: Bool { hasLeft || attempts > 0 || unknownSince != nil }

  /// Whether the item has ended without any of its requests leaving, so that its idempotency key is free.
  package var hasEndedUnsent: Bool {
    if mayHaveLeft { return false }
    return state == .cancelled || state == .superseded || state == .dead && reason == .expired
  }

  // MARK: - Delivery

  /// Applies the outcome of a delivery. `hasLeft` says whether a request has left for it; for a released item nothing
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
      // Without a status it is due at once: the claim decides whether its origin may be probed, and other items probe
      // it before this one. With a status it waits: if other requests get through, the response concerned only this
      // item.
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

  /// Holds the item. The reason decides whether it keeps its place.
  package mutating func hold(_ reason: OutboxItem.Reason) { (state, self.reason, nextAttemptAt) = (.held, reason, nil) }

  /// Resumes an item that is held in its place. Returns false if it is not held in its place.
  package mutating func goOn(at now: Timestamp) -> Bool {
    guard isHeldInPlace else { return false }
    reason = nil
    waitForStart(at: now)
    return true
  }

  /// Called for an item that was claimed (since `since`) when the daemon ended. Its request may have left.
  package mutating func lost(since: Timestamp) {
    state = .pending
    (dueAt, nextAttemptAt) = (nil, nil)
    unknownSince = unknownSince ?? since
    lastError = Self.lostError
  }

  /// The `lastError` of a lost item.
  package static let lostError = "The daemon ended while the request was on its way."

  /// Whether an item that is due can be sent.
  package enum Eligibility: Hashable, Sendable {
    case sendable
    /// The item seems to have expired. A server has to confirm the time.
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

  /// Takes the item out of its lane and keeps it for a person to look at, dead or held for review.
  package mutating func leaveLane(_ reason: OutboxItem.Reason, at now: Timestamp) {
    switch reason {
    case .needsReview:
      let last = lastError.map { " (\($0))" } ?? ""
      lastError = "Its result has been unknown since \(unknownSince ?? now)\(last). Retry it or cancel it."
      hold(reason)
    case .damaged, .otherUser, .originNotConfigured, .needsStepUp: hold(reason)
    case .rejected, .expired, .attemptsExhausted, .redirected:
      finish(.dead, at: now)
      self.reason = reason
    }
  }

  // MARK: - Changes that people ask for

  /// Returns false if the item has already ended. `hasBegun` is true if its request may have left.
  package mutating func cancel(hasBegun: Bool = false, at now: Timestamp) -> Bool {
    guard state.mayBeCancelled else { return false }
    if hasBegun { unknownSince = unknownSince ?? now }
    finish(.cancelled, at: now)
    return true
  }

  /// Puts a dead or held item back as if it were new, at the end of its lane unless it has kept its place. Its
  /// `notBefore` and `expiresAt` still apply. Returns false for other items, and for an expired one: its caller wanted
  /// it sent by then or not at all.
  package mutating func retry(at now: Timestamp) -> Bool {
    if goOn(at: now) { return true }
    guard state == .held || state == .dead && reason != .expired else { return false }
    let before = self
    self = ItemProgress(notBefore: before.notBefore, expiresAt: before.expiresAt, at: now)
    (hasLeft, lastStatus, lastError) = (before.mayHaveLeft, before.lastStatus, before.lastError)
    return true
  }

  /// Holds the item for review, because the item with this id has the same idempotency key but different content. This
  /// item gives up the key. A person decides which of the two is meant.
  package mutating func doubt(because id: String) {
    hold(.needsReview)
    lastError =
      "Item \(id) has the same idempotency key but different content. Retry this one to send it under its "
      + "own, or cancel it."
  }

  /// Called when a newer item with the same `replaceKey` takes this item's place.
  package mutating func supersede(at now: Timestamp) { finish(.superseded, at: now) }

  /// Called when the item with this id is the same write (`KeyedItem`).
  package mutating func supersede(by id: String, at now: Timestamp) {
    finish(.superseded, at: now)
    lastError = "Item \(id) has the same idempotency key and content, and is sent instead."
  }

  /// Makes a waiting item due now, or at its `notBefore`. Returns false if it is already due.
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
    // The error may quote the content, which is no longer kept.
    if end == .cancelled || end == .superseded { lastError = nil }
  }
}
