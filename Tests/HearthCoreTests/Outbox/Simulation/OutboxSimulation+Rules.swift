import TestSupport

@testable import HearthCore

/// What must be true when a request is sent, and when something is written.
extension OutboxSimulation {
  private static let memory = 32 << 20

  // MARK: - Requests

  func checkSending(_ delivery: Delivery, _ epoch: Int64, _ bearer: Bearer, _ item: TrackedItem) {
    let text = "item \(item.number)"
    let name = delivery.item.account
    guard let daemon, let session = sessions[name], let stored = model.items[item.number] else { return }
    if !session.isReportedSendable { violated("\(text) is sent while the session is \(session.state)") }
    if paused.contains(name) { violated("\(text) is sent while the user has paused \(name)") }
    if daemon.machine.isStopping { violated("\(text) is sent while the daemon stops") }
    if isDiscarding(name) { violated("\(text) is sent while items are discarded") }
    if item.isForbidden { violated("\(text) is sent though a call has ended it") }
    if !stored.progress.state.isActive { violated("\(text) is sent while it is \(stored.progress.state)") }
    if item.flight != nil { violated("\(text) is sent while a request of it is under way") }
    if item.hasEnded(within: settings) { violated("\(text) is sent again after \(item.answer!)") }
    if elapsed < item.floor { violated("\(text) is sent \(item.floor - elapsed) ms before the server wants it") }
    if let user = item.user ?? user(of: model.subject(of: stored), name), user != session.reportedUser {
      violated("\(text) of \(user) is sent under \(session.reportedUser ?? "nobody")")
    }
    if let subject = bearer.subject, let user = item.user, Name(subject.id) != user {
      violated("\(text) of \(user) is sent with a token of \(subject.id)")
    }
    if model.isOutdated(stored) { violated("\(text) is sent after a newer one with its replaceKey was accepted") }
    if model.isOvertaking(stored) { violated("\(text) is sent beside an older one with its replaceKey") }
    if configured[name]?.contains(stored.origin) != true {
      violated("\(text) is sent to \(stored.origin), which is not configured")
    }
    let agreed = now + .milliseconds(min(daemon.skew ?? 0, 0))
    if let expiresAt = stored.progress.expiresAt, expiresAt <= agreed {
      violated("\(text) is sent \((agreed - expiresAt).wholeMilliseconds) ms after it has expired")
    }
    let horizon = Int(settings.idempotencyHorizon.wholeMilliseconds)
    let mayBeRepeated = ["PUT", "GET"].contains(stored.new.draft.method)
    if let since = item.unknownSince, !mayBeRepeated, elapsed - since > horizon + untoldSteps + 2 {
      violated("\(text) is sent again unasked, and its fate is unknown for \(elapsed - since) ms")
    }
    checkKey(delivery, stored)
    checkLimits(name, stored, text)
    checkLane(stored, epoch, text)
  }

  /// Claims for an origin are not tried one by one once it is known to be unreachable.
  func checkReach(_ delivery: Delivery, _ item: TrackedItem, begunAt: Int) {
    guard let since = daemon?.out[delivery.item.account]?[delivery.request.url.origin] else { return }
    if item.heldAt < since, begunAt > since { violated("item \(item.number) is sent to an origin that is out") }
  }

  func isDiscarding(_ name: AccountName) -> Bool {
    daemon?.calls.values.contains { if case .purge(name, _, _, _) = $0.kind { true } else { false } } ?? false
  }

  /// No API gets one key of a user with two contents, as long as the outbox remembers the first.
  private func checkKey(_ delivery: Delivery, _ stored: OutboxModel.Item) {
    guard let subject = model.subject(of: stored)?.named, let text = delivery.request.idempotencyKey else { return }
    let key = SentKey(account: stored.account, subject: subject, key: text)
    if let first = sentKeys[key], model.items[first.number] != nil {
      if !OutboxModel.isSame(first.new, stored.new) {
        violated("item \(stored.number) has the key of item \(first.number)")
      }
    } else {
      sentKeys[key] = stored
    }
  }

