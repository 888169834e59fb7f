/// The state of one account in the outbox.
struct OutboxAccount {
  static let hydrating = "hydrating"
  static let user = "user"
  static let offline = "offline"
  static let refreshUnavailable = "refreshUnavailable"

  var api: APISettings
  /// Whether the account is configured. A removed account stays here until its requests, discards and sign-outs are
  /// finished.
  var isConfigured = true
  var user = OutboxUser()
  /// Whether the store may contain held items for an origin that is now configured.
  var mayHoldConfigured = true
  /// Whether held items may have become sendable because a user has signed in or the daemon has started.
  var hasSignedIn = true
  private(set) var isPausedByUser = false
  /// The number of the operation that set `isPausedByUser` (`OutboxMachine.nextPauseNumber`).
  private var pauseNumber = 0
  /// The pause reason that was last shown and the one that was last published, or `nil` if sending was not paused.
  private var shownPause: String?
  private var publishedPause: String?
  /// The number of calls that are currently discarding the user's items. Nothing is sent in the meantime.
  var discards = 0

  var breaker: CircuitBreaker
  var acceptance = TokenAcceptance()
  var refused = RefusedItems()
  private(set) var token: Fingerprint?
  /// The number of consecutive waits for a usable token (`stalledUntil`).
  private(set) var bearerFailures = 0
  /// Whether a token is needed but the provider is unavailable.
  var lacksToken = false
  /// The time until which no delivery starts because no usable token is available. A change to the session or its
  /// token, a flush, or a return of the network ends the wait early.
  private(set) var stalledUntil: Timestamp?
  /// The times that servers have reported since the local clock was last set.
  var clocks = ServerClocks()
  /// The origin to ask for the time because items seem to have expired, or `nil` if the time is not needed.
  var timeNeededFrom: Origin?
  var timeAskedAt: Timestamp?

  /// The claims that no sender has started yet, in order.
  var queue: [LaneClaim] = []
  var senders: [SenderID: Sender] = [:]
  var unclaimed = UnclaimedItems()
  var readAhead: [Origin: ReadAhead] = [:]

  /// Whether items that are held for another user still have to be published, and the cursor of the next page.
  private(set) var isPublishingHeld = false
  private(set) var heldCursor: String?

  /// Creates the state of a newly configured account. If the account was removed earlier but has not finished its
  /// requests, discards or sign-outs, `former` is its previous state. A previous pause stays in effect until the pauses
  /// are read again.
  init(_ api: APISettings, retry: RetryPolicy, after former: OutboxAccount? = nil) {
    self.api = api
    breaker = CircuitBreaker(retry)
    guard let former else { return }
    (senders, discards) = (former.senders, former.discards)
    user = OutboxUser(isLeft: former.user.isLeft)
    (isPausedByUser, pauseNumber) = (former.isPausedByUser, former.pauseNumber)
  }

  // MARK: - Activity

  /// Whether any sender is active. Senders that wait for the cause of a 401 do not count.
  var isSending: Bool { senders.values.contains { !$0.isJudging } }

  /// Whether anything is waiting for room. A request makes room when it becomes slow.
  var isWaiting: Bool { unclaimed.mayExist || !queue.isEmpty || timeNeededFrom != nil }

  /// Whether there is nothing to do for the account until the next event.
  var isQuiet: Bool {
    guard queue.isEmpty, senders.isEmpty, user.isBound, !isPublishingHeld, !isFreeing else { return false }
    return !isSendable
      || !unclaimed.mayExist && unclaimed.nextDueAt == nil && stalledUntil == nil && breaker.unreachable.isEmpty
        && timeNeededFrom == nil && refused.nextAt == nil
  }

  /// Whether the store has to look for held items that it can resume.
  var isFreeing: Bool { mayHoldConfigured || hasSignedIn }

  // MARK: - Permission

  var isSendable: Bool { user.maySend && isConfigured && !isPausedByUser && discards == 0 }

  var isHydrating: Bool { user.permission == .blocked(reason: Self.hydrating) }

  var pausedReason: String? {
    if isPausedByUser { return Self.user }
    if case .blocked(let reason) = user.permission { return reason }
    if !api.origins.isEmpty, api.origins.isSubset(of: breaker.unreachable) { return Self.offline }
    return lacksToken ? Self.refreshUnavailable : nil
  }

