internal import HearthCore

/// What the outbox service knows of one account while it runs.
struct OutboxAccount {
  static let hydrating = "hydrating"
  static let user = "user"
  static let offline = "offline"

  /// A delivery that waits to hear whether others are let in with the token it was refused with.
  struct Suspect {
    let fingerprint: Fingerprint
    let verdict: CheckedContinuation<Judgement, Never>
  }

  enum Judgement {
    case itemAlone, session, stopped
  }

  var origins: Set<Origin>
  var permission = OutboxPermission.blocked(reason: OutboxAccount.hydrating)
  var knownSubject: Subject?
  var isBound = true
  var isPausedByUser = false
  var announcedReason: String?

  var reach: OriginReach
  var trust = TokenTrust()
  /// The token that the session holds, as it last said.
  var token: Fingerprint?
  /// In a row: no token could be had, or none in the place of a refused one.
  var bearerFailures = 0
  /// Nothing is sent until then, or until the session has another token.
  var stalledUntil: Timestamp?
  var timeNeededFrom: Origin?
  var timeAskedAt: Timestamp?

  /// Runs that were taken from the store and have no worker yet.
  var buffer: [DeliveryRun] = []
  /// What each worker still has to send of its run.
  var tails: [Int: DeliveryRun] = [:]
  /// Taken and not sent yet.
  var unsent: Set<String> = []
  var active = 0
  var suspects: [Suspect] = []

  var mayHaveMore = true
  var nextDueAt: Timestamp?
  var pace = DeliveryPace()

  var isAnnouncingHeld = false
  var heldCursor: String?

  init(origins: Set<Origin>, retry: RetryPolicy) {
    self.origins = origins
    reach = OriginReach(retry)
  }

  /// Workers that are not waiting for a judgement.
  var working: Int { active - suspects.count }

  var isSendable: Bool {
    if case .sendable = permission { return !isPausedByUser }
    return false
  }

  /// Its session is being read: what it is will be known in a moment.
  var isHydrating: Bool { permission == .blocked(reason: Self.hydrating) }

  var pausedReason: String? {
    if isPausedByUser { return Self.user }
    if case .blocked(let reason) = permission { return reason }
    return !origins.isEmpty && origins.isSubset(of: reach.unreachable) ? Self.offline : nil
  }

  /// Takes back everything that was not sent; returns what to write down.
  mutating func withdrawAll() -> [FinishedDelivery] {
    let deliveries = buffer.flatMap(\.deliveries) + tails.values.flatMap(\.deliveries)
    buffer = []
    for worker in tails.keys { tails[worker] = DeliveryRun([]) }
    unsent = []
    deliveries.forEach { reach.probeGivenUp($0.request.url.origin) }
    return deliveries.map { FinishedDelivery(number: $0.number, verdict: .released) }
  }

  /// Takes back one item that was not sent; nil where it is none of these.
  mutating func withdraw(_ id: String) -> FinishedDelivery? {
    guard unsent.remove(id) != nil else { return nil }
    var found: Delivery?
    func take(_ run: inout DeliveryRun) {
      guard let index = run.deliveries.firstIndex(where: { $0.id == id }) else { return }
      found = run.deliveries.remove(at: index)
    }
    for index in buffer.indices { take(&buffer[index]) }
    for worker in tails.keys {
      var tail = tails[worker] ?? DeliveryRun([])
      take(&tail)
      tails[worker] = tail
    }
    buffer.removeAll(where: \.deliveries.isEmpty)
    guard let found else { return nil }
    reach.probeGivenUp(found.request.url.origin)
    return FinishedDelivery(number: found.number, verdict: .released)
  }
}

/// How far ahead deliveries are taken from the store: nothing while they are slow, up to 128 while they are fast, so
/// that one transaction serves many.
struct DeliveryPace {
  private static let window = Duration.milliseconds(500)
  private static let furthest = 128
  private static let quick = Duration.milliseconds(15)

  private var windowStart: Timestamp?
  private var inWindow = 0
  /// Quick ones in a row. Where a commit takes longer than they, the window alone would take quick ones for slow.
  private var quickOnes = 0
  private(set) var lookahead = 0

  mutating func finished(at now: Timestamp, after duration: Duration) {
    quickOnes = duration < Self.quick ? quickOnes + 1 : 0
    if let windowStart, now - windowStart <= Self.window, now >= windowStart {
      inWindow += 1
    } else {
      if inWindow < 16, quickOnes < 32 { lookahead = 0 }
      (windowStart, inWindow) = (now, 1)
    }
    if inWindow >= 128 {
      lookahead = Self.furthest
    } else if inWindow >= 32 || quickOnes >= 32 {
      lookahead = max(lookahead, 32)
    }
  }
}
