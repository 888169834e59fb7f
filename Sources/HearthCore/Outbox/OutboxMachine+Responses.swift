/// The results of the senders' steps: tokens, responses, and causes of 401s. Also how deliveries and claims end: settled,
/// released, or left in flight.
extension OutboxMachine {
  /// Handles the token that a sender has requested, or the failure to get a token.
  package mutating func received(_ result: Result<Bearer, Failure>, for id: SenderID, at now: Timestamp) {
    guard let name = senders[id], let sender = accounts[name]?.senders[id] else { return }
    switch result {
    case .success(let bearer):
      switch sender.step {
      case .rejected(let old, let response, let isSecond) where bearer.token.fingerprint == old.token.fingerprint:
        let step: Sender.Step =
          isReplacement(bearer, of: name)
          ? .judging(bearer, response, isSecond: isSecond) : .renewing(bearer, response)
        accounts[name]?.senders[id]?.step = step
        judge(name, at: now)
      // The session has not replaced its token, so the 401 concerns only this item.
      case .renewing(let old, let response) where bearer.token.fingerprint == old.token.fingerprint:
        settle(id, policy.rejected(response), at: now)
      case .renewing:
        accounts[name]?.acceptance.replaced(by: bearer.token.fingerprint)
        accounts[name]?.senders[id]?.step = .authorized(bearer)
      case .unauthorized, .rejected: accounts[name]?.senders[id]?.step = .authorized(bearer)
      case .between, .authorized, .sending, .judging: break
      }
    case .failure(let failure) where failure.kind == .refreshUnavailable:
      let retryAfter = failure.retryAfter
      if mayWaitAlone(sender, of: name, retryAfter: retryAfter, at: now) { return settle(id, .released, at: now) }
      stall(name, retryAfter: retryAfter, at: now)
      accounts[name]?.lacksToken = true
      notePause(of: name)
      settle(id, .released, at: now)
    // The session reports when it is usable again. That report may have arrived before this failure, so schedule a
    // retry.
    case .failure:
      stall(name, retryAfter: nil, at: now)
      settle(id, .released, at: now)
    }
  }

  /// If APIs have accepted the token and only one URL refuses it, holds only the refused item and returns true.
  /// Otherwise returns false, and the whole account has to wait.
  private mutating func mayWaitAlone(
    _ sender: Sender, of name: AccountName, retryAfter: Duration?, at now: Timestamp
  ) -> Bool {
    guard case .renewing(let bearer, _) = sender.step, let delivery = sender.current,
      accounts[name]?.acceptance.isAccepted(bearer.token.fingerprint) == true
    else { return false }
    return accounts[name]?.refused.hold(
      delivery, Self.stallPolicy, retryAfter: retryAfter.map { min($0, Self.stallPolicy.max) }, at: now,
      random: random()) ?? false
  }

  /// Handles a refusal by `OutboxStore.begin`: the item was cancelled, replaced or discarded, or the store failed. The
  /// request was not sent.
  package mutating func revoked(_ id: SenderID, at now: Timestamp) {
    guard let name = senders[id], let sender = accounts[name]?.senders[id] else { return }
    // Release the rest of the claim, too. The store returns those items in a later claim.
    release(sender.epoch, sender.underWay, at: now)
    if let delivery = sender.current { freePlace(of: delivery) }
    leaveClaim(id, of: name)
  }

  /// Handles the result of a request, and returns whether the API has accepted the token. `isCancelled` is true if the
  /// service is shutting down and has cancelled the request. The caller must have removed all secrets from the body,
  /// unless the status is 2xx.
  @discardableResult
  package mutating func responded(
    _ result: Result<APIResponse, ExchangeFailure>, for id: SenderID, isCancelled: Bool, at now: Timestamp
  ) -> Bool {
    guard let name = senders[id], let sender = accounts[name]?.senders[id], let delivery = sender.current,
      case .sending(let bearer, let sentAt) = sender.step
    else { return false }
    let origin = delivery.request.url.origin
    if case .failure(.notSent) = result {} else { accounts[name]?.senders[id]?.hasLeft = true }
    switch result {
    case .failure(.notSent(let message)):
      if stopsAt == nil { unreachable(id, delivery, nil, message, at: now) } else { settle(id, .released, at: now) }
    case .failure(.unanswered(let message)):
      if stopsAt != nil || isCancelled {
        // Leave the item in flight on disk, so that it is sent again after the next start.
        leaveClaim(id, of: name)
      } else {
        reached(origin, of: name)
        settle(
          id, policy.outcome(unanswered: message, delivery, sentAt: sentAt, at: now, random: random()), at: now)
      }
    case .success(let response):
      let isOffline = DeliveryPolicy.meansOffline(response)
      if !sender.isTimeDoubtful, !isOffline || response.skew != nil,
        accounts[name]?.clocks.answered(response.skew, by: origin) == true
      {
        agreeOnTime()
      }
      if isOffline {
        let message = "A proxy or a captive portal requires a sign-in before the API can be reached."
        unreachable(id, delivery, response.status, message, at: now)
        return false
      }
      reached(origin, of: name)
      let challenge = Challenge(response, from: origin, without: bearer.secrets)
      if response.status == 401, challenge == nil {
        let isSecond = sender.wasRejected && isReplacement(bearer, of: name)
        accounts[name]?.senders[id]?.wasRejected = true
        accounts[name]?.senders[id]?.step = .rejected(bearer, response, isSecond: isSecond)
        return false
      }
      // If the session has a different token by now, release the item to retry it with that token, which may satisfy
      // the challenge.
      if challenge != nil, bearer.token.fingerprint != accounts[name]?.token {
        settle(id, .released, at: now)
        return false
      }
      let expected = delivery.expect ?? accounts[name]?.api.expect
      let isAccepted =
        (200...299).contains(response.status)
        && !DeliveryPolicy.isPageForJSON(response, to: delivery.request, expecting: expected)
      if isAccepted { accepted(bearer, of: name, at: now) }
      let outcome = policy.outcome(
        on: response, challenge, to: delivery, expecting: expected,
        overriding: accounts[name]?.api.overrides ?? DeliveryOverrides(), sentAt: sentAt, at: now, random: random())
      settle(id, outcome, at: now)
      return isAccepted
    }
    return false
  }

