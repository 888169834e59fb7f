/// Starts senders and decides their next steps.
extension OutboxMachine {
  /// The maximum number of concurrent requests in lanes, per account and origin, unless `concurrency` is higher. Lanes
  /// do not wait for each other, so the limit only bounds the load on this machine. Slow requests count only towards
  /// the second, larger limit.
  private static let lanesAtOnce = 64
  private static let slowLanesAtOnce = 192
  /// The maximum number of requests for one delivery: the first request, one with a token that another delivery
  /// obtained, one after a refresh, and two more in case the token changes in the meantime.
  private static let maxRequests = 5
  static let timeProbeInterval = Duration.seconds(60)

  /// Returns how many more senders of a kind may start for one origin.
  func freeSenders(_ kind: OutboxKinds, beside sending: OriginLoad.Count) -> Int {
    kind == .lanes
      ? sending.room(max(settings.concurrency, Self.lanesAtOnce), slow: Self.slowLanesAtOnce)
      : max(settings.concurrency - sending.all, 0)
  }

  /// Creates the senders that can start now.
  package mutating func startSenders(at now: Timestamp) -> [SenderID] {
    guard stopsAt == nil else { return [] }
    var started: [SenderID] = []
    for name in awake.sorted() {
      guard accounts[name]?.isSendable == true else { continue }
      for kind in [OutboxKinds.lanes, .unordered] {
        while let claim = takeClaim(name, kind, at: now) {
          let id = senders.start(for: name)
          accounts[name]?.senders[id] = Sender(claim, kind)
          started.append(id)
        }
      }
    }
    return started
  }

  /// Removes and returns the first claim of a kind whose origin has a free slot.
  private mutating func takeClaim(_ name: AccountName, _ kind: OutboxKinds, at now: Timestamp) -> LaneClaim? {
    guard let index = claimWithPlace(name, kind, at: now) else { return nil }
    return accounts[name]?.queue.remove(at: index)
  }

  private func claimWithPlace(_ name: AccountName, _ kind: OutboxKinds, at now: Timestamp) -> Int? {
    guard let account = accounts[name] else { return nil }
    var full: Set<Origin?> = []
    return account.queue.firstIndex { claim in
      guard claim.kind == kind, case let origin = claim.origin, !full.contains(origin) else { return false }
      // Senders that may continue after a 401 take precedence over new senders.
      let others = sending(kind, to: origin, account, at: now) { !$0.isJudging || mayGoOn($0, account) }
      if freeSenders(kind, beside: others) > 0 { return true }
      full.insert(origin)
      return false
    }
  }

  func sending(
    _ kind: OutboxKinds, to origin: Origin?, _ account: OutboxAccount, at now: Timestamp, where counts: (Sender) -> Bool
  ) -> OriginLoad.Count {
    var count = OriginLoad.Count()
    for sender in account.senders.values where sender.kind == kind && sender.origin == origin && counts(sender) {
      count.add(1, isSlow: sender.isSlow(at: now))
    }
    return count
  }

  /// Returns the servers to ask for the time: the origins of items that seem to have expired, because these items wait
  /// until a server confirms the time. If there are none and nothing is being sent, returns at most one server, and
  /// only if a sweep of the store needs the time.
  package mutating func timesToAsk(at now: Timestamp) -> [(account: AccountName, origin: Origin)] {
    guard stopsAt == nil else { return [] }
    let asked: [(AccountName, Origin)] = awake.sorted().compactMap { name in
      guard let account = accounts[name], account.isSendable, let origin = account.timeNeededFrom,
        account.stalledUntil == nil,
        // If a request is in flight, its response may soon report the time.
        !account.senders.values.contains(where: { $0.origin == origin && !$0.isSlow(at: now) }),
        account.timeAskedAt.map({ now - $0 >= Self.timeProbeInterval }) ?? true
      else { return nil }
      accounts[name]?.timeAskedAt = now
      return (name, origin)
    }
    if asked.isEmpty { return sweepTimeToAsk(at: now).map { [$0] } ?? [] }
    sweeps.timeAsked(at: now)
    return asked
  }

  /// Handles the result of asking a server for the time. After a few requests without a response, stops asking.
  package mutating func timeAnswered(
    _ result: Result<APIResponse, ExchangeFailure>, _ name: AccountName, _ origin: Origin
  ) {
    switch result {
    case .success(let response): serverAnswered(name, origin, skew: response.skew)
    case .failure(.notSent): break
    case .failure(.unanswered): if accounts[name]?.clocks.keptSilent() == true { agreeOnTime() }
    }
  }

