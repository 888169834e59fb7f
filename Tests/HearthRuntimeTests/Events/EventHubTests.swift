import HearthControl
import HearthCore
import HearthRuntime
import TestSupport
import Testing

@Suite("The event hub")
struct EventHubTests {
  let clock = ManualClock()
  let hub: EventHub
  let peer = RecordingPeer()

  init() {
    hub = EventHub(clock: clock)
  }

  /// Of an item that was tried `number` times.
  private func outboxEvent(_ number: Int, account: String = "work") throws -> OutboxEvent {
    let account = try #require(AccountName(account))
    return .enqueued(
      OutboxItem(
        id: "\(number)", account: account, subject: nil, lane: nil, method: "POST", url: "https://x.example",
        state: .pending, attempts: number, createdAt: clock.now(), idempotencyKey: "k", bytes: 0))
  }

  private func event(_ number: Int, account: String = "work") throws -> Event {
    .outbox(try outboxEvent(number, account: account))
  }

  private func number(_ notification: JSON) -> Int? { notification["params"]?["item"]?["attempts"]?.int }

  private func snapshot(_ name: String, lockedAt: Bool = false) throws -> SessionStatus {
    let account = try #require(AccountName(name))
    var machine = SessionMachine(account: account, settings: SessionSettings(), seed: 1, at: clock.now())
    if lockedAt { _ = machine.handle(.locked(.user), at: clock.now()) }
    return machine.snapshot(at: clock.now())
  }

  @Test("gives a snapshot and its number, and after the answer everything that came since, once and in order")
  func snapshotThenEvents() throws {
    hub.publish(try event(1))
    let (subscription, start) = try hub.subscribe(topics: [.outbox], account: nil, peer: peer)
    #expect(subscription.seq == 1)
    hub.publish(try event(2))
    #expect(peer.sink.sent.isEmpty)
    start()
    hub.publish(try event(3))
    #expect(peer.sink.sent.map(number) == [2, 3])
    #expect(peer.sink.sent.map { $0["params"]?["seq"] } == [2, 3])
    #expect(peer.sink.sent.allSatisfy { $0["params"]?["subscription"]?.string == subscription.id })
  }

  @Test("publishes a session that became another one, with the state before it")
  func publishesChanges() throws {
    hub.update(try snapshot("work"), after: [])
    let (subscription, start) = try hub.subscribe(topics: [.session], account: nil, peer: peer)
    #expect(subscription.sessions.map(\.state) == [.hydrating])
    start()
    hub.update(try snapshot("work"), after: [])
    #expect(peer.sink.sent.isEmpty)
    hub.update(try snapshot("work", lockedAt: true), after: [])
    #expect(peer.sink.sent.count == 1)
    #expect(peer.sink.sent.first?["method"] == "session.changed")
    #expect(peer.sink.sent.first?["params"]?["previous"] == "hydrating")
    #expect(peer.sink.sent.first?["params"]?["session"]?["reason"] == "lockedByUser")
    var refused = try snapshot("work", lockedAt: true)
    refused.signIn = SignInProgress(flow: .browser, expiresAt: clock.now(), message: "It was not used.")
    hub.update(refused, after: [])
    #expect(peer.sink.sent.last?["params"]?["session"]?["signIn"]?["message"] == "It was not used.")
  }

  @Test(
    "publishes a session that was replaced by one that looks the same: by a sign-in, or by another program's grant",
    arguments: [SessionEvent.signedIn(nil), .statusChanged])
  func publishesReplacement(event: SessionEvent) throws {
    hub.update(try snapshot("work"), after: [])
    let (_, start) = try hub.subscribe(topics: [.session], account: nil, peer: peer)
    start()
    hub.update(try snapshot("work"), after: [event])
    #expect(peer.sink.sent.map { $0["method"] } == ["session.changed"])
    hub.update(try snapshot("work", lockedAt: true), after: [event])
    #expect(peer.sink.sent.count == 2, "one change is published once")
  }

