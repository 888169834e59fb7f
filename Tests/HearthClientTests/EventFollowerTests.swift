import HearthClient
import HearthControl
import HearthCore
import Synchronization
import TestSupport
import Testing

@Suite("Events of HearthClient") struct EventFollowerTests {
  private let folder = TemporaryFolder()
  private static let info = DaemonInfo(pid: 1, startedAt: .init(seconds: 0), paths: []).json

  private static func subscription(_ id: String, _ seq: Int) -> JSON {
    Subscription(id: id, seq: seq, sessions: [], outbox: OutboxStats()).json(at: .init(seconds: 0))
  }

  private static func resumed(_ account: String, _ subscription: String, _ seq: Int) -> Notification {
    Notification(
      .outboxResumed,
      params: [
        "subscription": .string(subscription), "seq": JSON(seq), "time": "2026-11-21T10:00:00.000Z",
        "account": .string(account), "reason": "user",
      ])
  }

  private static func lagged(_ subscription: String, _ seq: Int) -> Notification {
    Notification(
      .eventsClosed,
      params: [
        "subscription": .string(subscription), "seq": JSON(seq), "time": "2026-11-21T10:00:00.000Z",
        "reason": "lagged",
      ])
  }

  /// What a program hears of a daemon that gives these answers to its subscriptions, one after the other.
  private func heard(_ count: Int, _ answers: FakeDaemon.Answer..., account: String? = nil) async throws -> [String] {
    let rest = Mutex(answers)
    let daemon = FakeDaemon(path: folder.file("s")) { request in
      switch request.method {
      case "events.subscribe": rest.withLock { $0.isEmpty ? .silence : $0.removeFirst() }
      case "events.unsubscribe": .result([:])
      default: .result(Self.info)
      }
    }
    let hearth = try await HearthClient.connect(socket: daemon.path)
    var heard: [String] = []
    for await event in hearth.events(of: account) {
      switch event {
      case .snapshot: heard.append("snapshot")
      case .outboxResumed(let account): heard.append(account)
      case .other(let name): heard.append("other \(name)")
      case .unavailable(let failure): heard.append(failure.kind.rawValue)
      default: heard.append("unexpected \(event)")
      }
      if heard.count == count { break }
    }
    return heard
  }

  @Test("a reader that lags is given a snapshot, and goes on from there")
  func lags() async throws {
    let heard = try await heard(
      4, .events(Self.subscription("1", 4), [Self.resumed("a", "1", 5), Self.lagged("1", 6)]),
      .events(Self.subscription("2", 9), [Self.resumed("b", "2", 10)]))
    #expect(heard == ["snapshot", "a", "snapshot", "b"])
  }

  @Test("where a number is missing, a snapshot takes the place of the event after it")
  func gap() async throws {
    let heard = try await heard(
      3, .events(Self.subscription("1", 4), [Self.resumed("a", "1", 6), Self.resumed("c", "1", 7)]),
      .events(Self.subscription("2", 6), [Self.resumed("b", "2", 7)]))
    #expect(heard == ["snapshot", "snapshot", "b"])
  }

  @Test("who asks for one account alone takes no offence at the numbers of others' events")
  func filtered() async throws {
    let heard = try await heard(
      3, .events(Self.subscription("1", 4), [Self.resumed("a", "1", 6), Self.resumed("b", "1", 9)]), account: "work")
    #expect(heard == ["snapshot", "a", "b"])
  }

  @Test("no event is given twice, and none of a subscription that is over")
  func twice() async throws {
    let heard = try await heard(
      3,
      .events(
        Self.subscription("2", 4),
        [Self.resumed("a", "2", 5), Self.resumed("a", "2", 5), Self.resumed("x", "1", 6), Self.resumed("b", "2", 6)]))
    #expect(heard == ["snapshot", "a", "b"])
  }

  @Test("an event of a later version is told by its name")
  func unknown() async throws {
    let later = Notification(method: "session.enchanted", params: ["subscription": "1", "seq": 5])
    #expect(
      try await heard(2, .events(Self.subscription("1", 4), [later])) == ["snapshot", "other session.enchanted"])
  }

  @Test("a connection that ends is told once, and made anew")
  func ends() async throws {
    let heard = try await heard(
      4, .stream(Self.subscription("1", 4), [Self.resumed("a", "1", 5)]), .hangUp, .bytes(Array("?\n".utf8)),
      .events(Self.subscription("1", 0), []))
    #expect(heard == ["snapshot", "a", "disconnected", "snapshot"])
  }
}