  /// Applies the result of changing or reading the pauses. The result with the highest number wins, regardless of the
  /// order of arrival.
  mutating func pauseRead(isPaused: Bool, number: Int) {
    guard pauseNumber < number else { return }
    pauseNumber = number
    isPausedByUser = isPaused
  }

  /// Records the reason for the pause, and returns the change to it, if any. Ignores accounts that are not configured.
  /// Publishes nothing while a session is being read, because its next state is not known yet.
  mutating func notePause(as name: AccountName) -> OutboxPauseChange? {
    let reason = pausedReason
    guard isConfigured, reason != shownPause else { return nil }
    shownPause = reason
    var change = OutboxPauseChange(account: name, reason: reason)
    if reason != Self.hydrating, reason != publishedPause {
      change.event = reason.map { .paused($0) } ?? publishedPause.map { .resumed($0) }
      publishedPause = reason
    }
    return change
  }

  /// Applies a change to the session (`OutboxMachine.sessionChanged`), and returns whether the permission or the user is
  /// different now.
  mutating func sessionChanged(
    _ permission: OutboxPermission, known: Subject?, formerly former: Subject?, token: Fingerprint?
  ) -> Bool {
    if permission != user.permission || token != self.token {
      (stalledUntil, refused) = (nil, RefusedItems())
      hasGoodToken()
    }
    self.token = token
    let isOther = user.changed(permission, known: known, formerly: former)
    if isOther, user.isGone { for id in senders.keys { senders[id]?.hasUserLeft = true } }
    return isOther
  }

  /// Resets the failures. Called when a token was accepted, and when the session or its token has changed.
  mutating func hasGoodToken() {
    bearerFailures = 0
    lacksToken = false
  }

  mutating func shift(by shift: Duration) {
    breaker.shift(by: shift)
    if shift != .zero { clocks = ServerClocks() }
    stalledUntil = stalledUntil.map { $0 + shift }
    refused.shift(by: shift)
    timeAskedAt = timeAskedAt.map { $0 + shift }
    for id in senders.keys { senders[id]?.shift(by: shift) }
    for claim in queue.indices { queue[claim].shift(by: shift) }
    unclaimed.lookAgain()
  }

  mutating func retryNow(at now: Timestamp) {
    breaker.retryNow(at: now)
    (stalledUntil, refused) = (nil, RefusedItems())
    unclaimed.add(.all)
  }

  mutating func stall(until time: Timestamp) {
    bearerFailures += 1
    stalledUntil = time
  }

  /// Ends the waits that are over, and makes due items claimable again.
  mutating func look(at now: Timestamp) {
    if let until = stalledUntil, until <= now { stalledUntil = nil }
    if refused.endHolds(at: now) { unclaimed.add(.all) }
    let isProbeDue = breaker.nextProbeAt.map { $0 <= now } ?? false
    if isProbeDue || unclaimed.nextDueAt.map({ $0 <= now }) ?? false { unclaimed.lookAgain() }
  }

  mutating func publishHeld(_ isPublishing: Bool, from cursor: String?) {
    (isPublishingHeld, heldCursor) = (isPublishing, cursor)
  }

  func loads(at now: Timestamp) -> [Origin: OriginLoad] {
    var loads: [Origin: OriginLoad] = [:]
    for sender in senders.values {
      if let origin = sender.origin { loads[origin, default: OriginLoad()].add(sender, at: now) }
    }
    for claim in queue {
      if let origin = claim.origin { loads[origin, default: OriginLoad()].add(claim) }
    }
    return loads
  }

  /// Returns the time at which the next request becomes slow and may make room for others.
  func nextSlowAt(after now: Timestamp) -> Timestamp? {
    senders.values.compactMap(\.slowAt).filter { $0 > now }.min()
  }
}

/// The session's permission to send the account's items.
package enum OutboxPermission: Hashable, Sendable {
  /// The `pausedReason` after the user has signed out.
  package static let signedOut = "signedOut"

  /// Items of this subject may be sent. If it is `nil`, items of the subject that is already known may be sent.
  case sendable(under: Subject?)
  /// No items may be sent. `reason` becomes the `pausedReason`, such as `locked`, `signedOut` or `reauthRequired`.
  case blocked(reason: String)
}
