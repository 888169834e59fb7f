package import HearthControl
package import HearthCore
import Synchronization

/// Tells every subscriber what happened, in one order.
///
/// It keeps what clients were last told (sessions, outbox), so that a subscription's snapshot and its `seq` are one
/// moment. Nobody waits for a subscriber: one that is `backlog` events behind is closed.
package final class EventHub: Sendable {
  package enum Topic: String, Sendable, CaseIterable {
    case session, outbox, daemon
  }

  /// One notification before it is numbered and addressed.
  package struct News: Sendable {
    let event: Event
    let topic: Topic
    let account: AccountName?
    let params: JSONObject

    package init(_ event: Event, topic: Topic, account: AccountName?, params: JSONObject) {
      self.event = event
      self.topic = topic
      self.account = account
      self.params = params
    }
  }

  /// Events that a subscriber may be behind.
  package static let backlog = 256
  /// Subscriptions that one connection may hold.
  package static let subscriptionsPerConnection = 64

  private struct Subscriber {
    let connection: ConnectionID
    let topics: Set<Topic>
    let account: AccountName?
    let sink: any NotificationSink
    /// What came between the snapshot and its answer; nil once the answer is on its way.
    var early: [[UInt8]]?
    /// It is told that it lagged, and nothing more.
    var isLeft = false
  }

  private struct State {
    var seq = 0
    var subscriptionCount = 0
    var subscribers: [String: Subscriber] = [:]
    var sessions: [AccountName: SessionStatus] = [:]
    var issuers: [AccountName: String] = [:]
    var outbox = OutboxOverview(all: OutboxStats(), accounts: [:])
  }

  private let state = Mutex(State())
  private let clock: any Clock

  package init(clock: any Clock) {
    self.clock = clock
  }

  /// Takes in a session as it is now, and tells what is new about it.
  package func sessionIs(_ snapshot: SessionStatus, issuer: String?, news: [SessionEvent]) {
    let now = clock.now()
    state.withLock { state in
      let previous = state.sessions.updateValue(snapshot, forKey: snapshot.account)
      state.issuers[snapshot.account] = issuer
      if let previous, previous.visible != snapshot.visible || news.contains(where: \.isAnotherSession) {
        publish(
          News(
            .sessionChanged, topic: .session, account: snapshot.account,
            params: [
              "session": snapshot.report(issuer: issuer, at: now).json, "previous": .string(previous.state.name),
            ]), &state, at: now)
      }
      for event in news {
        guard let news = News(event, account: snapshot.account) else { continue }
        publish(news, &state, at: now)
      }
    }
  }

  /// The account is no longer configured.
  package func sessionIsGone(_ account: AccountName) {
    state.withLock { state in
      state.sessions[account] = nil
      state.issuers[account] = nil
    }
  }

  /// Takes in the outbox as it is now, and tells what is new about it.
  package func outboxIs(_ overview: OutboxOverview, news: [News]) {
    let now = clock.now()
    state.withLock { state in
      state.outbox = overview
      for item in news { publish(item, &state, at: now) }
    }
  }

  package func publish(_ news: News) {
    let now = clock.now()
    state.withLock { publish(news, &$0, at: now) }
  }

  private func publish(_ news: News, _ state: inout State, at now: Timestamp) {
    state.seq += 1
    for (id, subscriber) in state.subscribers {
      guard !subscriber.isLeft, subscriber.topics.contains(news.topic),
        subscriber.account == nil || news.account == nil || subscriber.account == news.account
      else { continue }
      let isLagging = (subscriber.early?.count ?? subscriber.sink.pending) >= Self.backlog
      var params: JSONObject = [
        "subscription": .string(id), "seq": JSON(state.seq), "time": .string(now.description),
      ]
      let said: JSONObject = isLagging ? ["reason": "lagged"] : news.params
      for member in said.members { params[member.key] = member.value }
      let line = Notification(isLagging ? .eventsClosed : news.event, params: params).line
      if subscriber.early == nil {
        subscriber.sink.send(line)
      } else {
        state.subscribers[id]?.early?.append(line)
      }
      guard isLagging else { continue }
      if subscriber.early == nil { state.subscribers[id] = nil } else { state.subscribers[id]?.isLeft = true }
    }
  }

  /// The answer to `events.subscribe`, and what to do right after it has been sent. Throws `overloaded` where the
  /// connection holds too many.
  package func subscribe(
    topics: Set<Topic>, account: AccountName?, peer: any ControlPeer
  ) throws(RPCError) -> (answer: JSON, start: @Sendable () -> Void) {
    let sink = peer.openSink()
    let now = clock.now()
    return try state.withLock { (state) throws(RPCError) in
      guard state.subscribers.values.count(where: { $0.connection == peer.id }) < Self.subscriptionsPerConnection else {
        throw .overloaded("A connection holds \(Self.subscriptionsPerConnection) subscriptions and no more.")
      }
      state.subscriptionCount += 1
      let id = "\(state.subscriptionCount)"
      state.subscribers[id] = Subscriber(
        connection: peer.id, topics: topics, account: account, sink: sink, early: [])
      let sessions = state.sessions.values
        .filter { account == nil || $0.account == account }
        .sorted { $0.account < $1.account }
        .map { $0.report(issuer: state.issuers[$0.account], at: now).json }
      let outbox = account.map { state.outbox.accounts[$0] ?? OutboxStats() } ?? state.outbox.all
      let answer: JSON = [
        "subscription": .string(id), "seq": JSON(state.seq),
        "snapshot": ["sessions": .array(sessions), "outbox": outbox.report.json],
      ]
      return (answer, { [self] in self.start(id) })
    }
  }

  private func start(_ id: String) {
    state.withLock { state in
      guard let subscriber = state.subscribers[id], let early = subscriber.early else { return }
      early.forEach(subscriber.sink.send)
      state.subscribers[id]?.early = nil
      if subscriber.isLeft { state.subscribers[id] = nil }
    }
  }

  /// True where the connection had such a subscription.
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

  /// The sessions as they were last told.
  package func sessions() -> [SessionStatus] {
    state.withLock { $0.sessions.values.sorted { $0.account < $1.account } }
  }
}

