package import HearthCore

/// The calls of clients.
extension OutboxService {
  /// Returns once the item is on disk.
  package func enqueue(_ draft: OutboxDraft) async throws(OutboxError) -> OutboxReceipt {
    do throws(OutboxError) {
      guard let receipt = try await enqueueMany([draft]).first else { throw .invalidRequest("items: there are none") }
      return receipt
    } catch .item(_, let reason) {
      throw reason
    }
  }

  /// Keeps all of them, or none. Throws `item` where one of them is the reason.
  package func enqueueMany(_ drafts: [OutboxDraft]) async throws(OutboxError) -> [OutboxReceipt] {
    if stopsAt != nil { throw .shuttingDown }
    let now = clock.now()
    var items: [NewOutboxItem] = []
    for (place, draft) in drafts.enumerated() {
      do throws(OutboxError) { items.append(try checked(draft, at: now)) } catch { throw .item(place, error) }
    }
    if items.isEmpty { return [] }
    for draft in drafts where draft.replaceKey != nil { try await releaseUnsent(of: draft.account) }
    let receipts: [OutboxReceipt]
    let totals: OutboxTotals
    do { (receipts, totals) = try await store.enqueue(items, within: settings, at: now) } catch {
      throw callError(error)
    }
    publish(receipts.filter { !$0.isDuplicate }.map { .enqueued($0.item) }, totals)
    for (receipt, item) in zip(receipts, items) {
      accounts[receipt.item.account]?.mayHaveMore = .all
      // A user may have signed in meanwhile, and the items of no user were bound before this one was there.
      if receipt.item.subject == nil { accounts[receipt.item.account]?.bindAgain() }
      if let expiresAt = item.draft.expiresAt { nextExpiryAt = min(nextExpiryAt ?? expiresAt, expiresAt) }
    }
    wakeUp.send()
    return receipts.map { OutboxReceipt(item: shown($0.item), isDuplicate: $0.isDuplicate) }
  }

  private func checked(_ draft: OutboxDraft, at now: Timestamp) throws(OutboxError) -> NewOutboxItem {
    guard let account = accounts[draft.account] else { throw .unknownAccount(draft.account) }
    let url: HTTPURL
    do { url = try draft.checked(maxBody: settings.maxBody) } catch { throw .invalidRequest("\(error)") }
    guard account.origins.contains(url.origin) else { throw .originNotAllowed(url.origin) }
    return NewOutboxItem(id: makeID(now), draft: draft, url: url, subject: account.knownSubject)
  }

  package func get(_ id: String) async throws(OutboxError) -> OutboxItem {
    let item: OutboxItem?
    do { item = try await store.item(id) } catch { throw callError(error) }
    guard let item else { throw .unknownItem }
    return shown(item)
  }

  /// At most 1,000 items a page.
  package func list(_ query: OutboxQuery) async throws(OutboxError) -> OutboxPage {
    if let account = query.account { try requireKnown(account) }
    guard (1...1000).contains(query.limit) else { throw .invalidRequest("limit: it must be between 1 and 1000") }
    if let cursor = query.cursor, Int64(cursor) == nil {
      throw .invalidRequest("cursor: outbox.list has given no such cursor; leave it out to begin with the oldest item")
    }
    do {
      let page = try await store.list(query)
      return OutboxPage(items: page.items.map(shown), cursor: page.cursor)
    } catch { throw callError(error) }
  }

  package func cancel(_ id: String) async throws(OutboxError) -> Int { try await change(id, .cancel) }

  package func retry(_ id: String) async throws(OutboxError) -> Int { try await change(id, .retry) }

  package func cancelAll(_ account: AccountName, in state: OutboxItem.State) async throws(OutboxError) -> Int {
    try await changeAll(account, state, .cancel)
  }

  package func retryAll(_ account: AccountName, in state: OutboxItem.State) async throws(OutboxError) -> Int {
    try await changeAll(account, state, .retry)
  }

  private func change(_ id: String, _ change: OutboxChange) async throws(OutboxError) -> Int {
    var released: [FinishedDelivery] = []
    let holder = accounts.first { $0.value.queue.isUnsent(id) }?.key
    if let holder {
      switch change {
      case .cancel: released = accounts[holder]?.withdraw(id) ?? []
      case .retry: throw .invalidState(.pending)
      }
    }
    let item: OutboxItem
    do { item = try await store.change(id, change, releasing: released, at: clock.now()) } catch {
      if let holder { writeLater(released, of: holder) }
      throw callError(error)
    }
    accounts[item.account]?.mayHaveMore = .all
    wakeUp.send()
    do { try await publishTotals() } catch { throw callError(error) }
    return 1
  }

  private func changeAll(
    _ account: AccountName, _ state: OutboxItem.State, _ change: OutboxChange
  ) async throws(OutboxError) -> Int {
    try requireKnown(account)
    var count = 0
    do {
      while true {
        let step = try await store.changeAll(of: account, in: state, change, limit: Self.batch, at: clock.now())
        count += step
        if step < Self.batch { break }
      }
      try await publishTotals()
    } catch { throw callError(error) }
    accounts[account]?.mayHaveMore = .all
    wakeUp.send()
    return count
  }

