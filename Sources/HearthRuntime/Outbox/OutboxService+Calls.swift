package import HearthCore

/// Handles the outbox calls of the control protocol.
extension OutboxService {
  /// Stores an item and returns once it is on disk.
  package func enqueue(_ draft: OutboxDraft) async throws -> OutboxReceipt {
    do { return try await enqueueMany([draft])[0] } catch var failure as Failure {
      failure.item = nil
      throw failure
    }
  }

  /// Stores all items, or none if one of them is refused. The failure's `item` is the index of that item.
  package func enqueueMany(_ drafts: [OutboxDraft]) async throws -> [OutboxReceipt] {
    let now = self.now()
    return try await keep(try checkedAll(drafts) { try checked($0, at: now) }, at: now)
  }

  /// Checks all elements. If one of them is refused, the failure's `item` is the index of that element.
  func checkedAll<Element>(_ elements: [Element], _ check: (Element) throws -> NewOutboxItem) throws -> [NewOutboxItem]
  {
    if machine.isStopping { throw Failure.shuttingDown }
    return try elements.enumerated().map { place, element in
      do { return try check(element) } catch var failure as Failure {
        failure.item = place
        throw failure
      }
    }
  }

  /// Stores the items and returns once they are on disk.
  func keep(_ items: [NewOutboxItem], at now: Timestamp) async throws -> [OutboxReceipt] {
    if items.isEmpty { return [] }
    let receipts = try await answered(among: items, await store.enqueue(items, within: machine.settings))
    machine.enqueued(
      receipts, expiring: items.compactMap(\.draft.expiresAt).min(),
      mayReplace: items.contains { $0.draft.replaceKey != nil }, at: self.now())
    follow()
    return receipts.map { OutboxReceipt(item: shown($0.item), isDuplicate: $0.isDuplicate) }
  }

  private func checked(_ draft: OutboxDraft, at now: Timestamp) throws -> NewOutboxItem {
    let url = try checkedURL(of: draft)
    return NewOutboxItem(id: makeID(now), draft: draft, url: url, subject: machine.knownSubject(of: draft.account))
  }

  /// Checks that the account is configured and that the request is valid.
  func checkedURL(of draft: OutboxDraft) throws -> HTTPURL {
    let api = try known(draft.account)
    let url = try draft.checked(maxBody: machine.settings.maxBody)
    if let refusal = Failure.refusing(url.origin, of: draft.account, by: api) { throw refusal }
    return url
  }

  package func get(_ id: String) async throws -> OutboxItem {
    guard let item = try await answered(await store.item(id)) else { throw Failure.unknownItem(id) }
    return shown(item)
  }

  /// Lists items, at most 1,000 per page.
  package func list(_ query: OutboxQuery) async throws -> OutboxPage {
    try check(query)
    let page = try await answered(of: query.account, await store.list(query))
    return OutboxPage(items: page.items.map(shown), cursor: page.cursor)
  }

  func check(_ query: OutboxQuery) throws {
    if let account = query.account { try known(account) }
    guard (1...1000).contains(query.limit) else {
      throw Failure.invalidParams("limit must be between 1 and 1000")
    }
    if let cursor = query.cursor, Int64(cursor) == nil {
      throw Failure.invalidParams(
        "cursor was not returned by an earlier call; omit it to start with the oldest item")
    }
  }

  /// Changes an item. Returns 1, the number of changed items.
  func change(_ id: String, _ change: OutboxChange) async throws -> Int {
    let item = try await answered(item: id, await store.change(id, change))
    if item.subject == nil { madeNobodys(item.account) }
    noteChange(change)
    return 1
  }

