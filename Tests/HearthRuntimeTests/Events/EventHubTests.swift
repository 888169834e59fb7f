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

  private func news(_ number: Int, account: String? = nil) -> EventHub.News {
    EventHub.News(
      .outboxEnqueued, topic: .outbox, account: account.flatMap { AccountName($0) }, params: ["number": JSON(number)])
  }

  private func snapshot(_ name: String, lockedAt: Bool = false) throws -> SessionStatus {
    let account = try #require(AccountName(name))
    var machine = SessionMachine(account: account, settings: SessionSettings(), seed: 1, at: clock.now())
    if lockedAt { _ = machine.handle(.locked(.user), at: clock.now()) }
    return machine.snapshot(at: clock.now())
  }

  @Test("gives a snapshot and its number, and after the answer everything that came since, once and in order")
  func snapshotThenEvents() throws {
    hub.publish(news(1))
    let (answer, start) = try hub.subscribe(topics: [.outbox], account: nil, peer: peer)
    #expect(answer["seq"] == 1)
    hub.publish(news(2))
    #expect(peer.sink.sent.isEmpty)
    start()
    hub.publish(news(3))
    #expect(peer.sink.sent.map { $0["params"]?["number"] } == [2, 3])
    #expect(peer.sink.sent.map { $0["params"]?["seq"] } == [2, 3])
    #expect(peer.sink.sent.allSatisfy { $0["params"]?["subscription"] == answer["subscription"] })
  }

  @Test("tells a session that became another one, with the state before it")
  func tellsChanges() throws {
    hub.sessionIs(try snapshot("work"), issuer: nil, news: [])
    let (answer, start) = try hub.subscribe(topics: [.session], account: nil, peer: peer)
    #expect(answer["snapshot"]?["sessions"]?[0]?["state"] == "hydrating")
    start()
    hub.sessionIs(try snapshot("work"), issuer: nil, news: [])
    #expect(peer.sink.sent.isEmpty)
    hub.sessionIs(try snapshot("work", lockedAt: true), issuer: nil, news: [])
    #expect(peer.sink.sent.count == 1)
    #expect(peer.sink.sent.first?["method"] == "session.changed")
    #expect(peer.sink.sent.first?["params"]?["previous"] == "hydrating")
    #expect(peer.sink.sent.first?["params"]?["session"]?["reason"] == "lockedByUser")
  }

  @Test(
    "tells a session that was replaced by one that looks the same: by a sign-in, or by another program's grant",
    arguments: [SessionEvent.signedIn(nil), .statusChanged])
  func tellsReplacement(news: SessionEvent) throws {
    hub.sessionIs(try snapshot("work"), issuer: nil, news: [])
    let (_, start) = try hub.subscribe(topics: [.session], account: nil, peer: peer)
    start()
    hub.sessionIs(try snapshot("work"), issuer: nil, news: [news])
    #expect(peer.sink.sent.map { $0["method"] } == ["session.changed"])
    hub.sessionIs(try snapshot("work", lockedAt: true), issuer: nil, news: [news])
    #expect(peer.sink.sent.count == 2, "one change is told once")
  }

  @Test("gives one connection 64 subscriptions, and -32001 for one more, until one ends")
  func limitsSubscriptions() throws {
    var last: JSON = .null
    for _ in 0..<64 { last = try hub.subscribe(topics: [.outbox], account: nil, peer: peer).answer }
    let error = #expect(throws: RPCError.self) {
      _ = try hub.subscribe(topics: [.outbox], account: nil, peer: peer)
    }
    #expect(error?.code == -32001)
    _ = try hub.subscribe(topics: [.outbox], account: nil, peer: RecordingPeer(2))
    #expect(hub.unsubscribe(try #require(last["subscription"]?.string), of: peer.id))
    _ = try hub.subscribe(topics: [.outbox], account: nil, peer: peer)
  }

  @Test("tells a subscriber only of its topics and its account")
  func filters() throws {
    let work = try #require(AccountName("work"))
    let (_, start) = try hub.subscribe(topics: [.outbox], account: work, peer: peer)
    start()
    hub.publish(news(1, account: "home"))
    hub.publish(news(2, account: "work"))
    hub.publish(EventHub.News(.daemonReloaded, topic: .daemon, account: nil, params: [:]))
    #expect(peer.sink.sent.map { $0["params"]?["number"] } == [2])
  }

  @Test("closes a subscriber that is 256 events behind, and tells the others on")
  func closesTheLagging() throws {
    let quick = RecordingPeer(2)
    let (_, start) = try hub.subscribe(topics: [.outbox], account: nil, peer: peer)
    let (_, startQuick) = try hub.subscribe(topics: [.outbox], account: nil, peer: quick)
    start()
    startQuick()
    peer.sink.stall()
    for number in 1...300 { hub.publish(news(number)) }
    #expect(peer.sink.sent.count == EventHub.backlog + 1)
    #expect(peer.sink.sent.last?["method"] == "events.closed")
    #expect(peer.sink.sent.last?["params"]?["reason"] == "lagged")
    #expect(quick.sink.sent.count == 300)
  }

  @Test("tells a subscriber that lags before its answer is out that it lagged, and nothing more")
  func lagsEarly() throws {
    let (_, start) = try hub.subscribe(topics: [.outbox], account: nil, peer: peer)
    for number in 1...300 { hub.publish(news(number)) }
    start()
    hub.publish(news(301))
    #expect(peer.sink.sent.count == EventHub.backlog + 1)
    #expect(peer.sink.sent.last?["method"] == "events.closed")
  }

  @Test("ends a subscription for the connection that made it, and for no other")
  func unsubscribes() throws {
    let (answer, start) = try hub.subscribe(topics: [.outbox], account: nil, peer: peer)
    start()
    let id = try #require(answer["subscription"]?.string)
    #expect(!hub.unsubscribe(id, of: ConnectionID(9)))
    #expect(hub.unsubscribe(id, of: peer.id))
    hub.publish(news(1))
    #expect(peer.sink.sent.isEmpty)
  }
}
