internal import HearthCore

/// What the outbox service knows of one account while it runs.
struct OutboxAccount {
  static let hydrating = "hydrating"
  static let user = "user"
  static let offline = "offline"
  static let refreshUnavailable = "refreshUnavailable"

  /// A delivery that waits to hear whether others are let in with the token it was refused with.
  struct ContestedToken {
    let fingerprint: Fingerprint
    let kind: OutboxKinds
    let verdict: CheckedContinuation<UnauthorizedDecision, Never>
  }

  enum UnauthorizedDecision {
    case itemAlone, session, stopped
  }

  var origins: Set<Origin>
  var permission = OutboxPermission.blocked(reason: OutboxAccount.hydrating)
  var knownSubject: Subject?
  /// The same user, by the issuer that was assumed before the provider told one.
  var formerSubject: Subject?
  /// Its session has said whose it is, as far as that is remembered.
  var isHeardOf = false
  var isBound = true
  var isPausedByUser = false
  /// Which change or reading of the pauses that came from: a later one counts, whichever is heard of first.
  var pauseNumber = 0
  var announcedReason: String?

  var reach: CircuitBreaker
  var trust = TokenAcceptance()
  /// The token that the session holds, as it last said.
  var token: Fingerprint?
  /// In a row: no token could be had, or none in the place of a refused one.
  var bearerFailures = 0
  /// A token is needed, and the provider cannot be asked for it now.
  var lacksToken = false
  /// Nothing is sent until then, or until the session has another token.
  var stalledUntil: Timestamp?
  var timeNeededFrom: Origin?
  var timeAskedAt: Timestamp?

  /// Runs that were taken from the store and have no worker yet.
  var buffer: [LaneBatch] = []
  /// What each worker still has to send of its run.
  var tails: [Int: LaneBatch] = [:]
  /// Taken and not sent yet, with the kind of each.
  var unsent: [String: OutboxKinds] = [:]
  /// Workers by the kind of what they send.
  private var active: [OutboxKinds: Int] = [:]
  var contestedTokens: [ContestedToken] = []

  /// What the store may have more of that can be sent.
  var mayHaveMore = OutboxKinds.all
  var nextDueAt: Timestamp?
  var pace = ReadAhead()

  var isAnnouncingHeld = false
  var heldCursor: String?

  init(origins: Set<Origin>, retry: RetryPolicy) {
    self.origins = origins
    reach = CircuitBreaker(retry)
  }

  var isActive: Bool { active.values.contains { $0 > 0 } }

  /// Workers of a kind that are not waiting for a judgement.
  func working(on kind: OutboxKinds) -> Int { active[kind, default: 0] - contestedTokens.count { $0.kind == kind } }

  var isWorking: Bool { working(on: .lanes) + working(on: .unordered) > 0 }

  mutating func began(_ kind: OutboxKinds) { active[kind, default: 0] += 1 }

  /// The account may be another one of that name by now, after a reload.
  mutating func ended(_ kind: OutboxKinds) { active[kind] = max(active[kind, default: 0] - 1, 0) }

  /// There are, or may be, items that are nobody's yet: they become the known subject's.
  mutating func bindAgain() { isBound = knownSubject == nil }

  /// The next run of a kind that waits for a worker.
  mutating func nextRun(of kind: OutboxKinds) -> LaneBatch? {
    buffer.firstIndex { $0.kind == kind }.map { buffer.remove(at: $0) }
  }

  var isSendable: Bool {
    if case .sendable = permission { return !isPausedByUser }
    return false
  }

  /// Its session is being read: what it is will be known in a moment.
  var isHydrating: Bool { permission == .blocked(reason: Self.hydrating) }

  var pausedReason: String? {
    if isPausedByUser { return Self.user }
    if case .blocked(let reason) = permission { return reason }
    if !origins.isEmpty, origins.isSubset(of: reach.unreachable) { return Self.offline }
    return lacksToken ? Self.refreshUnavailable : nil
  }

  mutating func receive(isPaused: Bool, number: Int) {
    guard pauseNumber < number else { return }
    pauseNumber = number
    isPausedByUser = isPaused
  }

  /// A token was accepted, or there is another one, or another session: what was amiss with the last is over.
  mutating func hasGoodToken() {
    bearerFailures = 0
    lacksToken = false
  }

  /// Takes back everything that was not sent; returns what to write down.
  mutating func withdrawAll() -> [FinishedDelivery] {
    let deliveries = buffer.flatMap(\.deliveries) + tails.values.flatMap(\.deliveries)
    buffer = []
    for worker in tails.keys { tails[worker] = LaneBatch([]) }
    unsent = [:]
    deliveries.forEach { reach.probeGivenUp($0.request.url.origin) }
    return deliveries.map { FinishedDelivery(number: $0.number, outcome: .released) }
  }

  /// Takes back one item that was not sent, and what is behind it in its lane, lest that goes out first; returns what
  /// to write down.
  mutating func withdraw(_ id: String) -> [FinishedDelivery] {
    var withdrawn: [Delivery] = []
    func take(_ run: inout LaneBatch) {
      guard let index = run.deliveries.firstIndex(where: { $0.item.id == id }) else { return }
      withdrawn = Array(run.deliveries[index...])
      run.deliveries.removeSubrange(index...)
    }
    for index in buffer.indices { take(&buffer[index]) }
    for worker in tails.keys {
      var tail = tails[worker] ?? LaneBatch([])
      take(&tail)
      tails[worker] = tail
    }
    buffer.removeAll(where: \.deliveries.isEmpty)
    for delivery in withdrawn {
      unsent[delivery.item.id] = nil
      reach.probeGivenUp(delivery.request.url.origin)
    }
    return withdrawn.map { FinishedDelivery(number: $0.number, outcome: .released) }
  }
}

/// How far ahead deliveries are taken from the store: nothing while they are slow, up to 128 while they are fast, so
/// that one transaction serves many.
struct ReadAhead {
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

extension LaneBatch {
  var kind: OutboxKinds { deliveries.first?.kind ?? .lanes }
}

extension Delivery {
  var kind: OutboxKinds { item.lane == nil ? .unordered : .lanes }
}