  private mutating func sweepTimeToAsk(at now: Timestamp) -> (AccountName, Origin)? {
    guard isRecovered, senders.isEmpty, let due = sweeps.timeNeededAt, due <= now else { return nil }
    let known = accounts.filter { $0.value.isConfigured && !$0.value.api.origins.isEmpty }
    let sendable = known.filter(\.value.isSendable)
    // Choose at random, to avoid asking the same silent server every time.
    guard let name = chosen(of: (sendable.isEmpty ? known : sendable).keys.sorted()),
      let origin = chosen(of: known[name]?.api.origins.sorted { $0.description < $1.description } ?? [])
    else { return nil }
    sweeps.timeAsked(at: now)
    return (name, origin)
  }

  private func chosen<Element>(of elements: [Element]) -> Element? {
    elements.isEmpty ? nil : elements[Int(random() * Double(elements.count))]
  }

  /// Returns the waiting senders that can continue.
  package mutating func takeResumed() -> [SenderID] { senders.takeResumed() }

  // MARK: - Steps

  package mutating func next(of id: SenderID, at now: Timestamp) -> SenderStep {
    guard let name = senders[id] else { return .end }
    while let sender = accounts[name]?.senders[id] {
      switch sender.step {
      case .between:
        if !beginNext(id, sender, of: name, at: now) { return end(id, of: name, at: now) }
      case .unauthorized: return .getBearer(name)
      case .authorized(let bearer):
        guard let delivery = sender.current else { return end(id, of: name, at: now) }
        guard !sender.hasUserLeft, maySend(delivery, at: now) else {
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
        accounts[name]?.senders[id]?.isTimeDoubtful = false
        accounts[name]?.senders[id]?.step = .sending(bearer, since: now)
        return .send(delivery, of: sender.epoch, bearer)
      case .rejected: return .getBearer(name)
      case .sending, .judging: return .wait
      case .renewing(let bearer, let response):
        guard let url = sender.current?.request.url else { return end(id, of: name, at: now) }
        let isAccepted = accounts[name]?.acceptance.isAccepted(bearer.token.fingerprint) ?? false
        return .replaceBearer(
          APIRejection(
            bearer.token.fingerprint, at: url, isAcceptedElsewhere: isAccepted,
            reason: Challenge.reason(response, without: bearer.secrets)), name)
      }
    }
    return end(id, of: name, at: now)
  }

  /// Starts the sender's next delivery, from its current claim or a new one. Returns false if there is nothing that the
  /// sender may send now.
  private mutating func beginNext(
    _ id: SenderID, _ sender: Sender, of name: AccountName, at now: Timestamp
  ) -> Bool {
    var sender = sender
    let mayGoOn =
      stopsAt == nil && accounts[name].map { $0.isSendable && $0.stalledUntil == nil } ?? false
    if sender.rest.isEmpty || !mayGoOn {
      if !sender.rest.isEmpty { release(sender.epoch, sender.rest, at: now) }
      accounts[name]?.senders[id] = nil
      guard mayGoOn, let claim = takeClaim(name, sender.kind, at: now) else { return false }
      sender = Sender(claim, sender.kind)
    }
    guard let delivery = sender.rest.popFirst() else { return false }
    sender.current = delivery
    (sender.requests, sender.wasRejected, sender.hasLeft, sender.begunAt) = (0, false, false, now)
    sender.step = .unauthorized
    accounts[name]?.senders[id] = sender
    if sender.hasUserLeft || !maySend(delivery, at: now) { settle(id, .released, at: now) }
    return true
  }

  private mutating func end(_ id: SenderID, of name: AccountName, at now: Timestamp) -> SenderStep {
    senders.end(id)
    accounts[name]?.senders[id] = nil
    wake(name)
    removeUnused(name)
    judge(name, at: now)
    return .end
  }

  /// Returns whether the delivery may still be sent. Since the claim, the item may have expired, and the session or the
  /// configuration may have changed. The caller releases a delivery that may not be sent, so that the next claim
  /// decides what happens to the item.
  private func maySend(_ delivery: Delivery, at now: Timestamp) -> Bool {
    guard let account = accounts[delivery.item.account], account.api.origins.contains(delivery.request.url.origin)
    else { return false }
    if let expiresAt = delivery.progress.expiresAt, expiresAt <= expiryTime(of: delivery.item.account, at: now).time {
      return false
    }
    return stopsAt == nil && account.isSendable && account.user.known == delivery.item.subject
      && policy.mayBeSent(method: delivery.request.method, unknownSince: delivery.progress.unknownSince, at: now)
  }
}