  private func isReplacement(_ bearer: Bearer, of name: AccountName) -> Bool {
    accounts[name]?.acceptance.isReplacement(bearer.token.fingerprint) == true
  }

  private mutating func accepted(_ bearer: Bearer, of name: AccountName, at now: Timestamp) {
    accounts[name]?.acceptance.accepted(bearer.token.fingerprint)
    accounts[name]?.refused.accepted()
    accounts[name]?.hasGoodToken()
    notePause(of: name)
    judge(name, at: now)
  }

  private mutating func unreachable(
    _ id: SenderID, _ delivery: Delivery, _ status: Int?, _ message: String, at now: Timestamp
  ) {
    let (name, origin) = (delivery.item.account, delivery.request.url.origin)
    if status != nil, delivery.progress.offlineAnswers > 0, accounts[name]?.breaker.unreachable.contains(origin) != true
    {
      // Other requests have reached the API since this item's last 407 or 511, so the response concerns only this item.
      let wait = settings.retry.wait(failures: delivery.progress.offlineAnswers + 1, random: random())
      return settle(id, .unreachable(probeIn: wait, status: status, error: message), at: now)
    }
    // If a reload has removed the origin, no request would ever end the outage, so do not record one.
    let isConfigured = accounts[name]?.api.origins.contains(origin) == true
    let probeAt = (isConfigured ? accounts[name]?.breaker.failed(origin, at: now, random: random()) : nil) ?? now
    settle(id, .unreachable(probeIn: probeAt - now, status: status, error: message), at: now)
    accounts[name]?.unclaimed.forget(origin)
    // The other claims for the origin would fail one by one, so release them.
    withdraw(name, at: now) { $0.origin == origin }
    notePause(of: name)
  }

  private mutating func reached(_ origin: Origin, of name: AccountName) {
    guard accounts[name]?.breaker.unreachable.contains(origin) == true else { return }
    accounts[name]?.breaker.answered(origin)
    accounts[name]?.unclaimed.add(.all)
    wake(name)
    notePause(of: name)
  }

  // MARK: - Causes of 401s

  /// Decides what each sender does next after a 401 for a replacement token. If APIs accept the token for other items,
  /// an item's second 401 means that the API rejects the item itself, but after a first 401, the session has to replace
  /// the token. It also has to do so if no other item can show whether the token is valid, or if too many senders are
  /// waiting to find out. If sending has stopped, the item is released. Otherwise, the sender keeps waiting.
  mutating func judge(_ name: AccountName, at now: Timestamp) {
    guard let account = accounts[name] else { return }
    let judging = account.senders.filter(\.value.isJudging)
    if judging.isEmpty { return }
    let isAlone =
      !account.isSending && account.queue.isEmpty && !account.unclaimed.isClaiming && !account.unclaimed.mayExist
      && unwritten.isEmpty
    for (id, sender) in judging.sorted(by: { $0.key < $1.key }) {
      guard case .judging(let bearer, let response, let isSecond) = sender.step else { continue }
      let isAccepted = account.acceptance.isAccepted(bearer.token.fingerprint)
      if isAccepted, isSecond {
        settle(id, policy.rejected(response), at: now)
      } else if !isAccepted, stopsAt != nil || !account.isSendable {
        settle(id, .released, at: now)
      } else if isAlone || mayGoOn(sender, account), hasPlace(sender, of: name, at: now) {
        accounts[name]?.senders[id]?.step = .renewing(bearer, response)
      } else {
        continue
      }
      senders.resume(id)
    }
  }