  private func checkLimits(_ name: AccountName, _ stored: OutboxModel.Item, _ text: String) {
    let flights = daemon?.flights.values.filter { $0.account == name && $0.origin == stored.origin } ?? []
    let concurrency = max(settings.concurrency, daemon?.concurrencyBefore ?? 0)
    let most = stored.lane == nil ? concurrency : max(concurrency, 64) + 192
    let others = flights.count { $0.isUnordered == (stored.lane == nil) }
    if others >= most { violated("\(text) is sent beside \(others) others of its kind to its origin") }
  }

  /// No active item comes before it in its lane that was there when it was claimed.
  private func checkLane(_ stored: OutboxModel.Item, _ epoch: Int64, _ text: String) {
    guard let lane = stored.lane, let claim = model.claims[epoch] else { return }
    for number in model.order {
      guard number != stored.number else { return }
      guard let other = model.items[number], other.lane == lane, let tracked = items[number],
        other.placedAt < claim.madeAt, !tracked.hasEnded(within: settings)
      else { continue }
      return violated("\(text) overtakes item \(number), which is \(model.shown(other).state)")
    }
  }

  // MARK: - Demands and claims

  func checkDemands(_ work: OutboxStoreWork) {
    guard case .exchange(let request) = work else { return }
    let bytes = demandedBytes(request)
    if bytes > Self.memory { violated("\(bytes) bytes are demanded at once") }
    for demand in request.demands where sessions[demand.account]?.isReportedSendable != true {
      violated("items of \(demand.account) are demanded without permission")
    }
  }

  private func demandedBytes(_ request: OutboxRequest) -> Int {
    request.demands.flatMap(\.rooms.values).filter { $0.lanes > 0 || $0.unordered > 0 }.reduce(0) { $0 + $1.bytes }
  }

  func checkClaims(_ exchange: OutboxExchange) {
    for claim in exchange.claimed.values.flatMap(\.claims) {
      for delivery in claim.deliveries {
        guard let item = items[delivery.number] else { continue }
        item.claimedAt = elapsed
        let start = model.items[delivery.number]?.new.draft.notBefore
        // The clock may have been set back since.
        if item.sentAt == 0, let start, start > latestStoreTime {
          violated("item \(item.number) is claimed before its notBefore")
        }
      }
    }
    let most = Self.memory + 2 * sessions.count * Self.apis.count * Self.large.count
    if movingBytes > most { violated("\(movingBytes) bytes are claimed") }
  }

  /// With nothing under way, all of the memory may be demanded.
  func checkMemory(_ work: OutboxStoreWork) {
    guard case .exchange(let request) = work, !request.demands.isEmpty else { return }
    let bytes = demandedBytes(request)
    if bytes < Self.memory - request.demands.count * Self.apis.count {
      violated("\(Self.memory - bytes) bytes are never given back")
    }
  }

  // MARK: - What is written down

  /// Checks that outcomes match their responses. Returns the settlements whose claims are valid;
  /// the others change nothing.
  func checkSettlements(_ settled: [Settlement]) -> [Settlement] {
    let held = settled.filter { model.claims[$0.epoch]?.items.contains($0.number) == true }
    for settlement in held {
      guard let item = items[settlement.number] else { continue }
      if !isRight(settlement.outcome, item) {
        let answer = item.answer.map { "\($0)" } ?? "no answer"
        violated("item \(item.number) is \(settlement.outcome) after \(answer)")
      }
    }
    return held
  }