extension SessionStatus {
  /// What makes a status another one; the rest moves with the time.
  fileprivate struct Visible: Equatable {
    let state: SessionState
    let subject: Subject?
    let action: SessionState.Action?
    let isReadable: Bool
    let isWritePending: Bool
  }

  fileprivate var visible: Visible {
    Visible(
      state: state, subject: subject, action: action, isReadable: isReadable, isWritePending: isWritePending)
  }
}

extension SessionEvent {
  /// Another grant took the place of the one before, which may look the same from outside.
  fileprivate var isAnotherSession: Bool {
    switch self {
    case .signedIn, .statusChanged: true
    case .changed, .refreshed, .refreshFailed, .expiring, .signedOut, .unauthorized, .credentialUnreadable,
      .credentialReadable, .credentialSetAside, .credentialPendingWrite:
      false
    }
  }
}

extension EventHub.News {
  /// The notification of a session's announcement; nil for what only the journal tells, or `session.changed` says.
  fileprivate init?(_ event: SessionEvent, account: AccountName) {
    let name = JSON.string(account.description)
    switch event {
    case .refreshed(let fingerprint, let previous, let expiresAt):
      self.init(
        .sessionRefreshed, topic: .session, account: account,
        params: [
          "account": name, "expiresAt": JSON(expiresAt?.description), "fingerprint": .string(fingerprint.description),
          "previousFingerprint": .string(previous.description),
        ])
    case .expiring(let at, let final):
      self.init(
        .sessionExpiring, topic: .session, account: account,
        params: ["account": name, "expiresAt": .string(at.description), "final": .bool(final)])
    case .signedOut:
      self.init(.sessionSignedOut, topic: .session, account: account, params: ["account": name])
    case .changed, .refreshFailed, .signedIn, .unauthorized, .credentialUnreadable, .credentialReadable,
      .credentialSetAside, .credentialPendingWrite, .statusChanged:
      return nil
    }
  }
}
