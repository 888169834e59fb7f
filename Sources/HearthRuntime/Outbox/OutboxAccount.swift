internal import HearthCore

/// What the outbox service knows of one account while it runs.
struct OutboxAccount {
  static let hydrating = "hydrating"
  static let user = "user"
  static let offline = "offline"
  static let refreshUnavailable = "refreshUnavailable"

  /// A delivery that was answered 401 to the token of the last refresh, and waits for the cause to be found out.
  struct UnauthorizedDelivery {
    let fingerprint: Fingerprint
    let kind: OutboxKinds
    let cause: CheckedContinuation<UnauthorizedCause, Never>
  }

  /// What a 401 to a new token is about.
  enum UnauthorizedCause {
    /// Other items are accepted with the same token: the API rejects this item alone.
    case item
    /// No item is accepted with the token: the session is over.
    case session
    /// Sending has stopped before the cause was known.
    case unknown
  }

  var origins: Set<Origin>
  var permission = OutboxPermission.blocked(reason: OutboxAccount.hydrating)
  var knownSubject: Subject?
  /// The same user, by the issuer that was assumed before the provider named one.
  var formerSubject: Subject?
  /// Whether its session has reported the user, as far as one is remembered.
  var isSessionReported = false
  /// Whether the store knows the current user, and every item that is to be theirs is theirs.
  var isBound = true
  private(set) var isPausedByUser = false
  /// The number of the pause or reading of pauses that `isPausedByUser` comes from.
  private var pauseNumber = 0
  /// The reason of the pause that was last published; nil where sending was.
  var publishedPause: String?

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

  var queue = DeliveryQueue()
  var unauthorized: [UnauthorizedDelivery] = []

  /// The kinds of which the store may have more items that can be sent.
  var mayHaveMore = OutboxKinds.all
  var nextDueAt: Timestamp?
  var readAhead = ReadAhead()

  /// Whether items that are held for another user are still to be published, and from which page on.
  var isPublishingHeld = false
  var heldCursor: String?

  init(origins: Set<Origin>, retry: RetryPolicy) {
    self.origins = origins
    breaker = CircuitBreaker(retry)
  }

  /// The workers of a kind that send: those whose delivery waits for the cause of a 401 are not among them.
  func sending(_ kind: OutboxKinds) -> Int { queue.workers(on: kind) - unauthorized.count { $0.kind == kind } }

  var isSending: Bool { sending(.lanes) + sending(.unordered) > 0 }

  /// There are, or may be, items of no user: they are to become the known user's.
  mutating func bindAgain() { isBound = knownSubject == nil }

  var isSendable: Bool {
    if case .sendable = permission { return !isPausedByUser }
    return false
  }

  /// Whether its session is being read: its state will be known shortly.
  var isHydrating: Bool { permission == .blocked(reason: Self.hydrating) }

  var pausedReason: String? {
    if isPausedByUser { return Self.user }
    if case .blocked(let reason) = permission { return reason }
    if !origins.isEmpty, origins.isSubset(of: breaker.unreachable) { return Self.offline }
    return lacksToken ? Self.refreshUnavailable : nil
  }

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

  /// Withdraws everything that was claimed and not sent, and returns what to write down.
  mutating func withdrawAll() -> [FinishedDelivery] { released(queue.withdrawAll()) }

  /// Withdraws one unsent item, and those behind it in its lane, and returns what to write down.
  mutating func withdraw(_ id: String) -> [FinishedDelivery] { released(queue.withdraw(id)) }

  private mutating func released(_ deliveries: [Delivery]) -> [FinishedDelivery] {
    for delivery in deliveries { breaker.probeGivenUp(delivery.request.url.origin) }
    return deliveries.map(\.released)
  }
}