  private func isRight(_ outcome: DeliveryOutcome, _ item: TrackedItem) -> Bool {
    let isLast = item.charged + 1 >= settings.maxAttempts
    switch (item.answer.flatMap { _ in item.override }, outcome) {
    case (.delivered, .delivered): return true
    case (.retry, .waiting): return !isLast
    case (.dead, .dead(.rejected, let status, _)): return item.answer == status.map { .status($0) }
    case (.delivered, _), (.dead, _): return false
    case (.retry, .dead(let reason, _, _)): return reason == .attemptsExhausted && isLast
    case (.retry, _): return false
    case (nil, _): break
    }
    switch (outcome, item.answer) {
    case (.delivered, .status(let status)?): return (200...299).contains(status)
    case (.delivered, _): return false
    case (.unreachable, .notSent?), (.unreachable, .status(407)?), (.unreachable, .status(511)?): return true
    case (.unreachable, _): return false
    case (.waiting(let wait), .unanswered?): return !isLast && wait.status == nil
    case (.waiting(let wait), .page?): return !isLast && wait.status == 200 && wait.unknownFor != nil
    case (.waiting, .status(let status)?):
      let isAgain = [408, 423, 425, 429].contains(status) || status >= 500 && ![501, 505, 511].contains(status)
      let isTold = [403, 409, 413].contains(status) && item.isToldToWait
      return !isLast && (isAgain || isTold || status == 409 && item.conflicts < 5)
    case (.waiting, _): return false
    case (.dead(let reason, let status, _), .status(let answer)?):
      guard status == answer else { return false }
      switch reason {
      case .redirected: return (300...399).contains(answer)
      case .attemptsExhausted: return isLast && item.hasEnded(within: settings)
      // Only the item is rejected: others are accepted with the token.
      case .rejected where answer == 401: return item.token.map { daemon?.accepted.contains($0) ?? false } ?? false
      case .rejected: return item.hasEnded(within: settings) && !(300...399).contains(answer)
      case .otherUser, .needsReview, .damaged, .originNotConfigured, .needsStepUp, .expired: return false
      }
    case (.dead(let reason, _, _), .unanswered?), (.dead(let reason, _, _), .page?):
      return reason == .attemptsExhausted && isLast
    case (.needsStepUp(let status, _), .challenged(let answer)?): return status == answer
    case (.dead, _), (.needsStepUp, _): return false
    case (.released, nil), (.released, .status(401)?): return true
    case (.released, .challenged?):
      // Another token may be enough, or the outbox has not heard of this one yet.
      guard let session = model.items[item.number].flatMap({ sessions[$0.account] }) else { return false }
      return session.state != .signedIn || session.fingerprint != item.token || item.isTokenUnreported
    case (.released, .notSent?): return daemon?.machine.isStopping ?? true
    case (.released, _): return false
    }
  }

  /// Checks that attempts are counted as the contract says.
  func checkSettled(_ settled: [Settlement]) {
    for settlement in settled {
      guard let item = items[settlement.number], item.answer != nil, let stored = model.items[settlement.number] else {
        continue
      }
      switch (settlement.outcome, item.answer) {
      case (.delivered, _), (.waiting, _), (.dead, .some): item.charged += 1
      case (.unreachable, _), (.released, _), (.needsStepUp, _), (.dead, nil): break
      }
      if case .waiting = settlement.outcome, case .status(409)? = item.answer, !item.isToldToWait {
        item.conflicts += 1
      }
      if case .released = settlement.outcome {} else { item.latestDue = elapsed + 300_000 }
      item.answer = nil
      if stored.progress.attempts != item.charged {
        violated("item \(item.number) is charged \(stored.progress.attempts) attempts, and had \(item.charged)")
      }
    }
  }

  // MARK: - Commits

