/// The state of one account in the running outbox.
struct OutboxAccount {
  static let hydrating = "hydrating"
  static let user = "user"
  static let offline = "offline"
  static let refreshUnavailable = "refreshUnavailable"

  var api: APISettings
  /// False if the account was removed from the configuration and some of its requests are still under way.
  var isConfigured = true
  var permission = OutboxPermission.blocked(reason: OutboxAccount.hydrating)
  var knownSubject: Subject?
  /// The last known user, if that user has signed out since this process began and nobody is signed in now.
  var lastSubject: Subject?
  /// This user under the issuer that was assumed before the provider named one.
  var formerSubject: Subject?
  /// Whether the session has reported its user, as far as it remembers one.
  var isSessionReported = false
  /// Whether the store knows the current user, and has given them every item that is to become theirs.
  var isBound = true
  /// Whether the store has to learn that a user without a name may have signed out, before anything is sent.
  var isLeft = false
  /// Whether items may be held in their places for an origin that has been configured since.
  var mayHoldConfigured = true
  /// Whether a sign-in, or the start, may have made items sendable that are held in their places.
  var hasSignedIn = true
  private(set) var isPausedByUser = false
  /// The number of the change or read of the pauses that `isPausedByUser` comes from.
  private var pauseNumber = 0
  /// The reason for the pause as last shown and as last published. `nil` if sending is not paused.
  var shownPause: String?
  var publishedPause: String?
  /// The number of calls that are discarding the user's items. No item is sent meanwhile.
  var discards = 0

  var breaker: CircuitBreaker
  var acceptance = TokenAcceptance()
  var refused = RefusedItems()
  /// The session's token, as last reported.
  var token: Fingerprint?
  /// The number of failures in a row to get a token, or a replacement for a rejected one.
  var bearerFailures = 0
  /// Whether a token is needed and the provider cannot be asked now.
  var lacksToken = false
  /// Nothing is sent until this time, or until the session has another token.
  var stalledUntil: Timestamp?
  /// What servers have reported since this clock was last stepped.
  var clocks = ServerClocks()
  /// The origin whose time decides whether items have expired. `nil` if none seem to have expired.
  var timeNeededFrom: Origin?
  var timeAskedAt: Timestamp?

  /// The claims that no sender has taken yet, in order.
  var queue: [LaneClaim] = []
  var senders: [SenderID: Sender] = [:]

  /// The kinds of items of which the store may have more to send.
  var mayHaveMore = OutboxKinds.all
  /// The kinds of which an origin may have more items that could not be claimed for lack of room. No value is empty.
  var left: [Origin: OutboxKinds] = [:]
  /// Whether a demand for deliveries of this account is with the store.
  var isClaiming = false
  var nextDueAt: Timestamp?
  var readAhead: [Origin: ReadAhead] = [:]

  /// Whether items that are held for another user still have to be published; `heldCursor` is the next page.
  var isPublishingHeld = false
  var heldCursor: String?

  /// `former` is the account before it was removed from the configuration, if it still has requests under way or a
  /// sign-out that the store does not know. Its pause counts for these requests until the pauses are read again.
  init(_ api: APISettings, retry: RetryPolicy, after former: OutboxAccount? = nil) {
    self.api = api
    breaker = CircuitBreaker(retry)
    guard let former else { return }
    (senders, discards, isLeft) = (former.senders, former.discards, former.isLeft)
    (isPausedByUser, pauseNumber) = (former.isPausedByUser, former.pauseNumber)
    bindAgain()
  }

  // MARK: - What is under way

  /// Whether any sender is active. Senders that wait for the cause of a 401 do not count.
  var isSending: Bool { senders.values.contains { !$0.isJudging } }

  var hasMore: Bool { !mayHaveMore.isEmpty || !left.isEmpty }

  /// Whether something waits for room, which a slow request may make.
  var isWaiting: Bool { hasMore || !queue.isEmpty || timeNeededFrom != nil }

  /// Notes that the origin may have more items of these kinds that could not be claimed for lack of room.
  mutating func leaves(_ kinds: OutboxKinds, for origin: Origin) {
    if !kinds.isEmpty { left[origin, default: []].formUnion(kinds) }
  }

  mutating func isDemanded(_ kinds: OutboxKinds, for origin: Origin) {
    left[origin]?.subtract(kinds)
    if left[origin]?.isEmpty == true { left[origin] = nil }
  }

  /// Whether nothing is under way and nothing can be sent, so that the account is left alone until something happens.
  var isQuiet: Bool {
    guard queue.isEmpty, senders.isEmpty, isBound, !isPublishingHeld, !isFreeing else { return false }
    return !isSendable
      || !hasMore && nextDueAt == nil && stalledUntil == nil && breaker.unreachable.isEmpty
        && timeNeededFrom == nil && refused.nextAt == nil
  }

  /// Whether the store has to free items that are held in their places.
  var isFreeing: Bool { mayHoldConfigured || hasSignedIn }

  // MARK: - What is permitted

  var isSendable: Bool {
    if case .sendable = permission { return isConfigured && !isPausedByUser && discards == 0 }
    return false
  }

  /// Whether the session is being read, so that its state will soon be known.
  var isHydrating: Bool { permission == .blocked(reason: Self.hydrating) }

  var pausedReason: String? {
    if isPausedByUser { return Self.user }
    if case .blocked(let reason) = permission { return reason }
    if !api.origins.isEmpty, api.origins.isSubset(of: breaker.unreachable) { return Self.offline }
    return lacksToken ? Self.refreshUnavailable : nil
  }

  /// The subject that gets items without a user, or those of the previous user. `nil` if no user is known.
  var boundSubject: Subject? { isLeft ? .unnamedBefore : knownSubject }

  /// Called when there may be items without a user, which have to become the known user's.
  mutating func bindAgain() { isBound = boundSubject == nil }

  /// Called after the pauses were changed or read. The call with the highest number counts, whichever ends first.
  mutating func pauseRead(isPaused: Bool, number: Int) {
    guard pauseNumber < number else { return }
    pauseNumber = number
    isPausedByUser = isPaused
  }

  /// Called when a token was accepted, or when the session or its token changed. Earlier failures no longer count.
  mutating func hasGoodToken() {
    bearerFailures = 0
    lacksToken = false
  }

  /// Called when the clock was stepped.
  mutating func shift(by shift: Duration) {
    breaker.shift(by: shift)
    if shift != .zero { clocks = ServerClocks() }
    stalledUntil = stalledUntil.map { $0 + shift }
    refused.shift(by: shift)
    timeAskedAt = timeAskedAt.map { $0 + shift }
    for id in senders.keys { senders[id]?.shift(by: shift) }
    for claim in queue.indices { queue[claim].shift(by: shift) }
    mayHaveMore = .all
    nextDueAt = nil
  }

  /// Called when the network may be back or a person asks for it. Retries everything now.
  mutating func retryNow(at now: Timestamp) {
    breaker.retryNow(at: now)
    (stalledUntil, refused) = (nil, RefusedItems())
    mayHaveMore = .all
  }
}

/// Whether an account's session permits sending its items.
package enum OutboxPermission: Hashable, Sendable {
  /// The reason if the user has ended the session.
  package static let signedOut = "signedOut"

  /// Items of this subject may be sent. `nil` means the subject that is already known.
  case sendable(under: Subject?)
  /// No item may be sent. The reason is shown as `pausedReason`: `locked`, `signedOut`, `reauthRequired`, `hydrating` …
  case blocked(reason: String)
}
