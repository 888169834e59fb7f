/// The senders: what each does next, and what responses mean.
extension OutboxMachine {
  /// Requests of lanes at once in an account. Each lane has one and waits for no other lane, so the limit only protects
  /// the machine: a sender whose request takes long counts against the larger one.
  private static let lanesAtOnce = 64
  private static let slowLanesAtOnce = 192
  /// The most requests for one delivery: the first, one with a token that another delivery brought, one after a refresh,
  /// and some for tokens that change meanwhile.
  private static let maxRequests = 5
  private static let undatedAtMost = 8
  private static let shortestStall = Duration.seconds(1)
  private static let longestStall = Duration.seconds(300)
  static let timeProbeInterval = Duration.seconds(60)

  /// How many more senders of a kind an account may have now.
  func freeSenders(_ account: OutboxAccount, _ kind: OutboxKinds, at now: Timestamp) -> Int {
    let sending = account.sending(kind)
    guard kind == .lanes else { return max(settings.concurrency - sending, 0) }
    let slow = account.senders.values.count { $0.kind == .lanes && $0.isSlow(at: now) }
    let most = max(settings.concurrency, Self.lanesAtOnce)
    return max(min(most - (sending - slow), most + Self.slowLanesAtOnce - sending), 0)
  }

  /// When the next sender counts as slow and makes room, where all senders of lanes are busy.
  func slowSenderAt(_ account: OutboxAccount) -> Timestamp? {
    guard account.sending(.lanes) >= max(settings.concurrency, Self.lanesAtOnce),
      account.mayHaveMore.contains(.lanes) || !account.queue.isEmpty
    else { return nil }
    return account.senders.values.compactMap { sender in
      if case .sending(_, let since) = sender.step { since + Sender.slow } else { nil }
    }.min()
  }

  /// The senders to be started now.
  package mutating func startSenders(at now: Timestamp) -> [SenderID] {
    guard stopsAt == nil else { return [] }
    var started: [SenderID] = []
    for name in awake.sorted() {
      for kind in [OutboxKinds.lanes, .unordered] {
        while let account = accounts[name], account.isSendable, freeSenders(account, kind, at: now) > 0,
          let claim = takeClaim(name, kind)
        {
          lastSender += 1
          senders[lastSender] = name
          accounts[name]?.senders[lastSender] = Sender(claim, kind)
          started.append(lastSender)
        }
      }
    }
    return started
  }

  private mutating func takeClaim(_ name: AccountName, _ kind: OutboxKinds) -> LaneClaim? {
    guard let index = accounts[name]?.queue.firstIndex(where: { $0.kind == kind }) else { return nil }
    return accounts[name]?.queue.remove(at: index)
  }

  /// The accounts and origins whose time is to be asked: items seem to have expired there, and no server has answered
  /// yet. Without that they would wait for ever.
  package mutating func timesToAsk(at now: Timestamp) -> [(account: AccountName, origin: Origin)] {
    guard skew == nil, stopsAt == nil else { return [] }
    return awake.sorted().compactMap { name in
      guard let account = accounts[name], account.isSendable, let origin = account.timeNeededFrom,
        account.senders.isEmpty, account.stalledUntil == nil,
        account.timeAskedAt.map({ now - $0 >= Self.timeProbeInterval }) ?? true
      else { return nil }
      accounts[name]?.timeAskedAt = now
      return (name, origin)
    }
  }

  // MARK: - Steps

  /// What a sender is to do next.
  package mutating func next(of id: SenderID, at now: Timestamp) -> SenderStep {
    guard let name = senders[id] else { return .end }
    while let sender = accounts[name]?.senders[id] {
      switch sender.step {
      case .between:
        if !beginNext(id, sender, of: name, at: now) { return end(id, of: name, at: now) }
      case .unauthorized: return .getBearer(name)
      case .authorized(let bearer):
        guard let delivery = sender.current else { return end(id, of: name, at: now) }
        guard maySend(delivery, at: now) else {
          settle(id, .released, at: now)
          continue
        }
        guard bearer.subject == nil || bearer.subject == delivery.item.subject, sender.requests < Self.maxRequests
        else {
          stall(name, retryAfter: nil, at: now)
          settle(id, .released, at: now)
          continue
        }
        accounts[name]?.senders[id]?.requests += 1
        accounts[name]?.senders[id]?.step = .sending(bearer, since: now)
        return .send(delivery, of: sender.epoch, bearer)
      case .rejected: return .getBearer(name)
      case .sending, .judging: return .wait
      case .renewing(let bearer):
        guard let origin = sender.current?.request.url.origin else { return end(id, of: name, at: now) }
        let isAccepted = accounts[name]?.acceptance.isAccepted(bearer.token.fingerprint) ?? false
        return .replaceBearer(
          APIRejection(bearer.token.fingerprint, origin: origin, isAcceptedElsewhere: isAccepted), name)
      }
    }
    return end(id, of: name, at: now)
  }

