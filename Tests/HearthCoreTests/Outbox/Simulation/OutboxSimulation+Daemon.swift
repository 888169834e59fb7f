import TestSupport

@testable import HearthCore

/// Carries out what the machine decides, as the service does.
extension OutboxSimulation {
  func start() {
    note("a daemon starts")
    let random = chance.next()
    daemon = SimulatedDaemon(
      OutboxMachine(settings: settings, accounts: apis) { Double(random % 1000) / 1000 }, overrides)
    for name in sessions.keys.sorted() {
      (sessions[name]!.state, sessions[name]!.isReportedSendable) = (.hydrating, false)
      after(0...200, .sessionReported(name))
    }
    lastDisturbance = elapsed
    look()
  }

  /// The loop decides what to do next.
  func look() {
    guard daemon != nil, daemon!.work == nil else { return }
    let begun = now
    daemon!.restsUntil = nil
    if daemon!.machine.isDone(at: begun) { return end() }
    daemon!.machine.ready(takeReady())
    for id in daemon!.machine.startSenders(at: begun) {
      daemon!.senders.insert(id)
      daemon!.fresh.insert(id)
      daemon!.begunAt[id] = tick()
      after(0...1, .step(id))
    }
    for (name, origin) in daemon!.machine.timesToAsk(at: begun) {
      note("\(name) asks \(origin) for the time")
      after(5...200, .time(name, origin))
    }
    if let work = daemon!.machine.nextStoreWork(at: begun) {
      checkDemands(work)
      (daemon!.work, daemon!.workBegan, daemon!.workSkew) = ((work, begun), elapsed, daemon!.skew)
      at(storeTime(), .workDone)
    } else {
      endFlushes()
      daemon!.restsUntil = daemon!.machine.nextWake(after: begun)
      if daemon!.isSignalled { at(elapsed, .look) }
    }
  }

  private func takeReady() -> [AccountName: OutboxKinds] {
    defer { daemon!.ready = [:] }
    return daemon!.ready
  }

  /// When the store is done with its next call. It does one thing after the other.
  func storeTime() -> Int {
    let wait = isDiskFailing ? number(0...1000) : chances(1, in: 2) ? 0 : number(0...slowestDisk)
    storeFreeAt = max(storeFreeAt, elapsed + wait)
    return storeFreeAt
  }

  func signal() {
    guard daemon != nil, !daemon!.isSignalled else { return }
    daemon!.isSignalled = true
    if daemon!.work == nil, daemon!.restsUntil != nil { after(0...1, .look) }
  }

  /// Carries out what follows from an input of the machine.
  func follow() {
    guard daemon != nil else { return }
    for change in daemon!.machine.takePauseChanges() { note("\(change.account) paused: \(change.reason ?? "no")") }
    for id in daemon!.machine.takeResumed() where daemon!.waiting.remove(id) != nil { at(elapsed, .step(id)) }
    signal()
  }

  /// The commits of the store reach the service before the callers are answered.
  func publish() {
    for commit in model.takeCommits() {
      checkCommit(commit)
      guard daemon != nil else { continue }
      for (name, kinds) in commit.ready { daemon!.ready[name, default: []].formUnion(kinds) }
      if !commit.ready.isEmpty { signal() }
    }
  }

  // MARK: - The store

  private var doesDiskFail: Bool { isDiskFailing && chances(1, in: 2) }

  func workDone() {
    guard let (work, _) = daemon?.work else { return }
    if doesDiskFail {
      note("the store fails")
      tally[.storeFailure] += 1
      lastDisturbance = elapsed
      daemon!.result = .failed
    } else {
      daemon!.result = carryOut(work, at: storeActs())
      publish()
    }
    after(0...(chances(1, in: 4) ? 3 : 0), .workAnswered)
  }