  func changeAll(
    _ account: AccountName, in state: OutboxItem.State, _ change: OutboxChange
  ) async throws -> Int {
    try known(account)
    defer {
      madeNobodys(account)
      noteChange(change)
    }
    var (count, place) = (0, Int64?.none)
    while true {
      let changed = try await answered(
        of: account, await store.changeAll(of: account, in: state, change, upTo: place, limit: OutboxMachine.batch))
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

  /// Repeats `step` until it handles fewer than `OutboxMachine.batch` items, which means that no more items are left.
  /// Returns the total number of items.
  private func untilDone(_ step: @autoclosure () async throws -> Int) async throws -> Int {
    var count = 0
    while true {
      let changed = try await step()
      count += changed
      if changed < OutboxMachine.batch { return count }
    }
  }

  /// Pauses or resumes sending for one account, or for all accounts. Pauses survive restarts and sign-ins.
  func setPaused(_ account: AccountName?, _ isPaused: Bool) async throws {
    let chosen = try chosen(account)
    let number = machine.nextPauseNumber()
    try await answered(of: account, await store.setPaused(chosen, isPaused))
    machine.paused(chosen, isPaused, number: number, at: now())
    follow()
  }

  package func getStats(_ account: AccountName?) async throws -> OutboxStats {
    if let account { try known(account) }
    return publisher.shown(try await answered(of: account, await store.stats(of: account)), of: account)
  }

  /// Sends waiting items immediately, except before their `notBefore`. Returns once nothing is left to send now or the
  /// timeout has passed.
  package func flush(_ account: AccountName?, timeout: Duration) async throws -> OutboxStats {
    let chosen = try chosen(account).filter { machine.mayBeSendable($0) }
    for name in chosen {
      _ = try await untilDone(
        await answered(of: account, await store.retryNow(name, limit: OutboxMachine.batch)))
      machine.retryNow(name, at: now())
    }
    follow()
    // Do not wait if the service was stopped in the meantime, because it has already ended the waiting calls.
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

  /// Returns the subjects under which the user may have items. Call this before the session forgets the user.
  package func subjects(of name: AccountName) -> [Subject?] { machine.subjects(of: name) }

  /// Cancels all undelivered items of these subjects, for a sign-out with `outbox: "discard"`. The items are not sent
  /// afterwards. The results of requests in flight are ignored. Returns the number of cancelled items.
  @discardableResult
  package func purge(_ name: AccountName, of subjects: [Subject?]) async throws -> Int {
    try known(name)
    if subjects.isEmpty { return 0 }
    machine.discarding(name, at: now())
    defer {
      machine.discarded(name, at: now())
      follow()
    }
    follow()
    var count = 0
    for subject in subjects {
      count += try await untilDone(
        await answered(of: name, await store.purge(name, of: subject, limit: OutboxMachine.batch)))
    }
    return count
  }

  /// Records that the account's user has signed out, if the user had no name. Returns once the sign-out is on disk. If
  /// the store fails, returns immediately and records the sign-out later.
  package func left(_ name: AccountName) async {
    machine.left(name)
    while let work = machine.leaving(name) {
      do { try await carryOut(work) } catch { return noteFailure(error) }
    }
    follow()
  }

  @discardableResult
  private func known(_ account: AccountName) throws -> APISettings {
    guard let api = access[account] else { throw Failure.unknownAccount(account) }
    return api
  }

  private func chosen(_ account: AccountName?) throws -> Set<AccountName> {
    guard let account else { return machine.names }
    try known(account)
    return [account]
  }

  /// Returns an item as clients see it. If the item's origin is unreachable, `nextAttemptAt` is no earlier than the
  /// next attempt to reach the origin.
  private func shown(_ item: OutboxItem) -> OutboxItem {
    let now = now()
    guard item.state == .waiting, let nextAttemptAt = item.nextAttemptAt, let url = try? HTTPURL(item.url),
      let until = machine.probeTime(of: item.account, url.origin, at: now)
    else { return item }
    var item = item
    item.nextAttemptAt = max(nextAttemptAt, until)
    return item
  }

  /// Runs a store call. Records a store failure and rethrows it as a `Failure`, with the account or item if known.
  func answered<Value>(
    of account: AccountName? = nil, item id: String = "", among items: [NewOutboxItem] = [],
    _ call: @autoclosure () async throws(OutboxStoreFailure) -> Value
  ) async throws -> Value {
    do { return try await call() } catch {
      noteFailure(error)
      let first = items.first?.draft.account
      let account = items.allSatisfy { $0.draft.account == first } ? account ?? first : nil
      switch error {
      case .full: throw Failure(.outboxFull, "The outbox is full, so nothing was accepted.", account: account)
      case .keyConflict(let place):
        throw Failure(
          .idempotencyConflict, "Another item with different content has this idempotency key.",
          account: items[place].draft.account, item: place)
      case .unknownItem: throw Failure.unknownItem(id)
      case .invalidState: throw Failure(.invalidItemState, error.description, account: account)
      case .unavailable(let message), .broken(let message):
        let outcome = items.isEmpty ? "" : "Nothing was accepted: "
        throw Failure(.storageUnavailable, outcome + message, account: account)
      }
    }
  }

  private func noteFailure(_ failure: OutboxStoreFailure) {
    storeFailures.callFailed(failure)
    guard case .broken = failure else { return }
    noteDamage()
    follow()
  }
}

extension Failure {
  fileprivate static func unknownItem(_ id: String) -> Failure {
    Failure(.unknownItem, "There is no item \(id.quotedName) in the outbox.")
  }
}