  /// Begins the next delivery of the sender's claim, or of the next claim. False where there is none.
  private mutating func beginNext(
    _ id: SenderID, _ sender: Sender, of name: AccountName, at now: Timestamp
  ) -> Bool {
    var sender = sender
    let mayGoOn =
      stopsAt == nil && accounts[name].map { $0.isSendable && $0.stalledUntil == nil } ?? false
    if sender.rest.isEmpty || !mayGoOn {
      if !sender.rest.isEmpty { release(sender.epoch, sender.rest, at: now) }
      accounts[name]?.senders[id] = nil
      guard mayGoOn, let account = accounts[name], freeSenders(account, sender.kind, at: now) > 0,
        let claim = takeClaim(name, sender.kind)
      else { return false }
      sender = Sender(claim, sender.kind)
    }
    guard let delivery = sender.rest.popFirst() else { return false }
    sender.current = delivery
    (sender.requests, sender.wasRejected, sender.begunAt) = (0, false, now)
    sender.step = .unauthorized
    accounts[name]?.senders[id] = sender
    if !maySend(delivery, at: now) { settle(id, .released, at: now) }
    return true
  }

  private mutating func end(_ id: SenderID, of name: AccountName, at now: Timestamp) -> SenderStep {
    senders[id] = nil
    accounts[name]?.senders[id] = nil
    wake(name)
    removeUnused(name)
    judge(name, at: now)
    return .end
  }

  /// Whether the delivery may be sent now, under its subject. Time has passed since it was claimed, the machine may have
  /// slept, and the configuration may have changed: one that has expired, whose fate is unknown for too long, or whose
  /// origin is not the account's any more is released, and leaves its lane at its next claim.
  private func maySend(_ delivery: Delivery, at now: Timestamp) -> Bool {
    guard let account = accounts[delivery.item.account], account.origins.contains(delivery.request.url.origin) else {
      return false
    }
    if let expiresAt = delivery.expiresAt, expiresAt <= agreedTime(at: now) ?? now { return false }
    return stopsAt == nil && account.isSendable && account.knownSubject == delivery.item.subject
      && policy.mayBeSent(method: delivery.request.method, unknownSince: delivery.unknownSince, at: now)
  }

  // MARK: - What came of a step

  /// A token, or why there is none.
  package mutating func received(_ result: Result<Bearer, BearerFailure>, for id: SenderID, at now: Timestamp) {
    guard let name = senders[id], let sender = accounts[name]?.senders[id] else { return }
    switch result {
    case .success(let bearer):
      switch sender.step {
      case .rejected(let old, let response, let isSecond) where bearer.token.fingerprint == old.token.fingerprint:
        let step: Sender.Step =
          isReplacement(bearer, of: name) ? .judging(bearer, response, isSecond: isSecond) : .renewing(bearer)
        accounts[name]?.senders[id]?.step = step
        judge(name, at: now)
      case .renewing:
        accounts[name]?.acceptance.replaced(by: bearer.token.fingerprint)
        accounts[name]?.senders[id]?.step = .authorized(bearer)
      case .unauthorized, .rejected: accounts[name]?.senders[id]?.step = .authorized(bearer)
      case .between, .authorized, .sending, .judging: break
      }
    // The session reports when it is there again. It may have done so already, so it is asked again after a wait.
    case .failure(.noSession):
      stall(name, retryAfter: nil, at: now)
      settle(id, .released, at: now)
    case .failure(.unavailable(_, let retryAfter)):
      stall(name, retryAfter: retryAfter, at: now)
      accounts[name]?.lacksToken = true
      notePause(of: name)
      settle(id, .released, at: now)
    }
  }

