package import HearthCore

/// The calls of clients.
extension OutboxService {
  /// Stores an item. Returns once it is on disk.
  package func enqueue(_ draft: OutboxDraft) async throws(OutboxError) -> OutboxReceipt {
    do throws(OutboxError) {
      guard let receipt = try await enqueueMany([draft]).first else {
        throw .invalidRequest("items: the list is empty")
      }
      return receipt
    } catch .item(_, let reason) {
      throw reason
    }
  }

  /// Stores all items or none. Throws `item` if one of them is the reason.
  package func enqueueMany(_ drafts: [OutboxDraft]) async throws(OutboxError) -> [OutboxReceipt] {
    let now = self.now()
    return try await keep(
      try checkedAll(drafts) { (draft) throws(OutboxError) in try checked(draft, at: now) }, at: now)
  }

  /// Checks all elements. Throws `item` if one is refused.
  func checkedAll<Element>(
    _ elements: [Element], _ check: (Element) throws(OutboxError) -> NewOutboxItem
  ) throws(OutboxError) -> [NewOutboxItem] {
    if machine.isStopping { throw .shuttingDown }
    var items: [NewOutboxItem] = []
    for (place, element) in elements.enumerated() {
      do throws(OutboxError) { items.append(try check(element)) } catch { throw .item(place, error) }
    }
    return items
  }

  /// Stores the items. Returns once they are on disk.
  func keep(_ items: [NewOutboxItem], at now: Timestamp) async throws(OutboxError) -> [OutboxReceipt] {
    if items.isEmpty { return [] }
    let receipts = try await answered(await store.enqueue(items, within: machine.settings))
    machine.enqueued(
      receipts, expiring: items.compactMap(\.draft.expiresAt).min(),
      mayReplace: items.contains { $0.draft.replaceKey != nil }, at: self.now())
    follow()
    return receipts.map { OutboxReceipt(item: shown($0.item), isDuplicate: $0.isDuplicate) }
  }

  private func checked(_ draft: OutboxDraft, at now: Timestamp) throws(OutboxError) -> NewOutboxItem {
    let url = try checkedURL(of: draft)
    return NewOutboxItem(id: makeID(now), draft: draft, url: url, subject: machine.knownSubject(of: draft.account))
  }

  /// Checks that the account is configured and the request can be sent.
  func checkedURL(of draft: OutboxDraft) throws(OutboxError) -> HTTPURL {
    let api = try known(draft.account)
    let url: HTTPURL
    do { url = try draft.checked(maxBody: machine.settings.maxBody) } catch { throw .invalidRequest("\(error)") }
    guard api.origins.contains(url.origin) else { throw .originNotAllowed(url.origin) }
    return url
  }

  package func get(_ id: String) async throws(OutboxError) -> OutboxItem {
    guard let item = try await answered(await store.item(id)) else { throw .unknownItem }
    return shown(item)
  }

  /// Lists items, at most 1,000 on a page.
  package func list(_ query: OutboxQuery) async throws(OutboxError) -> OutboxPage {
    try check(query)
    let page = try await answered(await store.list(query))
    return OutboxPage(items: page.items.map(shown), cursor: page.cursor)
  }

  func check(_ query: OutboxQuery) throws(OutboxError) {
    if let account = query.account { try known(account) }
    guard (1...1000).contains(query.limit) else { throw .invalidRequest("limit: it must be between 1 and 1000") }
    if let cursor = query.cursor, Int64(cursor) == nil {
      throw .invalidRequest(
        "cursor: outbox.list did not return this cursor; leave it out to begin with the oldest item")
    }
  }

  /// Changes an item. Returns the number of items that have changed.
  func change(_ id: String, _ change: OutboxChange) async throws(OutboxError) -> Int {
    let item = try await answered(await store.change(id, change))
    if item.subject == nil { madeNobodys(item.account) }
    noteChange(change)
    return 1
  }

  func changeAll(
    _ account: AccountName, in state: OutboxItem.State, _ change: OutboxChange
  ) async throws(OutboxError) -> Int {
    try known(account)
    defer {
      madeNobodys(account)
      noteChange(change)
    }
    var (count, place) = (0, Int64?.none)
    while true {
      let changed = try await answered(
        await store.changeAll(of: account, in: state, change, upTo: place, limit: OutboxMachine.batch))
      (count, place) = (count + changed.count, changed.place)
      if changed.count < OutboxMachine.batch { return count }
    }
  }

  private func noteChange(_ change: OutboxChange) {
    guard change == .cancel else { return }
    machine.wipeSoon(at: now())
    follow()
  }

  private func madeNobodys(_ account: AccountName) {
    machine.madeNobodys(account)
    follow()
  }

