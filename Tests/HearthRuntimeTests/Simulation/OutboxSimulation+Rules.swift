import HearthCore
import HearthRuntime
import HearthStorage
import TestSupport

/// What must hold when a request is sent, after every step, and in the end.
extension OutboxSimulation {
  /// How often a request may be refused with one token: in ten seconds, and in ten minutes.
  private static let mostRefusals = (soon: 5, late: 24)

  // MARK: - At sending

  func checkSending(_ request: APIRequest, _ trackedRequest: TrackedRequest, _ token: Fingerprint?) {
    guard let token, let account = account(of: trackedRequest), let fact = account.tokens[token] else {
      return violated("a request is sent with a token that is not the account's")
    }
    if !account.mightSend, !account.maySend {
      violated("a request is sent while the account is \(account.state), paused \(account.isPaused)")
    }
    let name = "request \(trackedRequest.number)"
    trackedRequest.sentUnder.insert(fact.subject)
    if let key = trackedRequest.draft.idempotencyKey, request.idempotencyKey != key { violated("\(name) lost its key") }
    if request.body != trackedRequest.draft.body || request.method != trackedRequest.draft.method {
      violated("\(name) was changed")
    }
    let under = trackedRequests.filter {
      $0.draft.account == account.name && $0.draft.isUnordered && !$0.flights.isEmpty
        && (try? HTTPURL($0.draft.url))?.origin == request.url.origin
    }
    if trackedRequest.draft.isUnordered, under.reduce(0, { $0 + $1.flights.count }) >= settings.concurrency {
      violated("\(name) is sent beside \(settings.concurrency) others to its origin")
    }
    guard !trackedRequest.isTaken, let id = trackedRequest.ids.first else { return }
    sent.append((trackedRequest.number, id))
    if !trackedRequest.flights.isEmpty { violated("\(name) is sent while it is under way") }
    if trackedRequest.isAnswered { violated("\(name) is sent again after \(trackedRequest.statuses)") }
    // Decided when it was taken; a machine may sleep before it is sent.
    // Put back and taken again in one step, it is seen under way all the time.
    let lastTaken = rows[id]?.state == .inFlight ? trackedRequest.takenAt ?? elapsed : takenAt
    let taken = lastTaken < trackedRequest.floorSetAt ? takenAt : lastTaken
    // A step is heard of a moment after it, and in that moment all that waits seems to be due.
    let isSteady = elapsed - lastBreak > .seconds(10)
    if isSteady, trackedRequest.floor > taken + .milliseconds(2) {
      violated("\(name) is sent before the server wants it")
    }
    if let notBefore = trackedRequest.draft.notBefore, notBefore > now, !trackedRequest.wasPutBack, timeBreaks == 0 {
      violated("\(name) is sent before its time")
    }
    if let unknownSince = trackedRequest.unknownSince, !trackedRequest.isRepeatable,
      elapsed - unknownSince > settings.idempotencyHorizon + setBack + .milliseconds(2)
    {
      violated("\(name) is sent again unasked, and nobody knows whether it has been done")
    }
    guard let row = rows[id] else { return violated("\(name) is sent and not in the outbox") }
    if let subject = row.subject, subject != fact.subject {
      violated("\(name) of \(subject.id) is sent under \(fact.subject.id)")
    }
    switch row.state {
    case .pending, .inFlight, .waiting: break
    case .held where row.reason == .otherUser: break
    case .held, .delivered, .dead, .cancelled, .superseded: violated("\(name) is sent though it is \(row.state)")
    }
  }

  /// A request that was refused is not sent again and again with the same token while no better one can be had.
  func checkRepeats(_ account: SimulatedAccount, _ trackedRequest: TrackedRequest, _ token: Fingerprint) {
    var refusals = account.tokens[token]?.refusals[trackedRequest.number] ?? []
    refusals.append(elapsed)
    refusals.removeAll { elapsed - $0 > .seconds(600) }
    account.tokens[token]?.refusals[trackedRequest.number] = refusals
    let soon = refusals.count { elapsed - $0 <= .seconds(10) }
    if soon > Self.mostRefusals.soon || refusals.count > Self.mostRefusals.late {
      violated("request \(trackedRequest.number) is refused with the same token \(soon) times in ten seconds")
    }
  }

  // MARK: - After every step