  /// The claim holds no more: the item was cancelled, replaced or discarded, and nothing was sent.
  package mutating func revoked(_ id: SenderID, at now: Timestamp) {
    guard let name = senders[id], let sender = accounts[name]?.senders[id] else { return }
    // Of what is left of the claim nothing can be sent either: it comes with the next one.
    release(sender.epoch, sender.underWay, at: now)
    if let delivery = sender.current { freePlace(of: delivery) }
    leaveClaim(id, of: name)
  }

  /// What came of a request. `isCancelled`: the request was given up on this side. The bodies of responses other than 2xx hold
  /// no secret.
  package mutating func responded(
    _ result: Result<APIResponse, ExchangeFailure>, for id: SenderID, isCancelled: Bool, at now: Timestamp
  ) {
    guard let name = senders[id], let sender = accounts[name]?.senders[id], let delivery = sender.current,
      case .sending(let bearer, let sentAt) = sender.step
    else { return }
    let origin = delivery.request.url.origin
    switch result {
    case .failure(.notSent(let message)):
      if stopsAt == nil { unreachable(id, delivery, nil, message, at: now) } else { settle(id, .released, at: now) }
    case .failure(.unanswered(let message)):
      if stopsAt != nil || isCancelled {
        // It stays in flight on disk and is sent again after the next start.
        claimedBytes -= sender.underWay.bytes
        leaveClaim(id, of: name)
      } else {
        reached(origin, of: name)
        settle(
          id, policy.outcome(unanswered: message, delivery, sentAt: sentAt, at: now, random: random()), at: now)
      }
    case .success(let response):
      if DeliveryPolicy.meansOffline(response) {
        if let skew = response.skew { serverAnswered(skew: skew) }
        let message = "A proxy or a captive portal asks for a sign-in before the API can be reached."
        return unreachable(id, delivery, response.status, message, at: now)
      }
      noteTime(response)
      reached(origin, of: name)
      if response.status == 401 {
        let isSecond = sender.wasRejected && isReplacement(bearer, of: name)
        accounts[name]?.senders[id]?.wasRejected = true
        accounts[name]?.senders[id]?.step = .rejected(bearer, response, isSecond: isSecond)
        return
      }
      if (200...299).contains(response.status) { accepted(bearer, of: name, at: now) }
      settle(
        id, policy.outcome(on: response, to: delivery, sentAt: sentAt, at: now, random: random()), at: now)
    }
  }

  /// One response without the time says nothing; servers that never tell it cannot contradict this clock.
  private mutating func noteTime(_ response: APIResponse) {
    undatedResponses = response.skew == nil ? undatedResponses + 1 : 0
    if response.skew != nil || undatedResponses >= Self.undatedAtMost { serverAnswered(skew: response.skew) }
  }

  /// Whether the token took the place of one that an API rejected.
  private func isReplacement(_ bearer: Bearer, of name: AccountName) -> Bool {
    accounts[name]?.acceptance.isReplacement(bearer.token.fingerprint) == true
  }

  private mutating func accepted(_ bearer: Bearer, of name: AccountName, at now: Timestamp) {
    accounts[name]?.acceptance.accepted(bearer.token.fingerprint)
    accounts[name]?.hasGoodToken()
    notePause(of: name)
    judge(name, at: now)
  }

  private mutating func unreachable(
    _ id: SenderID, _ delivery: Delivery, _ status: Int?, _ message: String, at now: Timestamp
  ) {
    let (name, origin) = (delivery.item.account, delivery.request.url.origin)
    let probeAt = accounts[name]?.breaker.failed(origin, at: now, random: random()) ?? now
    settle(id, .unreachable(probeAt: probeAt, status: status, error: message), at: now)
    // What is claimed for the origin would find out the same, one by one.
    withdraw(name, at: now) { $0.origin == origin }
    notePause(of: name)
  }

  private mutating func reached(_ origin: Origin, of name: AccountName) {
    guard accounts[name]?.breaker.unreachable.contains(origin) == true else { return }
    accounts[name]?.breaker.answered(origin)
    accounts[name]?.mayHaveMore = .all
    wake(name)
    notePause(of: name)
  }

  // MARK: - Ends

