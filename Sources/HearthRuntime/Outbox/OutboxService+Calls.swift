package import HearthCore

/// What clients ask for.
extension OutboxService {
  /// A call of `flush` that waits.
  struct Flush {
    let accounts: Set<AccountName>
    let done: CheckedContinuation<Void, Never>
  }

  /// Answers once the item is on disk.
  package func enqueue(_ draft: OutboxDraft) async throws(OutboxError) -> OutboxReceipts.Receipt {
    do throws(OutboxError) {
      guard let receipt = try await enqueueMany([draft]).first else { throw .invalidRequest("items: none") }
      return receipt
    } catch .item(_, let reason) {
      throw reason
    }
  }

  /// All of them, or none. Throws `item` where one of them is to blame.
  package func enqueueMany(_ drafts: [OutboxDraft]) async throws(OutboxError) -> [OutboxReceipts.Receipt] {
    if stopsAt != nil { throw .shuttingDown }
    let now = clock.now()
    var items: [NewOutboxItem] = []
    for (place, draft) in drafts.enumerated() {
      do throws(OutboxError) { items.append(try checked(draft, at: now)) } catch { throw .item(place, error) }
    }
    if items.isEmpty { return [] }
    for draft in drafts where draft.replaceKey != nil { try await giveBackUnsent(of: draft.account) }
    let limits = OutboxLimits(items: settings.maxItems, bytes: settings.maxBytes)
    let receipts: OutboxReceipts
    do { receipts = try await store.enqueue(items, limits: limits, at: now) } catch { throw refusal(error) }
    tell(receipts.receipts.filter { !$0.isDuplicate }.map { .enqueued($0.item) }, receipts.totals)
    for (receipt, item) in zip(receipts.receipts, items) {
      accounts[receipt.item.account]?.mayHaveMore = .all
      // Somebody signed in meanwhile, and what was nobody's was bound before this was there.
      if receipt.item.subject == nil { accounts[receipt.item.account]?.bindAgain() }
      if let expiresAt = item.draft.expiresAt { nextExpiryAt = min(nextExpiryAt ?? expiresAt, expiresAt) }
    }
    bell.ring()
    return receipts.receipts.map { OutboxReceipts.Receipt(item: shown($0.item), isDuplicate: $0.isDuplicate) }
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
    do { item = try await store.item(id) } catch { throw refusal(error) }
    guard let item else { throw .unknownItem }
    return shown(item)
  }

  /// At most 1,000 items a page.
  package func list(_ query: OutboxQuery) async throws(OutboxError) -> OutboxPage {
    if let account = query.account { try know(account) }
    guard (1...1000).contains(query.limit) else { throw .invalidRequest("limit: it is not between 1 and 1000") }
    if let cursor = query.cursor, Int64(cursor) == nil {
      throw .invalidRequest("cursor: outbox.list has given no such cursor; leave it out to begin with the oldest item")
    }
    do {
      let page = try await store.list(query)
      return OutboxPage(items: page.items.map(shown), cursor: page.cursor)
    } catch { throw refusal(error) }
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
    let holder = accounts.first { $0.value.unsent[id] != nil }?.key
    if let holder {
      switch change {
      case .cancel: released = accounts[holder]?.withdraw(id) ?? []
      case .retry: throw .invalidState(.pending)
      }
    }
    let item: OutboxItem
    do { item = try await store.change(id, change, releasing: released, at: clock.now()) } catch {
      if let holder { owe(released, of: holder) }
      throw refusal(error)
    }
    accounts[item.account]?.mayHaveMore = .all
    bell.ring()
    do { try await tellTotals() } catch { throw refusal(error) }
    return 1
  }

  private func changeAll(
    _ account: AccountName, _ state: OutboxItem.State, _ change: OutboxChange
  ) async throws(OutboxError) -> Int {
    try know(account)
    var count = 0
    do {
      while true {
        let step = try await store.changeAll(of: account, in: state, change, limit: Self.batch, at: clock.now())
        count += step
        if step < Self.batch { break }
      }
      try await tellTotals()
    } catch { throw refusal(error) }
    accounts[account]?.mayHaveMore = .all
    bell.ring()
    return count
  }

