package import HearthControl
package import HearthCore
import Synchronization

/// Sends events to all subscribers in the same order.
///
/// The hub stores the status of each session and the counts of the outbox, so that the snapshot of a new subscription
/// matches its `seq`. The hub never waits for a subscriber. It closes a subscription that lags by `backlog` events, or
/// by `earlyBacklog` events before its response has been sent.
package final class EventHub: Sendable {
  /// The number of unsent events at which a subscription is closed.
  package static let backlog = 256
  /// The number of buffered events at which a subscription is closed if its response has not been sent yet.
  package static let earlyBacklog = 4096
  /// The maximum number of events in one write. It is well below `backlog`, because all events of a write are pending
  /// until the socket has accepted the whole write.
  private static let writtenTogether = 64
  package static let subscriptionsPerConnection = 64

  private struct Subscriber {
    let connection: ConnectionID
    let topics: Set<EventTopic>
    let account: AccountName?
    let sink: any NotificationSink
    /// The events since the snapshot, or `nil` once the response has been sent.
    var early: [NotificationLines]?
    var earlyCount = 0
    /// Whether the subscriber lagged before its response was sent. If so, it receives the events buffered until then
    /// and `events.closed`.
    var isLagging = false

    var isFarBehind: Bool {
      early == nil ? sink.pending >= EventHub.backlog : earlyCount >= EventHub.earlyBacklog
    }

    func takes(_ event: EventNotification) -> Bool {
      topics.contains(event.topic) && (account == nil || event.account == nil || account == event.account)
    }
  }

  private struct State {
    var seq = 0
    var subscriptionCount = 0
    var laggedCount = 0
    var subscribers: [String: Subscriber] = [:]
    var sessions: [AccountName: SessionStatus] = [:]
    var outbox: OutboxOverview = (OutboxStats(), [:])
  }

  private let state = Mutex(State())
  private let clock: any Clock

  package init(clock: any Clock) {
    self.clock = clock
  }

  /// Stores a session's new status and publishes its events.
  package func update(_ status: SessionStatus, after events: [SessionEvent]) {
    let now = clock.now()
    let publications = events.map { $0.publication(status) }
    state.withLock { state in
      let previous = state.sessions.updateValue(status, forKey: status.account)
      var notifications = publications.compactMap(\.notification)
      if let previous, previous.looksDifferent(from: status) || publications.contains(where: \.sendsStatus) {
        let change = SessionChange(session: status, previous: previous.state.name)
        notifications.insert(
          EventNotification(name: .sessionChanged, topic: .session, account: status.account, params: change), at: 0)
      }
      send(notifications, &state, at: now)
    }
  }

  /// Forgets an account that is no longer configured.
  package func remove(_ account: AccountName) {
    state.withLock { $0.sessions[account] = nil }
  }

  /// Stores the outbox's totals and the counts that have changed, and publishes its events.
  package func update(_ overview: OutboxOverview, after events: [OutboxEvent]) {
    let now = clock.now()
    state.withLock { state in
      state.outbox.all = overview.all
      state.outbox.accounts.merge(overview.accounts) { $1 }
      send(events.compactMap(\.publication.notification), &state, at: now)
    }
  }

  package func publish(_ event: Event) {
    let now = clock.now()
    guard let notification = event.publication.notification else { return }
    state.withLock { send([notification], &$0, at: now) }
  }

  /// Sends events. Each event is encoded only once, so that additional subscribers cost little. Events for the same
  /// subscriber share a write, because writes are the main cost of a subscriber that does not read.
  private func send(_ events: [EventNotification], _ state: inout State, at now: Timestamp) {
    let first = state.seq + 1
    state.seq += events.count
    guard !state.subscribers.isEmpty else { return }
    let time = now.description
    func shared(_ name: EventName, _ details: some WireValue, seq: Int) -> SharedNotification {
      var params: JSONObject = ["seq": JSON(seq), "time": .string(time)]
      for member in details.json(at: now).object?.members ?? [] { params[member.key] = member.value }
      return SharedNotification(name, params: params)
    }
    var encoded = [SharedNotification?](repeating: nil, count: events.count)
    for start in stride(from: 0, to: events.count, by: Self.writtenTogether) {
      let part = start..<min(start + Self.writtenTogether, events.count)
      for (id, subscriber) in state.subscribers where !subscriber.isLagging {
        let wanted = part.filter { subscriber.takes(events[$0]) }
        guard let next = wanted.first else { continue }
        guard !subscriber.isFarBehind else {
          let end = shared(.eventsClosed, SubscriptionEnd(reason: .lagged), seq: first + next)
          send(NotificationLines([end], for: id), to: id, &state)
          close(id, &state)
          continue
        }
        let notifications = wanted.map { index in
          let notification = encoded[index] ?? shared(events[index].name, events[index].params, seq: first + index)
          encoded[index] = notification
          return notification
        }
        send(NotificationLines(notifications, for: id), to: id, &state)
      }
    }
  }

  private func send(_ lines: NotificationLines, to id: String, _ state: inout State) {
    guard state.subscribers[id]?.early != nil else {
      state.subscribers[id]?.sink.send(lines)
      return
    }
    state.subscribers[id]?.early?.append(lines)
    state.subscribers[id]?.earlyCount += lines.count
  }

  private func close(_ id: String, _ state: inout State) {
    state.laggedCount += 1
    if state.subscribers[id]?.early == nil {
      state.subscribers[id] = nil
    } else {
      state.subscribers[id]?.isLagging = true
    }
  }

  struct Snapshot {
    /// The sessions, sorted by account like the entries of `outbox`.
    let sessions: [SessionStatus]
    let outbox: [(account: AccountName, stats: OutboxStats)]
    let subscriptions: Int
    /// The number of subscriptions that were closed because they lagged.
    let lagged: Int
  }

  var snapshot: Snapshot {
    state.withLock { state in
      Snapshot(
        sessions: state.sessions.values.sorted { $0.account < $1.account },
        outbox: state.outbox.accounts.sorted { $0.key < $1.key }.map { ($0.key, $0.value) },
        subscriptions: state.subscribers.values.count { !$0.isLagging }, lagged: state.laggedCount)
    }
  }

  /// Starts a subscription. Returns its snapshot and a function to call immediately after the response has been sent.
  /// Throws `overloaded` if the connection has too many subscriptions.
  package func subscribe(
    topics: Set<EventTopic>, account: AccountName?, peer: any ControlPeer
  ) throws -> (subscription: Subscription, start: @Sendable () -> Void) {
    let sink = peer.openSink()
    return try state.withLock { state in
      guard state.subscribers.values.count(where: { $0.connection == peer.id }) < Self.subscriptionsPerConnection else {
        throw RPCError.overloaded("A connection can have at most \(Self.subscriptionsPerConnection) subscriptions.")
      }
      state.subscriptionCount += 1
      let id = "\(state.subscriptionCount)"
      state.subscribers[id] = Subscriber(
        connection: peer.id, topics: topics, account: account, sink: sink, early: [])
      let subscription = Subscription(
        id: id, seq: state.seq,
        sessions: state.sessions.values.filter { account == nil || $0.account == account }
          .sorted { $0.account < $1.account },
        outbox: account.map { state.outbox.accounts[$0] ?? OutboxStats() } ?? state.outbox.all)
      return (subscription, { [self] in self.start(id) })
    }
  }

  private func start(_ id: String) {
    state.withLock { state in
      guard let subscriber = state.subscribers[id], let early = subscriber.early else { return }
      early.forEach(subscriber.sink.send)
      state.subscribers[id]?.early = nil
      if subscriber.isLagging { state.subscribers[id] = nil }
    }
  }

  /// Ends a subscription. Returns false if the subscription does not belong to the connection.
  package func unsubscribe(_ id: String, of connection: ConnectionID) -> Bool {
    state.withLock { state in
      guard state.subscribers[id]?.connection == connection else { return false }
      state.subscribers[id] = nil
      return true
    }
  }

  package func connectionClosed(_ connection: ConnectionID) {
    state.withLock { state in
      state.subscribers = state.subscribers.filter { $0.value.connection != connection }
    }
  }
}

extension SessionStatus {
  /// Returns whether the difference is worth a `session.changed` notification.
  fileprivate func looksDifferent(from other: SessionStatus) -> Bool {
    (state, subject, action, isReadable, isWritePending, signIn?.message)
      != (other.state, other.subject, other.action, other.isReadable, other.isWritePending, other.signIn?.message)
  }
}