  func checkRules() throws(Violation) {
    for call in calls.values where elapsed - call.askedAt - (looseness - call.looseness) > .seconds(240) {
      throw Violation("a call waits for too long: \(call)")
    }
    defer {
      sent = []
      callsBefore = Array(calls.values)
    }
    guard isChanged, let daemon else { return }
    isChanged = false
    let seen = try look(daemon)
    try checkStats(seen.items, seen.stats)
    let before = rows
    rows = [:]
    for item in seen.items { rows[item.id] = item }
    order = seen.items.map(\.id)
    for item in seen.items { try check(item, before[item.id]) }
    for (id, item) in before where rows[id] == nil { try checkSwept(item) }
    for trackedRequest in trackedRequests {
      for id in trackedRequest.acknowledged where rows[id] == nil && !swept.contains(id) {
        throw Violation("request \(trackedRequest.number), item \(id), was accepted and is lost")
      }
    }
    try checkLanes(before)
    let kept = seen.items.filter(\.state.keepsContent).count
    if kept > settings.maxItems { throw Violation("\(kept) items are kept, more than may be") }
  }

  private struct Seen {
    var items: [OutboxItem] = []
    var stats: [AccountName?: OutboxStats] = [:]
  }

  private func look(_ daemon: SimulatedDaemon) throws(Violation) -> Seen {
    let names: [AccountName?] = accounts.map(\.name) + [nil]
    do throws(OutboxStoreFailure) {
      return try daemon.store.look { (store) throws(OutboxStoreFailure) in
        var seen = Seen()
        seen.items = try await store.list(OutboxQuery(limit: 1000)).items
        for name in names { seen.stats[name] = try await store.stats(of: name) }
        return seen
      }
    } catch {
      throw Violation("the outbox cannot be read: \(error)")
    }
  }

  private func checkStats(_ items: [OutboxItem], _ stats: [AccountName?: OutboxStats]) throws(Violation) {
    for (name, published) in stats {
      var counted = OutboxStats()
      for item in items where name == nil || item.account == name {
        switch item.state {
        case .pending: counted.pending += 1
        case .inFlight: counted.inFlight += 1
        case .waiting: counted.waiting += 1
        case .held: counted.held += 1
        case .delivered: counted.delivered += 1
        case .dead: counted.dead += 1
        case .cancelled, .superseded: break
        }
        if item.state.keepsContent { counted.bytes += item.bytes }
        if [.pending, .waiting].contains(item.state) {
          counted.oldestPendingAt = min(counted.oldestPendingAt ?? item.createdAt, item.createdAt)
        }
      }
      if counted != published { throw Violation("the counts are \(published), the rows \(counted)") }
    }
  }

  /// One item, and what it was before.
  private func check(_ item: OutboxItem, _ before: OutboxItem?) throws(Violation) {
    guard let url = try? HTTPURL(item.url), let trackedRequest = trackedRequest(at: url.target) else {
      throw Violation("nobody has written \(item.url)")
    }
    let name = "request \(trackedRequest.number)"
    if before == nil {
      let isExpected =
        trackedRequest.isTaken || trackedRequest.ids.contains(item.id)
        || callsBefore.contains { $0.handsIn(trackedRequest) }
      if !isExpected { throw Violation("\(name) is in the outbox, though it was refused") }
      trackedRequest.ids.insert(item.id)
      note("\(name) is \(item.id)")
    }
    if let known = before?.subject, item.subject != known { throw Violation("\(name) changed hands") }
    if !trackedRequest.isTaken, let subject = item.subject, !trackedRequest.sentUnder.isSubset(of: [subject]) {
      throw Violation("\(name) of \(subject.id) was sent under \(trackedRequest.sentUnder.map(\.id))")
    }
    if before?.state != item.state || before?.reason != item.reason {
      note("\(name): \(before?.state.rawValue ?? "-") → \(item.state) \(item.reason?.rawValue ?? "")")
      if before != nil { try checkChange(item, from: before, trackedRequest) }
      if item.state == .inFlight {
        trackedRequest.takenAt = takenAt
      } else if trackedRequest.flights.isEmpty {
        trackedRequest.sentSince = nil
      }
      let isBack = item.state == .pending || item.reason == .otherUser
      if before?.state == .inFlight, isBack, let taken = trackedRequest.takenAt { trackedRequest.wasTaken(at: taken) }
      if !item.state.isActive, item.reason != .otherUser {
        ended[item.id] = (now, elapsed - lastBreak > .seconds(60) ? timeBreaks : -1)
      }
    }
    if item.attempts > settings.maxAttempts { throw Violation("\(name) was tried \(item.attempts) times") }
    if !trackedRequest.isTaken, item.attempts > trackedRequest.charged + Swift.min(trackedRequest.refusals, 1) {
      throw Violation("\(name) is charged \(item.attempts) attempts for \(trackedRequest.charged) answers")
    }
  }