  /// Returns whether a sender that waits for the cause of a 401 may continue as soon as a slot is free.
  func mayGoOn(_ sender: Sender, _ account: OutboxAccount) -> Bool {
    guard case .judging(let bearer, _, _) = sender.step else { return false }
    return account.acceptance.isAccepted(bearer.token.fingerprint)
      || account.senders.values.count(where: \.isJudging) >= max(settings.concurrency, 2)
  }

  /// Returns whether a slot is free for the sender. While a sender of unordered items waits for the cause of a 401,
  /// another sender may take its slot. A sender of a lane's items does not need a free slot to continue.
  private func hasPlace(_ sender: Sender, of name: AccountName, at now: Timestamp) -> Bool {
    guard let account = accounts[name] else { return false }
    let others = sending(sender.kind, to: sender.origin, account, at: now, where: { !$0.isJudging })
    return sender.kind == .lanes || freeSenders(sender.kind, beside: others) > 0
  }

  // MARK: - Ends

  /// The delays between attempts to get a token.
  static let stallPolicy = RetryPolicy(initial: .seconds(2), max: .seconds(300))

  mutating func settle(_ id: SenderID, _ outcome: DeliveryOutcome, at now: Timestamp) {
    guard let name = senders[id], let sender = accounts[name]?.senders[id], let delivery = sender.current else {
      return
    }
    let settlement = Settlement(
      epoch: sender.epoch, number: delivery.number, outcome: outcome, hasLeft: sender.hasLeft)
    unwritten.settle(settlement, at: now)
    accounts[name]?.readAhead[delivery.request.url.origin, default: ReadAhead()]
      .finished(at: now, after: now - (sender.begunAt ?? now))
    freePlace(of: delivery)
    makeRoom(after: delivery, isSlow: sender.isSlow(at: now))
    accounts[name]?.senders[id]?.step = .between
    accounts[name]?.senders[id]?.current = nil
    wake(name)
    if case .released = outcome {
      accounts[name]?.breaker.probeGivenUp(delivery.request.url.origin)
    } else {
      accounts[name]?.refused.settled(delivery.number)
    }
    if outcome.leavesLane {
      sweeps.itemFinished()
    } else {
      accounts[name]?.senders[id]?.rest = []
    }
  }

  /// Records that the store can claim another item whose last request got no response. The store does not report this
  /// itself.
  mutating func freePlace(of delivery: Delivery) {
    if delivery.progress.isUnanswered {
      accounts[delivery.item.account]?.unclaimed.add(delivery.kind, for: delivery.request.url.origin)
    }
  }

  /// Records that the store can claim another large item. The store does not report this itself.
  private mutating func makeRoom(after delivery: Delivery, isSlow: Bool) {
    let (name, origin) = (delivery.item.account, delivery.request.url.origin)
    guard isSlow, delivery.item.bytes > Self.small, accounts[name]?.api.origins.contains(origin) == true else { return }
    accounts[name]?.unclaimed.add(.all, for: origin)
  }

  /// Ends the sender's claim without sending or releasing its remaining deliveries.
  mutating func leaveClaim(_ id: SenderID, of name: AccountName) {
    accounts[name]?.senders[id]?.step = .between
    accounts[name]?.senders[id]?.current = nil
    accounts[name]?.senders[id]?.rest = []
    wake(name)
  }

  /// Releases a claim whose deliveries in `left` were not sent.
  mutating func release(_ epoch: Int64, _ left: some Collection<Delivery>, at now: Timestamp) {
    unwritten.release(epoch, at: now)
    guard let first = left.first else { return }
    accounts[first.item.account]?.breaker.probeGivenUp(first.request.url.origin)
    wake(first.item.account)
  }

  /// Releases the account's matching claims that no sender has started. Active senders check for themselves whether
  /// they may continue.
  mutating func withdraw(
    _ name: AccountName, at now: Timestamp, where matches: (LaneClaim) -> Bool = { _ in true }
  ) {
    guard let queue = accounts[name]?.queue else { return }
    accounts[name]?.queue.removeAll(where: matches)
    for claim in queue where matches(claim) { release(claim.epoch, claim.deliveries, at: now) }
  }

  /// Delays all of the account's items because no token is available. This does not count as an attempt.
  mutating func stall(_ name: AccountName, retryAfter: Duration?, at now: Timestamp) {
    guard let account = accounts[name], account.stalledUntil == nil else { return }
    let wait = Self.stallPolicy.wait(
      failures: account.bearerFailures + 1, retryAfter: retryAfter.map { min($0, Self.stallPolicy.max) },
      random: random())
    accounts[name]?.stall(until: now + wait)
    wake(name)
    withdraw(name, at: now)
  }
}
