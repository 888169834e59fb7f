/// What changes of an item as it is delivered, and the rules by which it changes. A store selects items and writes what
/// comes of these transitions.
package struct ItemProgress: Hashable, Sendable {
  /// Never `inFlight`: an item whose request has left is pending or waiting until it is settled.
  package var state: OutboxItem.State
  package var reason: OutboxItem.Reason?
  /// How many requests were sent and charged to the item.
  package var attempts = 0
  /// How often the API has answered 409.
  package var conflicts = 0
  /// When the item may be claimed; nil for at once.
  package var dueAt: Timestamp?
  package var notBefore: Timestamp?
  package var expiresAt: Timestamp?
  package var nextAttemptAt: Timestamp?
  /// When the first request was sent whose fate is unknown; nil where the API has surely not acted on the item.
  package var unknownSince: Timestamp?
  package var finishedAt: Timestamp?
  package var lastStatus: Int?
  package var lastError: String?

  /// A new item; it waits where its `notBefore` is in the future.
  package init(notBefore: Timestamp? = nil, expiresAt: Timestamp? = nil, at now: Timestamp) {
    let waitsUntil = notBefore.flatMap { $0 > now ? $0 : nil }
    state = waitsUntil == nil ? .pending : .waiting
    dueAt = waitsUntil
    nextAttemptAt = waitsUntil
    self.notBefore = notBefore
    self.expiresAt = expiresAt
  }

  /// Has a new item wait, where it does not wait for longer anyway.
  mutating func wait(until time: Timestamp, at now: Timestamp) {
    guard time > max(dueAt ?? now, now) else { return }
    (state, dueAt, nextAttemptAt) = (.waiting, time, time)
  }

  /// An item as it was kept.
  package init(state: OutboxItem.State) {
    self.state = state
  }

  /// Whether the last request got no response, so that the next one may take as long as the time limit.
  package var isUnanswered: Bool { lastStatus == nil && unknownSince != nil }

  /// It keeps its place and holds its lane until what its reason names is over.
  package var isHeldInPlace: Bool { state == .held && reason?.keepsPlace == true }

  /// Whether the item still takes a place in its lane.
  package var isActive: Bool { state.isActive || isHeldInPlace }

  /// It has come to its end, and none of its requests can have left: its idempotency key is free.
  package var hasEndedUnsent: Bool {
    guard attempts == 0, unknownSince == nil else { return false }
    return state == .cancelled || state == .superseded || state == .dead && reason == .expired
  }

  // MARK: - Delivery

  /// What becomes of the item by the outcome of its delivery, which came at `now`. A released item stays as it is.
  package mutating func settle(_ outcome: DeliveryOutcome, at now: Timestamp) {
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
      (dueAt, nextAttemptAt) = (now + wait.duration, now + wait.duration)
      unknownSince = unknownSince ?? wait.unknownFor.map { now - $0 }
      (lastStatus, lastError) = (wait.status, wait.error)
    case .unreachable(let probeIn, let status, let error):
      state = .waiting
      // Due at once: whether its origin may be probed is decided when the item is claimed, and others probe it before
      // this one. With a status it waits all the same: where other requests get through, the response was about this
      // item alone.
      nextAttemptAt = now + probeIn
      dueAt = status == nil ? now : nextAttemptAt
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

  /// Holds the item; whether in its place is the reason's to say.
  package mutating func hold(_ reason: OutboxItem.Reason) { (state, self.reason, nextAttemptAt) = (.held, reason, nil) }

  /// What the item was held for in its place is over. Returns false where it was not held so.
  package mutating func goOn() -> Bool {
    guard isHeldInPlace else { return false }
    (state, reason, dueAt) = (.pending, nil, nil)
    return true
  }

  /// The daemon ended while the item was claimed (since `since`), and its request may have left.
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
    /// It seems to have expired; whether it has depends on the time that servers agree to.
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

  /// Takes the item out of its lane, to be kept for a person to look at: it is dead, or held for review.
  package mutating func leaveLane(_ reason: OutboxItem.Reason, at now: Timestamp) {
    switch reason {
    case .needsReview:
      let last = lastError.map { " (\($0))" } ?? ""
      lastError = "What became of it is unknown since \(unknownSince ?? now)\(last); retry it, or cancel it."
      hold(reason)
    case .damaged, .otherUser, .originNotConfigured, .needsStepUp: hold(reason)
    case .rejected, .expired, .attemptsExhausted, .redirected:
      finish(.dead, at: now)
      self.reason = reason
    }
  }

  // MARK: - Changes that people ask for

  /// Returns false where the item has come to its end already. `hasBegun`: its request may have left.
  package mutating func cancel(hasBegun: Bool = false, at now: Timestamp) -> Bool {
    guard state.mayBeCancelled else { return false }
    if hasBegun { unknownSince = unknownSince ?? now }
    finish(.cancelled, at: now)
    return true
  }

  /// Puts a dead or held item back, as if it were new; its place is at the end of its lane, but for one that has kept its
  /// place. Returns false for others, and for one that expired: whoever made it wanted it sent until then or not at all.
  /// Its `expiresAt` still holds.
  package mutating func retry() -> Bool {
    if goOn() { return true }
    guard state == .held || state == .dead && reason != .expired else { return false }
    let before = self
    self = ItemProgress(state: .pending)
    (expiresAt, lastStatus, lastError) = (before.expiresAt, before.lastStatus, before.lastError)
    return true
  }

  /// The item with this id has its idempotency key and other content: a person has to say which of them is meant.
  package mutating func doubt(because id: String) {
    hold(.needsReview)
    lastError =
      "Item \(id) has the same idempotency key and other content; retry this one to have it sent, or cancel it."
  }

  /// A newer item with the same `replaceKey` takes its place.
  package mutating func supersede(at now: Timestamp) {
    finish(.superseded, at: now)
  }

  /// The item with this id is the same write (`KeyedItem`).
  package mutating func supersede(by id: String, at now: Timestamp) {
    finish(.superseded, at: now)
    lastError = "Item \(id) has the same idempotency key and content, and goes in its place."
  }

  /// Makes a waiting item due now, or at its `notBefore`. Returns false where it is due by then anyway.
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
  }
}
