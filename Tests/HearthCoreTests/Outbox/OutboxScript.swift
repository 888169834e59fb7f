import TestSupport
import Testing

@testable import HearthCore

/// An outbox machine that is driven step by step, with a store and APIs that the test controls.
struct OutboxScript {
  var machine: OutboxMachine
  var now = Sample.start
  /// The work that the store was asked for, without exchanges that only demand.
  private(set) var works: [OutboxStoreWork] = []
  private(set) var settled: [Settlement] = []
  private(set) var released: [Int64] = []
  private var epoch: Int64 = 0
  /// When the next item of the store expires, and when the next finished one has been kept long enough.
  var nextExpiryAt: Timestamp?
  var nextPruneAt: Timestamp?
  /// Whether its disk has no room to wipe removed content.
  var leavesContent = false

  /// Recovered, with the pauses read, and signed in as Alice.
  init(_ settings: OutboxSettings = OutboxSettings(), accounts: [AccountName] = [Sample.work]) {
    self.init(restarted: settings, accounts: accounts)
    for account in accounts { signIn(account) }
    for account in accounts { machine.serverAnswered(account, skew: .zero) }
    run()
  }

  /// Just started: no session has been read, and no server has told the time.
  init(restarted settings: OutboxSettings, accounts: [AccountName] = [Sample.work]) {
    machine = OutboxMachine(
      settings: settings,
      accounts: Dictionary(uniqueKeysWithValues: accounts.map { ($0, [Sample.origin, Sample.secondOrigin]) }),
      random: { 0 })
  }

  mutating func signIn(_ account: AccountName = Sample.work, _ subject: Subject = Sample.alice) {
    machine.sessionChanged(
      account, permission: .sendable(under: subject), knownSubject: subject, formerly: nil, token: token(1).fingerprint,
      at: now)
  }

  mutating func signOut() {
    machine.sessionChanged(
      Sample.work, permission: .blocked(reason: OutboxPermission.signedOut), knownSubject: nil, formerly: nil,
      token: nil, at: now)
  }

  mutating func block(_ reason: String = "locked", account: AccountName = Sample.work) {
    machine.sessionChanged(
      account, permission: .blocked(reason: reason), knownSubject: Sample.alice, formerly: nil,
      token: token(1).fingerprint, at: now)
  }

  func token(_ number: Int) -> Token { ScriptedBearerTokenProvider.token(number) }

  func bearer(_ number: Int = 1) -> Bearer {
    Bearer(of: Sample.work, token: token(number), subject: Sample.alice, secrets: [])
  }

  // MARK: - The store

  /// Does the store's work until there is none. A demand is answered with those of `claims` that it has room for; they
  /// are new to the machine.
  @discardableResult
  mutating func run(claiming claims: [LaneClaim] = []) -> [OutboxDemand] {
    var left = claims
    for claim in claims {
      if let account = claim.deliveries.first?.item.account { machine.ready([account: claim.kind]) }
    }
    var demands: [OutboxDemand] = []
    while let work = machine.nextStoreWork(at: now) {
      works.append(work)
      switch work {
      case .recover: machine.recovered(at: now)
      case .configure(_, let number): machine.pausesRead([], number: number)
      case .bind: machine.bound(OutboxBinding(isDone: true, holdsOthers: false), work)
      case .free: machine.freed(0, work)
      case .expire(let time):
        if let time, let next = nextExpiryAt, next <= time { nextExpiryAt = nil }
        machine.expired(next: nextExpiryAt)
      case .prune(let time):
        if let time, let next = nextPruneAt, next < time { nextPruneAt = nil }
        var pruning = OutboxPruning(isMore: false, nextAt: nextPruneAt)
        pruning.leavesContent = leavesContent
        machine.pruned(pruning, at: now)
      case .publishHeld(let name, _): machine.heldPublished(name, cursor: nil)
      case .exchange(let request):
        demands += request.demands
        settled += request.settled
        released += request.released
        var exchange = OutboxExchange(at: now)
        exchange.nextExpiryAt = nextExpiryAt
        for demand in request.demands {
          let theirs = left.filter { $0.deliveries.first?.item.account == demand.account }
          var claimed = OutboxExchange.Claimed()
          for (origin, room) in demand.rooms {
            let here = theirs.filter { $0.origin == origin }
            let (lanes, unordered) = (here.filter { $0.kind == .lanes }, here.filter { $0.kind == .unordered })
            claimed.claims += lanes.prefix(room.lanes) + unordered.prefix(room.unordered)
            let cut: OutboxKinds = [
              lanes.count > room.lanes ? .lanes : [], unordered.count > room.unordered ? .unordered : [],
            ]
            if !cut.isEmpty { claimed.cut[origin] = cut }
          }
          claimed.claims.sort { $0.epoch < $1.epoch }
          exchange.claimed[demand.account] = claimed
          left.removeAll(where: claimed.claims.contains)
        }
        machine.exchanged(exchange, request, at: now)
      }
    }
    return demands
  }

  mutating func claim(
    _ lane: Name? = "default", count: Int = 1, account: AccountName = Sample.work, origin: Origin = Sample.origin,
    bytes: Int = 10, expiresAt: Timestamp? = nil, unknownSince: Timestamp? = nil, offlineAnswers: Int = 0
  ) -> LaneClaim {
    epoch += 1
    let deliveries = (0..<count).map { place in
      let number = epoch * 1000 + Int64(place)
      let url = (try? HTTPURL("\(origin)/\(number)"))!
      let item = OutboxItem(
        id: "\(number)", account: account, subject: Sample.alice, lane: lane, method: "POST", url: url.description,
        state: .pending, createdAt: now, idempotencyKey: "\(number)", bytes: bytes)
      var progress = ItemProgress(expiresAt: expiresAt, at: now)
      (progress.offlineAnswers, progress.unknownSince) = (offlineAnswers, unknownSince)
      return Delivery(
        number: number, item: item, progress: progress,
        request: APIRequest(method: "POST", url: url, headers: [], body: [], idempotencyKey: "\(number)"))
    }
    return LaneClaim(epoch: epoch, deliveries: deliveries)
  }

  // MARK: - Senders

  /// Starts the senders that may start, each up to its request.
  @discardableResult
  mutating func start() -> [SenderID] {
    let started = machine.startSenders(at: now)
    for id in started { step(id) }
    return started
  }

  /// The first sender that may start, up to its request.
  mutating func first() throws -> SenderID {
    let started = start()
    return try #require(started.first)
  }

  /// The same, before its first step.
  mutating func firstUnstepped() throws -> SenderID {
    let started = machine.startSenders(at: now)
    return try #require(started.first)
  }

  /// Gives a sender its token if it needs one, and returns its next step.
  @discardableResult
  mutating func step(_ id: SenderID, bearer number: Int = 1) -> SenderStep {
    var step = machine.next(of: id, at: now)
    if case .getBearer = step {
      machine.received(.success(bearer(number)), for: id, at: now)
      step = machine.next(of: id, at: now)
    }
    return step
  }

  mutating func answer(_ id: SenderID, _ status: Int, skew: Duration? = .zero) {
    machine.responded(.success(APIResponse(status: status, skew: skew)), for: id, isCancelled: false, at: now)
  }
}

extension SenderStep {
  /// The number of the item that has to be sent.
  var sent: Int64? {
    if case .send(let delivery, _, _) = self { delivery.number } else { nil }
  }
}