  private func checkChange(_ item: OutboxItem, from before: OutboxItem?, _ trackedRequest: TrackedRequest)
    throws(Violation)
  {
    let name = "request \(trackedRequest.number)"
    let calls = callsBefore + self.calls.values
    let isHeldBefore = before?.state == .held && before?.reason == .needsReview
    if before?.state == .dead || isHeldBefore, item.state.isActive || item.reason == .otherUser {
      guard calls.contains(where: { $0.putsBack(before ?? item) }) else {
        throw Violation("\(name) lives again, unasked")
      }
      return trackedRequest.isPutBack()
    }
    switch before?.state {
    case .delivered, .cancelled, .superseded:
      throw Violation("\(name) was \(before?.state.rawValue ?? "") and is \(item.state)")
    case .dead, .held, .pending, .inFlight, .waiting, nil: break
    }
    switch item.state {
    case .pending, .inFlight, .waiting: return
    case .delivered:
      if !trackedRequest.isDelivered { throw Violation("\(name) is called delivered after \(trackedRequest.statuses)") }
    case .dead: try checkDeath(item, trackedRequest)
    case .held where item.reason == .needsReview:
      guard let since = trackedRequest.mayBeDoneSince, !trackedRequest.isRepeatable,
        // After a crash an item's fate is unknown since it was claimed, some time before its request left.
        elapsed - since > settings.idempotencyHorizon - setAhead - .seconds(60)
      else { throw Violation("\(name) is held for review without need") }
    case .held: return
    case .cancelled:
      guard calls.contains(where: { $0.takesBack(before ?? item) }) else {
        throw Violation("\(name) is cancelled, unasked")
      }
    case .superseded:
      let isReplaced =
        trackedRequest.draft.replaceKey.map { key in
          calls.contains { $0.replaces(key) }
            // One whose request was under way then is superseded when that has ended.
            || rows.values.contains { other in
              guard other.id != item.id, other.account == item.account, let url = try? HTTPURL(other.url) else {
                return false
              }
              return self.trackedRequest(at: url.target)?.draft.replaceKey == key
            }
        } ?? false
      // It was handed in twice, under two names of its user, and came together.
      let isTwin = trackedRequest.draft.idempotencyKey != nil && trackedRequest.ids.count > 1 && item.attempts == 0
      guard isReplaced || isTwin else { throw Violation("\(name) is superseded by nothing") }
    }
    tally[.item([item.state.rawValue, item.reason?.rawValue].compactMap(\.self).joined(separator: " "))] += 1
  }

  private func checkDeath(_ item: OutboxItem, _ trackedRequest: TrackedRequest) throws(Violation) {
    let isGrounded: Bool
    switch item.reason {
    case .rejected: isGrounded = trackedRequest.statuses.contains { (400...499).contains($0) || $0 == 501 || $0 == 505 }
    case .redirected: isGrounded = trackedRequest.statuses.contains { (300...399).contains($0) }
    case .attemptsExhausted: isGrounded = trackedRequest.charged >= settings.maxAttempts
    case .expired:
      // Where a server's clock is wrong, or none tells the time, this one's may be believed.
      let isTimeKnown = clockErrors.values.allSatisfy { $0 == .zero }
      // That may have been decided right before it was set back.
      let late = elapsed - lastBreak < .seconds(5) ? setBack : .zero
      let time = isTimeKnown ? Timestamp.sample + elapsed : max(now + late, Timestamp.sample + elapsed)
      isGrounded = trackedRequest.draft.expiresAt.map { $0 - .seconds(62) <= time } ?? false
    case .otherUser, .needsReview, .damaged, .originNotConfigured, .needsStepUp, nil: isGrounded = false
    }
    if !isGrounded {
      throw Violation(
        "request \(trackedRequest.number) is dead, \(String(describing: item.reason)), after \(trackedRequest.statuses)"
      )
    }
  }