  /// Repeats a step of at most `OutboxMachine.batch` items until none are left, and returns their total number.
  private func untilDone(
    _ step: @Sendable () async throws(OutboxStoreFailure) -> Int
  ) async throws(OutboxError) -> Int {
    var count = 0
    while true {
      let changed = try await answered(await step())
      count += changed
      if changed < OutboxMachine.batch { return count }
    }
  }

  /// Pauses or resumes sending. A pause survives restarts and sign-ins. `nil` means all accounts.
  func setPaused(_ account: AccountName?, _ isPaused: Bool) async throws(OutboxError) {
    let chosen = try chosen(account)
    let number = machine.nextPauseNumber()
    try await answered(await store.setPaused(chosen, isPaused))
    machine.paused(chosen, isPaused, number: number, at: now())
    follow()
  }

  package func getStats(_ account: AccountName?) async throws(OutboxError) -> OutboxStats {
    if let account { try known(account) }
    return publisher.shown(try await answered(await store.stats(of: account)), of: account)
  }

  /// Tries waiting items now, and returns once nothing is left to send or the timeout has passed.
  package func flush(_ account: AccountName?, timeout: Duration) async throws(OutboxError) -> OutboxStats {
    let chosen = try chosen(account).filter { machine.mayBeSendable($0) }
    for name in chosen {
      _ = try await untilDone { [store] () async throws(OutboxStoreFailure) in
        try await store.retryNow(name, limit: OutboxMachine.batch)
      }
      machine.retryNow(name, at: now())
    }
    follow()
    // The service may have been stopped in the meantime; then it has already ended the waiting calls.
    if !chosen.isEmpty, !machine.isStopping { await waitUntilIdle(chosen, timeout: timeout) }
    return try await getStats(account)
  }

  private func waitUntilIdle(_ accounts: Set<AccountName>, timeout: Duration) async {
    let (number, clock, deadline) = (flushes.nextNumber(), clock, now() + timeout)
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        await clock.sleep(until: deadline)
        await self.endFlush(number)
      }
      await withCheckedContinuation { flushes.add(number, for: accounts, $0) }
      group.cancelAll()
    }
  }

  private func endFlush(_ number: Int) { flushes.end(number) }

  /// The subjects that the account's user may have items under. Call this before the session forgets the user.
  package func subjects(of name: AccountName) -> [Subject?] { machine.subjects(of: name) }

  /// Cancels every undelivered item of these subjects, for a sign-out with `outbox: "discard"`. None of them is sent
  /// any more; the result of a request in flight changes nothing. Returns the number of cancelled items.
  package func purge(_ name: AccountName, of subjects: [Subject?]) async throws(OutboxError) -> Int {
    try known(name)
    machine.discarding(name, at: now())
    defer {
      machine.discarded(name, at: now())
      follow()
    }
    follow()
    var count = 0
    for subject in subjects {
      count += try await untilDone { [store] () async throws(OutboxStoreFailure) in
        try await store.purge(name, of: subject, limit: OutboxMachine.batch)
      }
    }
    return count
  }

  /// Records that the account's user has signed out, and returns once that is on disk. If the store fails, it learns of
  /// it when it works again.
  package func left(_ name: AccountName) async {
    machine.left(name)
    while let work = machine.leaving(name) {
      do { try await carryOut(work) } catch { return _ = callError(error) }
    }
    follow()
  }

  @discardableResult
  private func known(_ account: AccountName) throws(OutboxError) -> APISettings {
    guard let api = access[account] else { throw .unknownAccount(account) }
    return api
  }

  private func chosen(_ account: AccountName?) throws(OutboxError) -> Set<AccountName> {
    guard let account else { return machine.names }
    try known(account)
    return [account]
  }

  /// The item as clients see it: if its origin cannot be reached, its next attempt is not before the origin's.
  private func shown(_ item: OutboxItem) -> OutboxItem {
    let now = now()
    guard item.state == .waiting, let nextAttemptAt = item.nextAttemptAt, let url = try? HTTPURL(item.url),
      let until = machine.probeTime(of: item.account, url.origin, at: now)
    else { return item }
    var item = item
    item.nextAttemptAt = max(nextAttemptAt, until)
    return item
  }

  /// Returns the store's answer to a call.
  func answered<Value>(
    _ call: @autoclosure () async throws(OutboxStoreFailure) -> Value
  ) async throws(OutboxError) -> Value {
    do { return try await call() } catch { throw callError(error) }
  }

  /// The error for a call that failed in the store.
  private func callError(_ failure: OutboxStoreFailure) -> OutboxError {
    storeFailures.callFailed(failure)
    if case .broken = failure {
      noteDamage()
      follow()
    }
    return OutboxError(failure)
  }
}
