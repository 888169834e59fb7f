internal import HearthCore
internal import Logging

/// The loop: writes outcomes down, claims the next deliveries, keeps house, and sleeps until there is more to do.
extension OutboxService {
  /// The most items of one step of a longer piece of work, so that deliveries go on in between.
  static let batch = 256
  private static let lanesAtOnce = 64
  private static let pruneInterval = Duration.seconds(60)
  private static let longestUnwritten = Duration.milliseconds(50)
  private static let timeProbeInterval = Duration.seconds(60)

  /// Sends until `shutdown()`, or until its task is cancelled.
  package func run() async {
    let clock = clock
    await withDiscardingTaskGroup { group in
      group.addTask { [weak self] in
        for await shift in clock.steps() { await self?.clockStepped(by: shift) }
      }
      while !isDone {
        let begun = clock.now()
        let hasMore = await step()
        startWorkers(&group)
        flushes.end { isIdle($0) }
        if !hasMore { await rest(until: nextDeadline(after: begun)) }
      }
      group.cancelAll()
    }
    if !unwritten.isEmpty { _ = try? await complete(claiming: []) }
  }

  private var isDone: Bool {
    if Task.isCancelled { return true }
    return stopsAt.map { workers == 0 || $0 <= clock.now() } ?? false
  }