  private func carryOut(_ work: OutboxStoreWork, at time: Timestamp) -> SimulatedDaemon.WorkResult {
    switch work {
    case .recover:
      note("the outbox is recovered")
      model.recover(at: time)
      return .recovered
    case .configure(let names, _): return .paused(model.configure(names))
    case .bind(let name, let subject, let former, let adopts):
      note("\(name) is bound to \(subject.id), adopting: \(adopts)")
      let binding = model.bind(
        name, to: subject, formerly: former, adopts: adopts, limit: OutboxMachine.batch, at: time)
      for item in model.items.values where items[item.number]?.user == nil {
        items[item.number]?.user = user(of: model.subject(of: item), item.account)
      }
      checkTwins()
      return .bound(binding)
    case .free(let name, let configured, let signedIn):
      note("\(name): frees what was held for \(configured.map(\.host).sorted()), or a sign-in: \(signedIn)")
      return .freed(
        model.free(name, configured: configured, signedIn: signedIn, limit: OutboxMachine.batch, at: time))
    case .exchange(let request):
      let held = checkSettlements(request.settled)
      let waited = Duration.milliseconds(elapsed - (daemon?.workBegan ?? elapsed))
      let exchange = model.exchange(
        request.settled.map { $0.older(by: waited) }, releasing: request.released, claiming: request.demands, at: time)
      note("settles \(request.settled.map(\.number)), releases \(request.released), claims \(describe(exchange))")
      checkSettled(held)
      checkClaims(exchange)
      return .exchanged(exchange)
    case .expire(let agreed): return .expired(model.expire(limit: OutboxMachine.batch, by: agreed, at: time))
    case .prune(let agreed):
      return .pruned(model.prune(keeping: settings, limit: OutboxMachine.batch, by: agreed))
    case .publishHeld(let name, let cursor):
      let query = OutboxQuery(account: name, state: .held, limit: OutboxMachine.batch, cursor: cursor)
      return .held(cursor: model.list(query).cursor)
    }
  }

  /// The user that the simulation knows for a subject.
  func user(of subject: Subject?, _ name: AccountName) -> Name? {
    subject == .unnamed ? sessions[name]?.reportedUser : subject?.named.map { Name($0.id) }
  }

  private func describe(_ exchange: OutboxExchange) -> String {
    exchange.claimed.sorted { $0.key < $1.key }.map { name, claimed in
      let claims = claimed.claims.map { "\($0.epoch): \($0.deliveries.map(\.number))" }
      let due = claimed.nextDueAt.map { " due in \(($0 - storeNow).wholeMilliseconds)" } ?? ""
      return "\(name) \(claims) cut \(claimed.cut.mapValues(\.rawValue)) \(claimed.moved.rawValue)\(due)"
    }.description
  }

  func workAnswered() {
    guard let (work, _) = daemon?.work, let result = daemon!.result else { return }
    (daemon!.work, daemon!.result) = (nil, nil)
    switch result {
    case .failed: daemon!.machine.storeFailed(work, at: now)
    case .recovered:
      daemon!.machine.recovered(at: now)
      daemon!.isRecovered = true
    case .paused(let names):
      if case .configure(_, let number) = work { daemon!.machine.pausesRead(names, number: number) }
    case .bound(let binding): daemon!.machine.bound(binding, work)
    case .freed(let count): daemon!.machine.freed(count, work)
    case .exchanged(let exchange):
      if case .exchange(let request) = work {
        daemon!.machine.ready(takeReady())
        daemon!.machine.exchanged(exchange, request, at: now)
        for claim in exchange.claimed.values.flatMap(\.claims) {
          for delivery in claim.deliveries { items[delivery.number]?.heldAt = tick() }
        }
      }
    case .expired(let next): daemon!.machine.expired(next: next)
    case .pruned(let pruning): daemon!.machine.pruned(pruning, at: now)
    case .held(let cursor):
      if case .publishHeld(let name, _) = work { daemon!.machine.heldPublished(name, cursor: cursor) }
    }
    follow()
    look()
  }

  // MARK: - Senders