  private func checkSwept(_ item: OutboxItem) throws(Violation) {
    guard !item.state.isActive, item.state != .held, let end = ended[item.id] else {
      throw Violation("\(item.url), which was \(item.state), is gone")
    }
    let keep = item.state == .dead ? settings.keepDead : settings.keepDelivered
    let isTooMany = item.state != .dead && settings.maxItems < 100
    if !isTooMany, end.breaks == timeBreaks, now - end.at < keep - .seconds(10) {
      throw Violation("\(item.url) is swept \(now - end.at) after its end")
    }
    swept.insert(item.id)
  }

  /// Nothing overtakes in a lane: what was sent had nothing before it that was not done with.
  private func checkLanes(_ before: [String: OutboxItem]) throws(Violation) {
    for sent in sent {
      guard let id = sent.id, let item = rows[id], let lane = item.lane else { continue }
      for other in order.prefix(while: { $0 != id }) {
        guard let row = rows[other], row.lane == lane, row.account == item.account, row.subject == item.subject,
          row.state.isActive, before[other]?.state.isActive == true, let url = try? HTTPURL(row.url),
          let trackedRequest = trackedRequest(at: url.target), !trackedRequest.isAnswered, !trackedRequest.isRefused
        else { continue }
        throw Violation(
          "request \(sent.trackedRequest) overtakes request \(trackedRequest.number) (\(row.state)) in \(lane)")
      }
    }
  }

  func checkFile() throws(Violation) {
    let problems: [String]
    do { problems = try OutboxCheck.problems(at: folder.file("outbox.sqlite")) } catch {
      throw Violation("the outbox cannot be checked: \(error)")
    }
    if !problems.isEmpty { throw Violation("the outbox is not sound: \(problems)") }
  }

  /// What the outbox tells.
  func published(_ event: OutboxEvent, _ daemon: Int) {
    guard lives(daemon), case .delivered(let item) = event, let url = try? HTTPURL(item.url) else { return }
    if trackedRequest(at: url.target)?.isDelivered != true { violated("\(url) is published as delivered") }
  }

  // MARK: - In the end

  /// Everything is well again: now all that can be sent must be sent, in bounded time.
  func heal() throws(Violation) {
    note("all is well again")
    for origin in origins.keys { origins[origin] = .fine }
    disk = .fine
    stepClock(by: .zero - offset)
    for account in accounts {
      account.mood = .fine
      (account.disk.isDenied, account.disk.isFull) = (false, false)
      for lock in Lock.allCases { unlock(account, lock) }
    }
    networkReturns()
    try settle()
    while !calls.isEmpty { try advance() }
    resume(nil)
    try settle()
    let latest = trackedRequests.compactMap(\.draft.notBefore).max() ?? now
    let limit = elapsed + Swift.max(latest - now, .zero) + .seconds(4 * 3600)
    while elapsed < limit, !isDone {
      for account in accounts where needsSignIn(account) && calls.isEmpty {
        signIn(account)
        try settle()
      }
      try advance(until: limit)
    }
    // A step that a daemon did not live to plan for makes a wait longer, by a day at most. So may a server, and a
    // server that is well asks for it again now and then.
    var mayWaitLonger = setBack + setAhead > .zero
    while !isDone, mayWaitLonger || isAskedToWait {
      mayWaitLonger = false
      flush(nil)
      try settle()
      let limit = elapsed + .seconds(1800)
      while elapsed < limit, !isDone { try advance(until: limit) }
    }
    for id in order {
      guard let item = rows[id], item.state.isActive else { continue }
      throw Violation("\(item.url) is still \(item.state): \(item)")
    }
    for account in accounts where account.state != .authenticated {
      throw Violation("the session of \(account.name) has not come back: \(account.state)")
    }
  }

  func needsSignIn(_ account: SimulatedAccount) -> Bool {
    switch account.state {
    case .unauthenticated, .reauthRequired: true
    case .authenticated, .locked, .hydrating: false
    }
  }

  private var isAskedToWait: Bool {
    rows.values.contains { $0.state == .waiting && trackedRequest(of: $0).map { $0.floor > elapsed } ?? false }
  }

  private var isDone: Bool {
    calls.isEmpty && !rows.values.contains { $0.state.isActive } && !accounts.contains { $0.state != .authenticated }
  }

  /// The last daemon goes, and all that is left is the file.
  func end() throws(Violation) {
    if !calls.isEmpty { throw Violation("calls are never answered: \(calls.values.map(\.kind))") }
    try stop()
  }
}
