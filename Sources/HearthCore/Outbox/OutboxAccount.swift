/// What the outbox knows of one account while it runs.
struct OutboxAccount {
  static let hydrating = "hydrating"
  static let user = "user"
  static let offline = "offline"
  static let refreshUnavailable = "refreshUnavailable"

  var api: APISettings
  /// False where the configuration has it no more, and requests are still under way.
  var isConfigured = true
  var permission = OutboxPermission.blocked(reason: OutboxAccount.hydrating)
  var knownSubject: Subject?
  /// The user who was known last, where none is now: they have signed out since this process began.
  var lastSubject: Subject?
  /// The same user, by the issuer that was assumed before the provider named one.
  var formerSubject: Subject?
  /// Whether its session has reported the user, as far as one is remembered.
  var isSessionReported = false
  /// Whether the store knows the current user, and every item that is to be theirs is theirs.
  var isBound = true
  /// Who had no name may have signed out: the store is to be told before the next one's items are sent.
  var isLeft = false
  /// Whether items may be held in their places for an origin that is configured by now, or for a sign-in that has been.
  var mayHoldConfigured = true
  /// After a start nobody knows whether the process before has freed them.
  var hasSignedIn = true
  private(set) var isPausedByUser = false
  /// The number of the pause or reading of pauses that `isPausedByUser` comes from.
  private(set) var pauseNumber = 0
  /// Why sending is paused, as it was last shown, and as it was last published; nil where it is not.
  var shownPause: String?
  var publishedPause: String?
  /// Calls that are discarding the items of the account's user: none of them is sent meanwhile.
  var discards = 0

  var breaker: CircuitBreaker
  var acceptance = TokenAcceptance()
  /// The token that the session holds, as it last reported.
  var token: Fingerprint?
  /// How often in a row no token could be had, or none in place of a rejected one.
  var bearerFailures = 0
  /// Whether a token is needed and the provider cannot be asked for it now.
  var lacksToken = false
  /// Nothing is sent until then, or until the session has another token.
  var stalledUntil: Timestamp?
  /// Since this clock was last stepped.
  var clocks = ServerClocks()
  /// The origin whose time decides whether items have expired; nil where none seem to.
  var timeNeededFrom: Origin?
  var timeAskedAt: Timestamp?

  /// Claims that no sender has taken yet, in order.
  var queue: [LaneClaim] = []
  var senders: [SenderID: Sender] = [:]

  /// The kinds of which the store may have more items that can be sent.
  var mayHaveMore = OutboxKinds.all
  /// The kinds that an origin may have more of, where there was no room to claim them. No value is empty.
  var left: [Origin: OutboxKinds] = [:]
  /// Whether the store is asked for deliveries of this account now.
  var isClaiming = false
  var nextDueAt: Timestamp?
  var readAhead: [Origin: ReadAhead] = [:]

  /// Whether items that are held for another user are still to be published, and from which page on.
  var isPublishingHeld = false
  var heldCursor: String?

  init(_ api: APISettings, retry: RetryPolicy) {
    self.api = api
    breaker = CircuitBreaker(retry)
  }

  // MARK: - What is under way

  /// Whether there are senders. Those that wait for the cause of a 401 are not among them: others may tell it.
  var isSending: Bool { senders.values.contains { !$0.isJudging } }

  var hasMore: Bool { !mayHaveMore.isEmpty || !left.isEmpty }

  /// Whether something waits for room, which a request that takes long may make.
  var isWaiting: Bool { hasMore || !queue.isEmpty || timeNeededFrom != nil }

  /// There may be more of these kinds for this origin, and there is no room for it, or there was none.
  mutating func leaves(_ kinds: OutboxKinds, for origin: Origin) {
    if !kinds.isEmpty { left[origin, default: []].formUnion(kinds) }
  }

  mutating func isDemanded(_ kinds: OutboxKinds, for origin: Origin) {
    left[origin]?.subtract(kinds)
    if left[origin]?.isEmpty == true { left[origin] = nil }
  }

  /// Nothing is under way and nothing is known to be due, or may be sent: the account is looked at again when something
  /// happens to it.
  var isQuiet: Bool {
    guard queue.isEmpty, senders.isEmpty, isBound, !isPublishingHeld, !isFreeing else { return false }
    return !isSendable
      || !hasMore && nextDueAt == nil && stalledUntil == nil && breaker.unreachable.isEmpty
        && timeNeededFrom == nil
  }

  /// Whether the store is to be asked to free what is held in its place.
  var isFreeing: Bool { mayHoldConfigured || hasSignedIn }

  // MARK: - What is permitted

  var isSendable: Bool {
    if case .sendable = permission { return isConfigured && !isPausedByUser && discards == 0 }
    return false
  }

  /// Whether its session is being read: its state will be known shortly.
  var isHydrating: Bool { permission == .blocked(reason: Self.hydrating) }

  var pausedReason: String? {
    if isPausedByUser { return Self.user }
    if case .blocked(let reason) = permission { return reason }
    if !api.origins.isEmpty, api.origins.isSubset(of: breaker.unreachable) { return Self.offline }
    return lacksToken ? Self.refreshUnavailable : nil
  }

  /// Whose items those are to become that nobody, or the one before, has. It is nil where nobody is known.
  var boundSubject: Subject? { isLeft ? .unnamedBefore : knownSubject }

  /// There are, or may be, items of no user: they are to become the known user's.
  mutating func bindAgain() { isBound = boundSubject == nil }

  /// A change or a reading of the pauses has ended. The one with the highest number counts, whichever ends first.
  mutating func pauseRead(isPaused: Bool, number: Int) {
    guard pauseNumber < number else { return }
    pauseNumber = number
    isPausedByUser = isPaused
  }

  /// A token was accepted, or there is another token or session: the failures before it do not count any more.
  mutating func hasGoodToken() {
    bearerFailures = 0
    lacksToken = false
  }

  /// The clock was stepped.
  mutating func shift(by shift: Duration) {
    breaker.shift(by: shift)
    if shift != .zero { clocks = ServerClocks() }
    stalledUntil = stalledUntil.map { $0 + shift }
    timeAskedAt = timeAskedAt.map { $0 + shift }
    for id in senders.keys { senders[id]?.shift(by: shift) }
    for claim in queue.indices { queue[claim].shift(by: shift) }
    mayHaveMore = .all
    nextDueAt = nil
  }

  /// The network may be back, or a person wants it: everything is tried now.
  mutating func retryNow(at now: Timestamp) {
    breaker.retryNow(at: now)
    stalledUntil = nil
    mayHaveMore = .all
  }
}