  private mutating func settle(_ id: SenderID, _ outcome: DeliveryOutcome, at now: Timestamp) {
    guard let name = senders[id], let sender = accounts[name]?.senders[id], let delivery = sender.current else {
      return
    }
    unwritten.settle(Settlement(epoch: sender.epoch, number: delivery.number, outcome: outcome), at: now)
    accounts[name]?.readAhead.finished(at: now, after: now - (sender.begunAt ?? now))
    freePlace(of: delivery)
    accounts[name]?.senders[id]?.step = .between
    accounts[name]?.senders[id]?.current = nil
    wake(name)
    if case .released = outcome { accounts[name]?.breaker.probeGivenUp(delivery.request.url.origin) }
    if outcome.leavesLane {
      finishedSincePrune += 1
      claimedBytes -= delivery.item.bytes
    } else {
      // The claim ends with the settlement.
      claimedBytes -= sender.underWay.bytes
      accounts[name]?.senders[id]?.rest = []
    }
  }

  /// Another item that got no response may be sent in place of this one; the store does not tell of it.
  private mutating func freePlace(of delivery: Delivery) {
    if delivery.wasUnanswered { accounts[delivery.item.account]?.mayHaveMore.formUnion(delivery.kind) }
  }

  /// Nothing more is sent of the sender's claim.
  private mutating func leaveClaim(_ id: SenderID, of name: AccountName) {
    accounts[name]?.senders[id]?.step = .between
    accounts[name]?.senders[id]?.current = nil
    accounts[name]?.senders[id]?.rest = []
    wake(name)
  }

  /// Gives a claim back; what is left of it was not sent.
  private mutating func release(_ epoch: Int64, _ left: some Collection<Delivery>, at now: Timestamp) {
    unwritten.release(epoch, at: now)
    claimedBytes -= left.bytes
    guard let first = left.first else { return }
    accounts[first.item.account]?.breaker.probeGivenUp(first.request.url.origin)
    wake(first.item.account)
  }

  /// Gives back the claims that no sender has taken. Those that are under way are left where their senders find that they
  /// may not be sent.
  mutating func withdraw(
    _ name: AccountName, at now: Timestamp, where matches: (LaneClaim) -> Bool = { _ in true }
  ) {
    guard let queue = accounts[name]?.queue else { return }
    accounts[name]?.queue.removeAll(where: matches)
    for claim in queue where matches(claim) { release(claim.epoch, claim.deliveries, at: now) }
  }

  /// No token can be had: the account's items wait, and no attempt is charged.
  private mutating func stall(_ name: AccountName, retryAfter: Duration?, at now: Timestamp) {
    guard let account = accounts[name], account.stalledUntil == nil else { return }
    let retry = RetryPolicy(initial: Self.shortestStall * 2, max: Self.longestStall)
    let wait = retry.wait(
      failures: account.bearerFailures + 1, retryAfter: retryAfter.map { min($0, Self.longestStall) },
      random: random())
    accounts[name]?.bearerFailures += 1
    accounts[name]?.stalledUntil = now + wait
    wake(name)
    withdraw(name, at: now)
  }

  // MARK: - The cause of a 401

  /// Finds out, as far as it can be known by now, what the 401s are about that were given to the replacement of a rejected
  /// token. Where other items are accepted with it they are about the item, and where there are none, about the session.
  mutating func judge(_ name: AccountName, at now: Timestamp) {
    guard let account = accounts[name] else { return }
    let judging = account.senders.filter(\.value.isJudging)
    if judging.isEmpty { return }
    let isAlone =
      !account.isSending && account.queue.isEmpty && !account.isClaiming && account.mayHaveMore.isEmpty
      && unwritten.isEmpty
    let isCrowded = judging.count >= max(settings.concurrency, 2)
    for (id, sender) in judging.sorted(by: { $0.key < $1.key }) {
      guard case .judging(let bearer, let response, let isSecond) = sender.step else { continue }
      let isAccepted = account.acceptance.isAccepted(bearer.token.fingerprint)
      if isAccepted, isSecond {
        settle(id, policy.rejected(response), at: now)
      } else if !isAccepted, stopsAt != nil || !account.isSendable {
        settle(id, .released, at: now)
      } else if isAccepted || isAlone || isCrowded {
        accounts[name]?.senders[id]?.step = .renewing(bearer)
      } else {
        continue
      }
      resumed.append(id)
    }
  }
}
