internal import HearthCore
internal import Logging
internal import Synchronization

/// Publishes the outbox's changes in the order of its commits, together with the counts after each commit.
///
/// The store reports each commit here before it answers the callers, so that a snapshot that a client requests
/// afterwards contains the client's own change. The cost of most commits does not depend on the number of accounts.
final class OutboxPublisher: Sendable {
  fileprivate struct State {
    /// The counts after the last commit, without pauses.
    var counts: [AccountName: OutboxStats] = [:]
    var all = OutboxStats()
    /// The configured accounts, sorted.
    var names: [AccountName] = []
    var pauses: [AccountName: String] = [:]
    /// The reason why the store cannot write, or `nil` if the store works.
    var trouble: String?
    /// What happened when the store last opened the database, as a sentence for the user. For example, a damaged
    /// database may have been replaced. `nil` if nothing happened.
    var notice: String?
    /// The accounts that have gained items to send since the last `takeReady`.
    var ready: [AccountName: OutboxKinds] = [:]
    var published: OutboxOverview = (OutboxStats(), [:])
  }

  private let state = Mutex(State())
  private let subscriber: @Sendable ([OutboxEvent], OutboxOverview) -> Void
  private let log: Logger

  init(_ log: Logger, _ subscriber: @escaping @Sendable ([OutboxEvent], OutboxOverview) -> Void) {
    (self.log, self.subscriber) = (log, subscriber)
  }

  func received(_ commit: OutboxCommit) {
    let events = commit.changes.compactMap { change -> OutboxEvent? in
      switch change {
      case .enqueued(let item): .enqueued(item)
      case .changed(let item): OutboxEvent(item)
      }
    }
    record(events)
    state.withLock { state in
      for (name, kinds) in commit.ready { state.ready[name, default: []].formUnion(kinds) }
      var counts = commit.stats
      if commit.isOfAll {
        for name in state.counts.keys where counts[name] == nil { counts[name] = OutboxStats() }
      }
      guard !events.isEmpty || !counts.isEmpty else { return }
      for (name, stats) in counts { state.count(stats, of: name) }
      publish(events, counts.keys, &state)
    }
  }

  /// Publishes items that were already in their current state. Their counts are already published.
  func found(_ items: [OutboxItem]) {
    let events = items.compactMap(OutboxEvent.init)
    record(events)
    state.withLock { publish(events, [], &$0) }
  }

  func configured(_ names: Set<AccountName>) {
    state.withLock { state in
      state.names = names.sorted()
      state.pauses = state.pauses.filter { names.contains($0.key) }
      publish([], state.names, &state)
    }
  }

  func changed(_ pauses: [OutboxPauseChange]) {
    for pause in pauses {
      let events: [OutboxEvent] =
        switch pause.event {
        case .paused(let reason): [.paused(pause.account, reason: reason)]
        case .resumed(let reason): [.resumed(pause.account, reason: reason)]
        case nil: []
        }
      record(events)
      state.withLock { state in
        state.pauses[pause.account] = pause.reason
        publish(events, [pause.account], &state)
      }
    }
  }

  /// Publishes the reason why the store cannot write. `nil` means that the store works again.
  func troubled(by sentence: String?) { change(\.trouble, to: sentence) }

  /// Publishes what happened when the store opened the database, or clears that notice.
  func noticed(_ sentence: String?) { change(\.notice, to: sentence) }

  private func change(_ place: WritableKeyPath<State, String?>, to sentence: String?) {
    state.withLock { state in
      guard state[keyPath: place] != sentence else { return }
      state[keyPath: place] = sentence
      publish([], state.names, &state)
    }
  }

  /// Returns the accounts that have gained items to send since the last call.
  func takeReady() -> [AccountName: OutboxKinds] {
    state.withLock { state in
      defer { state.ready = [:] }
      return state.ready
    }
  }

  /// Adds the published pauses and store problems to the counts of one account, or of all accounts if `account` is
  /// `nil`.
  func shown(_ stats: OutboxStats, of account: AccountName?) -> OutboxStats {
    state.withLock { $0.shown(stats, of: account) }
  }

  private func record(_ events: [OutboxEvent]) {
    for event in events { log.record(.outbox(event)) }
  }

  /// Publishes events and counts. Does nothing if there are no events and the counts have not changed.
  private func publish(_ events: [OutboxEvent], _ names: some Collection<AccountName>, _ state: inout State) {
    var overview: OutboxOverview = (state.shown(state.all), [:])
    for name in names {
      let stats = state.shown(state.counts[name] ?? OutboxStats(), of: name)
      if state.published.accounts.updateValue(stats, forKey: name) != stats { overview.accounts[name] = stats }
    }
    guard !events.isEmpty || !overview.accounts.isEmpty || overview.all != state.published.all else { return }
    state.published.all = overview.all
    subscriber(events, overview)
  }
}

extension OutboxPublisher.State {
  fileprivate mutating func count(_ stats: OutboxStats, of name: AccountName) {
    let old = counts.updateValue(stats, forKey: name) ?? OutboxStats()
    let isOldest = old.oldestPendingAt != nil && old.oldestPendingAt == all.oldestPendingAt
    all = all.replacing(old, by: stats)
    if isOldest { all.oldestPendingAt = counts.values.compactMap(\.oldestPendingAt).min() }
  }

  fileprivate func shown(_ stats: OutboxStats, of name: AccountName? = nil) -> OutboxStats {
    var stats = stats
    if let name {
      stats.pausedReason = pauses[name]
    } else if pauses.count == names.count {
      stats.pausedReason = names.first.flatMap { pauses[$0] }
    }
    stats.isPaused = stats.pausedReason != nil
    stats.trouble = trouble.map { "\($0) Hearth sends nothing until it can write to the outbox." } ?? notice
    return stats
  }
}