  func checkCommit(_ commit: OutboxCommit) {
    for case .changed(var shown) in commit.changes {
      guard let stored = model.items.values.first(where: { $0.new.id == shown.id }), let item = items[stored.number]
      else { continue }
      let number = stored.number
      // It is shown that way because its account is not configured.
      if shown.reason == .originNotConfigured, !stored.progress.isHeldInPlace {
        (shown.state, shown.reason) = (stored.progress.state, stored.progress.reason)
      }
      note("item \(number) is \(shown.state) \(shown.reason?.rawValue ?? "")")
      let state = [shown.state.rawValue, shown.reason?.rawValue].compactMap(\.self).joined(separator: " ")
      tally[.item(state)] += 1
      switch shown.state {
      case .cancelled, .superseded: item.isForbidden = true
      case .held where shown.reason?.keepsPlace == true: item.isHeldInPlace = true
      case .pending where item.isHeldInPlace: item.isHeldInPlace = false
      case .pending:
        if shown.subject == nil { (item.user, item.nobodysSince) = (nil, elapsed) }
        // An item freed from a user without a name continues unchanged.
        if shown.attempts != item.charged || shown.subject != nil || item.isUnderReview { item.retried() }
      case .waiting where shown.subject == nil: (item.user, item.nobodysSince) = (nil, elapsed)
      // Retried before its notBefore.
      case .waiting where shown.attempts == 0 && (item.charged > 0 || item.isUnderReview): item.retried()
      // Retried while another user is signed in.
      case .held where shown.reason == .otherUser && shown.attempts == 0 && (item.charged > 0 || item.isUnderReview):
        item.retried()
      case .held where shown.reason == .needsReview:
        if shown.lastError?.contains("different content") != true { checkReview(item) }
        item.isUnderReview = true
      case .dead where shown.reason == .expired: checkExpiry(model.items[number]!)
      case .held, .dead, .delivered, .waiting, .inFlight: break
      }
    }
  }

  /// Of one user's items with the same key and content, no two may wait of which the API has received nothing.
  func checkTwins() {
    var unsent: [OutboxModel.Item] = []
    for item in model.order.compactMap({ model.items[$0] }) where item.new.draft.idempotencyKey != nil {
      guard item.progress.attempts == 0, item.progress.unknownSince == nil, !model.isBegun(item.number) else {
        continue
      }
      let twin = unsent.first {
        $0.owner == item.owner && $0.new.draft.idempotencyKey == item.new.draft.idempotencyKey
          && OutboxModel.isSame($0.new, item.new)
      }
      if let twin { violated("items \(twin.number) and \(item.number) are the same write, and both wait") }
      unsent.append(item)
    }
  }

  private func checkReview(_ item: TrackedItem) {
    guard let since = item.unknownSince else {
      return violated("item \(item.number) needs review, and its request has never left")
    }
    let horizon = Int(settings.idempotencyHorizon.wholeMilliseconds)
    if elapsed - since < horizon - untoldSteps - 2 {
      violated("item \(item.number) needs review \(elapsed - since) ms after its fate became unknown")
    }
  }

  private func checkExpiry(_ stored: OutboxModel.Item) {
    guard let expiresAt = stored.progress.expiresAt, let work = daemon?.work, let skew = daemon?.workSkew else {
      return violated("item \(stored.number) has expired though no server has told the time")
    }
    if expiresAt > work.at + .milliseconds(min(skew, 0)) { violated("item \(stored.number) has expired too early") }
  }

  /// Called when a sign-out with `outbox: "discard"` has been answered: nothing is left of what existed when it began.
  func checkDiscarded(_ name: AccountName, _ subject: Subject?, _ call: SimulatedCall) {
    let isUnknown = call.kind.subjects.contains(.last)
    let subjects = isUnknown && call.lastUser == model.current[name] ? model.lastSubjects(of: name) : []
    for item in model.items.values
    where item.account == name && ([subject] + subjects).contains(model.subject(of: item)) {
      let state = item.progress.state
      guard state.isActive || state == .held, item.number <= call.lastItem ?? 0 else { continue }
      // It was a former user's, and somebody has retried it meanwhile.
      if let since = items[item.number]?.nobodysSince, since >= call.purgedAt ?? 0 { continue }
      violated("item \(item.number) is left \(state) by a discard")
    }
  }
}