  @Test("gives one connection 64 subscriptions, and -32001 for one more, until one ends")
  func limitsSubscriptions() throws {
    var last = ""
    for _ in 0..<64 { last = try hub.subscribe(topics: [.outbox], account: nil, peer: peer).subscription.id }
    let error = #expect(throws: RPCError.self) {
      _ = try hub.subscribe(topics: [.outbox], account: nil, peer: peer)
    }
    #expect(error?.code == -32001)
    _ = try hub.subscribe(topics: [.outbox], account: nil, peer: RecordingPeer(2))
    #expect(hub.unsubscribe(last, of: peer.id))
    _ = try hub.subscribe(topics: [.outbox], account: nil, peer: peer)
  }

  @Test("sends a subscriber only what is of its topics and its account")
  func filters() throws {
    let work = try #require(AccountName("work"))
    let (_, start) = try hub.subscribe(topics: [.outbox], account: work, peer: peer)
    start()
    hub.publish(try event(1, account: "home"))
    hub.publish(try event(2, account: "work"))
    hub.publish(.reloaded)
    #expect(peer.sink.sent.map(number) == [2])
  }

  @Test("writes to a subscriber once for 64 events that happen at once, each of them numbered")
  func writesTogether() throws {
    let (_, start) = try hub.subscribe(topics: [.outbox], account: AccountName("work"), peer: peer)
    start()
    let events = try (1...100).map { try outboxEvent($0, account: $0.isMultiple(of: 10) ? "home" : "work") }
    hub.update((OutboxStats(), [:]), after: events)
    let wanted = (1...100).filter { !$0.isMultiple(of: 10) }
    #expect(peer.sink.sent.map(number) == wanted)
    #expect(peer.sink.sent.map { $0["params"]?["seq"]?.int } == wanted)
    #expect(peer.sink.writes == 2)
  }

  @Test("closes a subscriber that is 256 events behind, and goes on with the others")
  func closesTheLagging() throws {
    let quick = RecordingPeer(2)
    let (_, start) = try hub.subscribe(topics: [.outbox], account: nil, peer: peer)
    let (_, startQuick) = try hub.subscribe(topics: [.outbox], account: nil, peer: quick)
    start()
    startQuick()
    peer.sink.stall()
    for number in 1...300 { hub.publish(try event(number)) }
    #expect(peer.sink.sent.count == EventHub.backlog + 1)
    #expect(peer.sink.sent.last?["method"] == "events.closed")
    #expect(peer.sink.sent.last?["params"]?["reason"] == "lagged")
    #expect(quick.sink.sent.count == 300)
  }

  @Test("closes one that stalls among events that happen at once")
  func closesTheLaggingAtOnce() throws {
    let (_, start) = try hub.subscribe(topics: [.outbox], account: nil, peer: peer)
    start()
    peer.sink.stall()
    hub.update((OutboxStats(), [:]), after: try (1...300).map { try outboxEvent($0) })
    #expect(peer.sink.sent.count == EventHub.backlog + 1)
    #expect(peer.sink.sent.last?["method"] == "events.closed")
    #expect(peer.sink.sent.last?["params"]?["seq"]?.int == EventHub.backlog + 1)
  }

  @Test("closes a subscriber that lags before its answer is out, and sends it nothing more")
  func lagsEarly() throws {
    let (_, start) = try hub.subscribe(topics: [.outbox], account: nil, peer: peer)
    for number in 1...(EventHub.earlyBacklog + 50) { hub.publish(try event(number)) }
    start()
    hub.publish(try event(9999))
    #expect(peer.sink.sent.count == EventHub.earlyBacklog + 1)
    #expect(peer.sink.sent.last?["method"] == "events.closed")
  }

  @Test("ends a subscription for the connection that made it, and for no other")
  func unsubscribes() throws {
    let (subscription, start) = try hub.subscribe(topics: [.outbox], account: nil, peer: peer)
    start()
    let id = subscription.id
    #expect(!hub.unsubscribe(id, of: ConnectionID(9)))
    #expect(hub.unsubscribe(id, of: peer.id))
    hub.publish(try event(1))
    #expect(peer.sink.sent.isEmpty)
  }
}
