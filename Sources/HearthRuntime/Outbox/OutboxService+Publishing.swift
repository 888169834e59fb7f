internal import HearthCore
internal import Logging

/// Events, counts and log records.
extension OutboxService {
  /// Publishes that sending paused, resumed, or is paused for another reason. While a session is being read nothing is
  /// published: its state before stands until the next one is known.
  func publishPause(of name: AccountName) {
    guard let account = accounts[name], account.pausedReason != account.publishedPause,
      account.pausedReason != OutboxAccount.hydrating
    else { return publish([]) }
    let previous = account.publishedPause
    accounts[name]?.publishedPause = account.pausedReason
    if let reason = account.pausedReason {
      publishAndRecord(.paused(name, reason: reason))
    } else if let previous {
      publishAndRecord(.resumed(name, reason: previous))
    }
  }

  private func publishAndRecord(_ event: OutboxEvent) {
    EventLog(logger: log).record(.outbox(event))
    publish([event])
  }

  /// Publishes what became of items in one transaction of the store.
  func publish(_ items: [OutboxItem], _ totals: OutboxTotals) {
    warn(of: items)
    publish(items.compactMap(OutboxEvent.init), totals)
  }

  /// After a change of which only the counts are published.
  func publishTotals() async throws(OutboxStoreFailure) {
    let totals = try await store.totals()
    publish([] as [OutboxEvent], totals)
  }

  func warn(of items: [OutboxItem]) {
    for event in items.compactMap(OutboxEvent.init) { EventLog(logger: log).record(.outbox(event)) }
  }

  /// Publishes events in the order of their transactions.
  func publish(_ events: [OutboxEvent], _ totals: OutboxTotals) {
    self.events.add(events, totals)
    while let next = self.events.next() { publish(next) }
  }

  /// Publishes events together with the counts after them; without events only where the counts have changed.
  func publish(_ events: [OutboxEvent]) {
    let totals = self.events.totals.accounts
    let names = Set(accounts.keys).union(totals.keys)
    let overview = OutboxOverview(
      all: shown(totals.values.reduce(OutboxStats()) { $0.adding($1) }),
      accounts: Dictionary(uniqueKeysWithValues: names.map { ($0, shown(totals[$0] ?? OutboxStats(), of: $0)) }))
    guard !events.isEmpty || overview != published else { return }
    published = overview
    subscriber(events, overview)
  }

  /// The counts as they are shown: a claimed item that was not sent yet is pending.
  func shown(_ stats: OutboxStats, of name: AccountName? = nil) -> OutboxStats {
    var stats = stats
    let chosen = accounts.filter { name == nil || $0.key == name }.sorted { $0.key < $1.key }.map(\.value)
    let unsent = min(chosen.reduce(0) { $0 + $1.queue.unsentCount }, stats.inFlight)
    stats.inFlight -= unsent
    stats.pending += unsent
    stats.isPaused = !chosen.isEmpty && chosen.allSatisfy { $0.pausedReason != nil }
    stats.pausedReason = stats.isPaused ? chosen.first?.pausedReason : nil
    return stats
  }

  /// The same for an item. One whose origin cannot be reached is not tried before its origin is.
  func shown(_ item: OutboxItem) -> OutboxItem {
    guard let account = accounts[item.account] else { return item }
    var item = item
    if item.state == .inFlight, account.queue.isUnsent(item.id) { item.state = .pending }
    if item.state == .waiting, let nextAttemptAt = item.nextAttemptAt, let url = try? HTTPURL(item.url),
      case .closed(let until) = account.breaker.allowance(for: url.origin, at: clock.now()), until < .distantFuture
    {
      item.nextAttemptAt = max(nextAttemptAt, until)
    }
    return item
  }

  /// The error for a call that the store failed.
  func callError(_ failure: OutboxStoreFailure) -> OutboxError {
    storeFailures.callFailed(failure)
    return OutboxError(failure)
  }
}
