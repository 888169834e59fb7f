import HearthClient
import HearthControl
import HearthCore
import TestSupport
import Testing

@testable import hearthctl

@Suite struct EventBurstTests {
  private static func reload(_ seq: Int) -> Notification {
    Notification(
      .daemonReloaded,
      params: ["subscription": "1", "seq": JSON(seq), "time": "2026-11-21T10:00:00.000Z"])
  }

  @Test(
    "events that come together are given together, and no more of them than there is time for",
    arguments: [(Duration.seconds(60), [3]), (.zero, [1, 1, 1])])
  func together(most: Duration, expected: [Int]) async throws {
    let subscription = Subscription(id: "1", seq: 0, sessions: [], outbox: OutboxStats()).json(at: .init(seconds: 0))
    let daemon = FakeDaemon { request in
      request.method == "events.subscribe" ? .events(subscription, (1...3).map(Self.reload)) : .silence
    }
    let counts = try await onThread {
      var client = try ControlClient(path: daemon.path)
      var events = EventFollower(Subscribe(account: nil))
      _ = try events.next(from: &client)
      return try expected.map { _ in try events.burst(from: &client, within: .seconds(60), most: most).count }
    }
    #expect(counts == expected)
  }
}