  /// Stops sending until `resume`, restarts and sign-ins included. Without an account: of all.
  package func pause(_ account: AccountName?) async throws(OutboxError) { try await setPaused(account, true) }

  package func resume(_ account: AccountName?) async throws(OutboxError) { try await setPaused(account, false) }

  private func setPaused(_ account: AccountName?, _ isPaused: Bool) async throws(OutboxError) {
    let chosen = try chosen(account)
    lastPauseNumber += 1
    let number = lastPauseNumber
    do { try await store.setPaused(chosen, isPaused) } catch { throw callError(error) }
    for name in chosen {
      accounts[name]?.pauseRead(isPaused: isPaused, number: number)
      if accounts[name]?.isPausedByUser == true { write(accounts[name]?.withdrawAll() ?? []) }
      accounts[name]?.mayHaveMore = .all
      resolveUnauthorized(of: name)
      publishPause(of: name)
    }
    wakeUp.send()
  }

  package func getStats(_ account: AccountName?) async throws(OutboxError) -> OutboxStats {
    if let account { try requireKnown(account) }
    do { return shown(try await store.stats(of: account), of: account) } catch { throw callError(error) }
  }

  /// Tries waiting items now, and returns once nothing is left that could be sent, or time is up.
  package func flush(_ account: AccountName?, timeout: Duration) async throws(OutboxError) -> OutboxStats {
    let chosen = try chosen(account).filter { mayBeSendable($0) }
    if !chosen.isEmpty, stopsAt == nil {
      do {
        for name in chosen {
          while try await store.retryNow(name, limit: Self.batch, at: clock.now()) >= Self.batch {}
          retryNow(name)
        }
      } catch { throw callError(error) }
      wakeUp.send()
      let (number, clock, deadline) = (flushes.nextNumber(), clock, clock.now() + timeout)
      await withTaskGroup(of: Void.self) { group in
        group.addTask {
          await clock.sleep(until: deadline)
          await self.endFlush(number)
        }
        await withCheckedContinuation { flushes.add(number, for: chosen, $0) }
        group.cancelAll()
      }
    }
    return try await getStats(account)
  }

  /// Whether items are sent, or may be shortly: after a start the pauses and the session are not known yet.
  private func mayBeSendable(_ name: AccountName) -> Bool {
    guard let account = accounts[name] else { return false }
    return account.isSendable || !account.isPausedByUser && (!arePausesRead || account.isHydrating)
  }

  private func endFlush(_ number: Int) { flushes.end(number) }

  /// Whether nothing is left of an account that could be sent now.
  func isIdle(_ name: AccountName) -> Bool {
    guard let account = accounts[name], mayBeSendable(name) else { return true }
    guard arePausesRead, !account.isHydrating else { return false }
    let isStalled = account.stalledUntil != nil
    return !account.queue.hasWorkers && account.queue.isEmpty && unwritten.isEmpty && !claiming.contains(name)
      && (isStalled
        || account.mayHaveMore.isEmpty && account.isBound
          && !(account.breaker.nextProbeAt.map { $0 <= clock.now() } ?? false))
  }

  /// Sign-out with `outbox: "discard"`: cancels every item of the account's user that is not delivered. Requests under way
  /// finish. To be called before the session forgets the user. Returns the number of cancelled items.
  package func purge(_ name: AccountName) async throws(OutboxError) -> Int {
    try requireKnown(name)
    let subject = accounts[name]?.knownSubject
    try await releaseUnsent(of: name)
    var count = 0
    do {
      while true {
        let step = try await store.purge(name, of: subject, limit: Self.batch, at: clock.now())
        count += step
        if step < Self.batch { break }
      }
      try await publishTotals()
    } catch { throw callError(error) }
    wakeUp.send()
    return count
  }

  private func releaseUnsent(of name: AccountName) async throws(OutboxError) {
    guard let released = accounts[name]?.withdrawAll(), !released.isEmpty else { return }
    accounts[name]?.mayHaveMore = .all
    do { _ = try await store.complete(released, claiming: [], at: clock.now()) } catch {
      writeLater(released, of: name)
      throw callError(error)
    }
  }

  /// The store has failed, and withdrawn items are still in flight on disk: the loop writes them down later.
  private func writeLater(_ released: [FinishedDelivery], of name: AccountName) {
    write(released)
    accounts[name]?.mayHaveMore = .all
    wakeUp.send()
  }

  private func requireKnown(_ account: AccountName) throws(OutboxError) {
    if accounts[account] == nil { throw .unknownAccount(account) }
  }

  private func chosen(_ account: AccountName?) throws(OutboxError) -> Set<AccountName> {
    guard let account else { return Set(accounts.keys) }
    try requireKnown(account)
    return [account]
  }
}