  /// Stops sending until `resume`, restarts and sign-ins included. Without an account: of all.
  package func pause(_ account: AccountName?) async throws(OutboxError) { try await setPaused(account, true) }

  package func resume(_ account: AccountName?) async throws(OutboxError) { try await setPaused(account, false) }

  private func setPaused(_ account: AccountName?, _ isPaused: Bool) async throws(OutboxError) {
    let chosen = try chosen(account)
    lastPauseNumber += 1
    let number = lastPauseNumber
    do { try await store.setPaused(chosen, isPaused) } catch { throw refusal(error) }
    for name in chosen {
      accounts[name]?.receive(isPaused: isPaused, number: number)
      if accounts[name]?.isPausedByUser == true { finished += accounts[name]?.withdrawAll() ?? [] }
      accounts[name]?.mayHaveMore = .all
      decideContestedTokens(of: name)
      tellPause(of: name)
    }
    bell.ring()
  }

  package func getStats(_ account: AccountName?) async throws(OutboxError) -> OutboxStats {
    if let account { try know(account) }
    do { return shown(try await store.stats(of: account), of: account) } catch { throw refusal(error) }
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
      } catch { throw refusal(error) }
      bell.ring()
      lastFlush += 1
      let (id, clock, deadline) = (lastFlush, clock, clock.now() + timeout)
      await withTaskGroup(of: Void.self) { group in
        group.addTask {
          await clock.sleep(until: deadline)
          await self.endFlush(id)
        }
        await withCheckedContinuation { flushes[id] = Flush(accounts: chosen, done: $0) }
        group.cancelAll()
      }
    }
    return try await getStats(account)
  }

  /// Items go out, or may in a moment: at the start that is not known yet.
  private func mayBeSendable(_ name: AccountName) -> Bool {
    guard let account = accounts[name] else { return false }
    return account.isSendable || !account.isPausedByUser && (!arePausesRead || account.isHydrating)
  }

  private func endFlush(_ id: Int) {
    flushes.removeValue(forKey: id)?.done.resume()
  }

  /// Ends those that have nothing left to wait for.
  func endFlushes() {
    for (id, flush) in flushes where flush.accounts.allSatisfy({ isIdle($0) }) { endFlush(id) }
  }

  private func isIdle(_ name: AccountName) -> Bool {
    guard let account = accounts[name], mayBeSendable(name) else { return true }
    guard arePausesRead, !account.isHydrating else { return false }
    let isStalled = account.stalledUntil != nil
    return !account.isActive && account.buffer.isEmpty && finished.isEmpty && !settling.contains(name)
      && (isStalled
        || account.mayHaveMore.isEmpty && account.isBound
          && !(account.reach.nextProbeAt.map { $0 <= clock.now() } ?? false))
  }

  /// Sign-out with `outbox: "discard"`: takes back what the account's user has not had delivered. What is on its way
  /// lands. Call it before the session forgets the user.
  package func discard(_ name: AccountName) async throws(OutboxError) -> Int {
    try know(name)
    let subject = accounts[name]?.knownSubject
    try await giveBackUnsent(of: name)
    var count = 0
    do {
      while true {
        let step = try await store.discard(name, of: subject, limit: Self.batch, at: clock.now())
        count += step
        if step < Self.batch { break }
      }
      try await tellTotals()
    } catch { throw refusal(error) }
    bell.ring()
    return count
  }

  private func giveBackUnsent(of name: AccountName) async throws(OutboxError) {
    guard let released = accounts[name]?.withdrawAll(), !released.isEmpty else { return }
    accounts[name]?.mayHaveMore = .all
    do { _ = try await store.settle(released, claims: [], at: clock.now()) } catch {
      owe(released, of: name)
      throw refusal(error)
    }
  }

  /// What was withdrawn is still in flight on disk: the loop writes it down.
  private func owe(_ released: [FinishedDelivery], of name: AccountName) {
    finished += released
    accounts[name]?.mayHaveMore = .all
    bell.ring()
  }

  private func know(_ account: AccountName) throws(OutboxError) {
    if accounts[account] == nil { throw .unknownAccount(account) }
  }

  private func chosen(_ account: AccountName?) throws(OutboxError) -> Set<AccountName> {
    guard let account else { return Set(accounts.keys) }
    try know(account)
    return [account]
  }
}