  func step(_ id: SenderID) {
    while daemon != nil {
      switch daemon!.machine.next(of: id, at: now) {
      case .getBearer(let name):
        daemon!.asking[id] = name
        if daemon!.fresh.remove(id) == nil { daemon!.begunAt[id] = tick() }
        after(bearerTime, .bearer(id, nil))
        return follow()
      case .replaceBearer(let rejection, let name):
        daemon!.asking[id] = name
        after(chances(1, in: 10) ? 0...20_000 : 5...300, .bearer(id, rejection))
        return follow()
      case .send(let delivery, let epoch, let bearer):
        let isUnwritable = isDiskFailing && chances(1, in: 8)
        if !isUnwritable, model.begin(delivery.number, of: epoch) {
          send(delivery, epoch, bearer, from: id)
          return follow()
        }
        note("item \(delivery.number) of claim \(epoch) is not to be sent")
        tally[.revokedClaim] += 1
        if isUnwritable { daemon!.machine.storeFailed(at: now) }
        daemon!.machine.revoked(id, at: now)
      case .wait:
        daemon!.waiting.insert(id)
        return follow()
      case .end:
        daemon!.senders.remove(id)
        if daemon!.senders.isEmpty { daemon!.concurrencyBefore = nil }
        return follow()
      }
      follow()
    }
  }

  private var bearerTime: ClosedRange<Int> { isHealed || chances(7, in: 8) ? 0...0 : 0...2000 }

  // MARK: - Ends

  /// The process ends, and perhaps the machine loses power.
  func crash(losesPower: Bool) {
    guard daemon != nil else { return }
    note(losesPower ? "the power fails" : "the daemon crashes")
    if losesPower { tally[.powerLoss] += 1 } else { tally[.crash] += 1 }
    bury(losesPower: losesPower)
  }

  private func bury(losesPower: Bool) {
    for item in items.values {
      let mayHaveLeft = losesPower ? model.isClaimed(item.number) : model.isBegun(item.number)
      item.crashed(mayHaveLeft: mayHaveLeft)
    }
    if let (work, _) = daemon?.work, case .exchange(let request) = work {
      tally[.unwrittenOutcome] += request.settled.count
    }
    untoldSteps += abs(untoldShift)
    if untoldShift != 0 { forgetWaits() }
    untoldShift = 0
    daemon = nil
    agenda = []
    model.crash(losesPower: losesPower)
    for name in sessions.keys where sessions[name]!.state != .hydrating {
      sessions[name]!.keptState = sessions[name]!.state
    }
    after(0...(chances(1, in: 4) ? 900_000 : 2000), .start)
  }

  /// The daemon was told to stop, and waits for nothing more: requests under way are cancelled.
  private func end() {
    tally[.stop] += 1
    daemon!.machine.stop(grace: .zero, at: now)
    follow()
    for id in daemon!.flights.keys.sorted() {
      daemon!.flights[id]!.item.flight = nil
      daemon!.flights[id] = nil
      daemon!.machine.responded(.failure(.unanswered(message: "cancelled")), for: id, isCancelled: true, at: now)
      step(id)
    }
    for id in daemon!.asking.keys.sorted() {
      daemon!.asking[id] = nil
      daemon!.machine.received(.failure(.noSession), for: id, at: now)
      step(id)
    }
    // Resumed senders continue.
    while let index = agenda.firstIndex(where: { if case .step = $0.event { true } else { false } }) {
      if case .step(let id) = agenda.remove(at: index).event { step(id) }
    }
    if !daemon!.senders.isEmpty { violated("the senders \(daemon!.senders.sorted()) do not end with the daemon") }
    if let request = daemon!.machine.lastRequest(at: now), !doesDiskFail {
      let held = checkSettlements(request.settled)
      _ = model.exchange(request.settled, releasing: request.released, claiming: [], at: storeActs())
      checkSettled(held)
      publish()
    }
    note("the daemon has ended")
    bury(losesPower: false)
  }
}

extension Settlement {
  fileprivate func older(by waited: Duration) -> Settlement {
    var settlement = self
    settlement.age += waited
    return settlement
  }
}