  private func rest(until deadline: Timestamp) async {
    let (clock, wakeUp) = (clock, wakeUp)
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        await clock.sleep(until: deadline)
        if !Task.isCancelled { wakeUp.send() }
      }
      await wakeUp.wait()
      group.cancelAll()
    }
  }

  /// The first deadline after the last step began. It may have passed during that step, which has not acted on it.
  private func nextDeadline(after begun: Timestamp) -> Timestamp {
    // While the store fails nothing else can be done.
    if let storeRetryAt { return min(storeRetryAt, stopsAt ?? storeRetryAt) }
    var deadlines = [stopsAt]
    if let skew { deadlines += [nextExpiryAt.map { $0 - min(skew, .zero) }, nextPruneAt] }
    if let since = unwritten.since { deadlines.append(since + Self.longestUnwritten) }
    for account in accounts.values where account.isSendable {
      deadlines += [account.nextDueAt, account.stalledUntil, account.breaker.nextProbeAt]
      if skew == nil, account.timeNeededFrom != nil {
        deadlines.append(account.timeAskedAt.map { $0 + Self.timeProbeInterval })
      }
    }
    return deadlines.compactMap(\.self).filter { $0 > begun }.min() ?? .distantFuture
  }

  /// One round; returns whether another one follows at once. While the store fails nothing is lost: outcomes are kept in
  /// memory, nothing new is claimed, and the store is tried again after a short wait.
  private func step() async -> Bool {
    if let storeRetryAt, storeRetryAt > clock.now() { return false }
    storeRetryAt = nil
    do {
      if !isRecovered { try await recover() }
      if !arePausesRead { try await readPauses() }
      var hasMore = try await bindAccounts()
      // Before anything is claimed: by a clock that was set ahead every waiting item would seem to be due.
      try await shiftSchedule()
      let claims = claims()
      if !claims.isEmpty || isWritingDue { try await complete(claiming: claims) }
      hasMore = try await keepHouse() || hasMore
      storeFailures.loopSucceeded()
      return hasMore || accounts.values.contains { room($0, .lanes) > 0 || room($0, .unordered) > 0 }
    } catch {
      storeFailures.loopFailed(error)
      storeRetryAt = clock.now() + Self.storeRetry
      return false
    }
  }

  private func recover() async throws(OutboxStoreFailure) {
    try await store.recover(at: clock.now())
    isRecovered = true
    nextPruneAt = clock.now()
  }

  private func readPauses() async throws(OutboxStoreFailure) {
    // A reload in the meantime has them read again.
    arePausesRead = true
    lastPauseNumber += 1
    let number = lastPauseNumber
    let paused: Set<AccountName>
    do { paused = try await store.paused() } catch {
      arePausesRead = false
      throw error
    }
    for name in accounts.keys {
      accounts[name]?.pauseRead(isPaused: paused.contains(name), number: number)
      publishPause(of: name)
    }
    try await complete(claiming: [])
  }

  /// Reports the users of the accounts to the store. Items that were made while no user was known become theirs.
  private func bindAccounts() async throws(OutboxStoreFailure) -> Bool {
    var hasMore = false
    for name in accounts.keys {
      guard let account = accounts[name], !account.isBound, let subject = account.knownSubject else { continue }
      let adopts = if case .sendable = account.permission { true } else { false }
      // An item that is added while the store works asks for another binding.
      accounts[name]?.isBound = true
      let binding: OutboxBinding
      do {
        binding = try await store.bind(
          name, to: subject, formerly: account.formerSubject, adopts: adopts, limit: Self.batch)
      } catch {
        accounts[name]?.bindAgain()
        throw error
      }
      if binding.holdsOthers {
        accounts[name]?.isPublishingHeld = true
        accounts[name]?.heldCursor = nil
      }
      guard accounts[name]?.knownSubject == subject, accounts[name]?.permission == account.permission else {
        hasMore = true
        continue
      }
      if !binding.isDone { accounts[name]?.bindAgain() }
      hasMore = hasMore || accounts[name]?.isBound == false
    }
    return hasMore
  }

  // MARK: - Claiming and writing down

  /// How many more items of a kind may be claimed for an account now.
  private func room(_ account: OutboxAccount, _ kind: OutboxKinds) -> Int {
    guard account.isSendable, account.isBound, account.mayHaveMore.contains(kind), account.stalledUntil == nil,
      stopsAt == nil
    else { return 0 }
    let unsent = account.queue.unsent(of: kind)
    let ahead = account.readAhead.limit
    if ahead == 0 { return max(atOnce(kind) - account.sending(kind) - unsent, 0) }
    return unsent <= ahead / 4 ? ahead - unsent : 0
  }

  /// How many requests of a kind an account may have under way. Each lane has one and waits for no other lane, so their
  /// limit only protects the machine.
  func atOnce(_ kind: OutboxKinds) -> Int {
    kind == .unordered ? settings.concurrency : max(settings.concurrency, Self.lanesAtOnce)
  }

  private func claims() -> [OutboxClaim] {
    let now = clock.now()
    var claims: [OutboxClaim] = []
    for name in accounts.keys.sorted() {
      guard var account = accounts[name] else { continue }
      if let until = account.stalledUntil, until <= now { account.stalledUntil = nil }
      let isProbeDue = account.breaker.nextProbeAt.map { $0 <= now } ?? false
      if isProbeDue || account.nextDueAt.map({ $0 <= now }) ?? false {
        account.mayHaveMore = .all
        account.nextDueAt = nil
      }
      let (lanes, unordered) = (room(account, .lanes), room(account, .unordered))
      if lanes > 0 || unordered > 0 {
        if lanes > 0 { account.mayHaveMore.remove(.lanes) }
        if unordered > 0 { account.mayHaveMore.remove(.unordered) }
        var open: Set<Origin> = []
        var probed: Set<Origin> = []
        for origin in account.origins {
          switch account.breaker.allowance(for: origin, at: now) {
          case .open: open.insert(origin)
          case .probe: probed.insert(origin)
          case .closed: break
          }
        }
        claims.append(
          OutboxClaim(
            account: name, subject: account.knownSubject, lanes: lanes, unordered: unordered,
            takesFollowers: account.readAhead.limit > 0,
            open: open, probed: probed, configured: account.origins, agreedTime: agreedTime, policy: policy))
      }
      accounts[name] = account
    }
    return claims
  }

  private var isWritingDue: Bool {
    guard let since = unwritten.since else { return false }
    return unwritten.count >= Self.batch / 4 || workers == 0 || stopsAt != nil
      || clock.now() - since >= Self.longestUnwritten
      || !accounts.values.contains { $0.isSendable && $0.readAhead.limit > 0 }
  }

  /// Writes the outcomes down, and claims the next deliveries, in one transaction.
  private func complete(claiming claims: [OutboxClaim]) async throws(OutboxStoreFailure) {
    let batch = unwritten.removeAll()
    claiming = Set(claims.map(\.account))
    let completion: OutboxCompletion
    do {
      completion = try await store.complete(batch, claiming: claims, at: clock.now())
    } catch {
      unwritten.putBack(batch, at: clock.now())
      claiming = []
      for claim in claims { accounts[claim.account]?.mayHaveMore = .all }
      throw error
    }
    claiming = []
    nextExpiryAt = completion.nextExpiryAt
    for claim in claims {
      guard let claimed = completion.claimed[claim.account] else { continue }
      accept(claimed, of: claim)
    }
    publish(completion.changed, completion.totals)
    for claim in claims { resolveUnauthorized(of: claim.account) }
  }

  private func accept(_ claimed: OutboxCompletion.Claimed, of claim: OutboxClaim) {
    let name = claim.account
    // The session may have changed while the store worked.
    let isStale =
      accounts[name].map { !$0.isSendable || $0.knownSubject != claim.subject || !$0.isBound || stopsAt != nil } ?? true
    guard !isStale, var account = accounts[name] else {
      write(claimed.batches.flatMap(\.deliveries).map(\.released))
      accounts[name]?.mayHaveMore = .all
      return
    }
    account.queue.add(claimed.batches)
    account.nextDueAt = claimed.nextDueAt
    account.timeNeededFrom = claimed.timeNeededFrom
    account.mayHaveMore.formUnion(claimed.cut)
    let origins = Set(claimed.batches.flatMap(\.deliveries).map(\.request.url.origin))
    for origin in claim.probed {
      if origins.contains(origin) { account.breaker.probing(origin) } else { account.breaker.nothingToProbe(origin) }
    }
    accounts[name] = account
  }

  // MARK: - Keeping house

  /// The clock was stepped: the items in the store wait as long as they were meant to.
  private func shiftSchedule() async throws(OutboxStoreFailure) {
    while let shift = owedShift {
      owedShift = nil
      do { try await store.shiftSchedule(shift: shift, at: clock.now()) } catch {
        owedShift = shift + (owedShift ?? .zero)
        throw error
      }
      for name in accounts.keys { accounts[name]?.mayHaveMore = .all }
    }
  }

  private func keepHouse() async throws(OutboxStoreFailure) -> Bool {
    var hasMore = false
    if let agreedTime, let nextExpiryAt, nextExpiryAt <= agreedTime {
      let (items, totals) = try await store.expire(limit: Self.batch, at: agreedTime)
      for item in items { accounts[item.account]?.mayHaveMore = .all }
      publish(items, totals)
      try await complete(claiming: [])
      hasMore = true
    }
    if let agreedTime, let nextPruneAt, nextPruneAt <= clock.now() {
      let isMore = try await store.prune(keeping: settings, limit: Self.batch, at: agreedTime)
      self.nextPruneAt = isMore ? clock.now() : clock.now() + Self.pruneInterval
      hasMore = hasMore || isMore
    }
    for name in accounts.keys where accounts[name]?.isPublishingHeld == true {
      hasMore = try await publishHeld(of: name) || hasMore
    }
    return hasMore
  }

  /// Another user has signed in: publishes which items are held for the one before.
  private func publishHeld(of name: AccountName) async throws(OutboxStoreFailure) -> Bool {
    let page = try await store.list(
      OutboxQuery(account: name, state: .held, limit: Self.batch, cursor: accounts[name]?.heldCursor))
    let items = page.items.filter { $0.reason == .otherUser }
    warn(of: items)
    publish(items.compactMap(OutboxEvent.init))
    accounts[name]?.heldCursor = page.cursor
    accounts[name]?.isPublishingHeld = page.cursor != nil
    return page.cursor != nil
  }

  // MARK: - Workers

  private func startWorkers(_ group: inout DiscardingTaskGroup) {
    guard stopsAt == nil else { return }
    for name in accounts.keys.sorted() {
      for kind in [OutboxKinds.lanes, .unordered] {
        while let account = accounts[name], account.isSendable, account.sending(kind) < atOnce(kind),
          accounts[name]?.queue.give(to: lastWorker + 1, kind) == true
        {
          lastWorker += 1
          let worker = lastWorker
          workers += 1
          group.addTask { await self.work(worker, name, kind) }
        }
      }
      askTime(of: name, &group)
    }
  }

  /// Items seem to have expired and no server has reported the time yet: one is asked, or they would wait for ever.
  private func askTime(of name: AccountName, _ group: inout DiscardingTaskGroup) {
    guard skew == nil, let account = accounts[name], account.isSendable, let origin = account.timeNeededFrom,
      !account.queue.hasWorkers, account.stalledUntil == nil,
      account.timeAskedAt.map({ clock.now() - $0 >= Self.timeProbeInterval }) ?? true
    else { return }
    accounts[name]?.timeAskedAt = clock.now()
    group.addTask { await self.askTime(of: name, origin) }
  }
}
