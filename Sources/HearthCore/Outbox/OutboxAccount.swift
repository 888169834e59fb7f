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
  private(set) var isPausedByUser = false
  /// The number of the pause or reading of pauses that `isPausedByUser` comes from.
  private var pauseNumber = 0
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
  /// The origin whose time decides whether items have expired; nil where none seem to.
  var timeNeededFrom: Origin?
  var timeAskedAt: Timestamp?

  /// Claims that no sender has taken yet, in order.
  var queue: [LaneClaim] = []
  var senders: [SenderID: Sender] = [:]

  /// The kinds of which the store may have more items that can be sent.
  var mayHaveMore = OutboxKinds.all
  /// Whether the store is asked for deliveries of this account now.
  var isClaiming = false
  var nextDueAt: Timestamp?
  var readAhead = ReadAhead()

  /// Whether items that are held for another user are still to be published, and from which page on.
  var isPublishingHeld = false
  var heldCursor: String?

  init(_ api: APISettings, retry: RetryPolicy) {
    self.api = api
    breaker = CircuitBreaker(retry)
  }

  // MARK: - What is under way

  /// The senders of a kind. Those that wait for the cause of a 401 are not among them: others may tell it.
  func sending(_ kind: OutboxKinds) -> Int { senders.values.count { $0.kind == kind && !$0.isJudging } }

  var isSending: Bool { senders.values.contains { !$0.isJudging } }

  /// Deliveries of a kind that are claimed and not begun.
  func unsent(of kind: OutboxKinds) -> Int {
    queue.reduce(0) { $0 + ($1.kind == kind ? $1.deliveries.count : 0) }
      + senders.values.reduce(0) { $0 + ($1.kind == kind ? $1.rest.count : 0) }
  }

  /// Deliveries under way, or about to be, whose last request got no response.
  var unanswered: Int {
    queue.count { $0.deliveries.first?.wasUnanswered == true }
      + senders.values.count { $0.current?.wasUnanswered == true }
  }

  /// Nothing is under way and nothing is known to be due, or may be sent: the account is looked at again when something
  /// happens to it.
  var isQuiet: Bool {
    guard queue.isEmpty, senders.isEmpty, isBound, !isPublishingHeld else { return false }
    return !isSendable
      || mayHaveMore.isEmpty && nextDueAt == nil && stalledUntil == nil && breaker.unreachable.isEmpty
        && timeNeededFrom == nil
  }

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

  /// There are, or may be, items of no user: they are to become the known user's.
  mutating func bindAgain() { isBound = knownSubject == nil }

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
    stalledUntil = stalledUntil.map { $0 + shift }
    timeAskedAt = timeAskedAt.map { $0 + shift }
    for id in senders.keys { senders[id]?.shift(by: shift) }
    for claim in queue.indices { queue[claim].shift(by: shift) }
    mayHaveMore = .all
  }

  /// The network may be back, or a person wants it: everything is tried now.
  mutating func retryNow(at now: Timestamp) {
    breaker.retryNow(at: now)
    stalledUntil = nil
    mayHaveMore = .all
  }
}
