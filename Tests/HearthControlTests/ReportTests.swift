import HearthControl
import Testing

@Suite struct ReportTests {
  /// The contract's example, in its order.
  private let example = """
    {"account":"work","subject":"2482","issuer":"https://id.example.com","state":"authenticated","reason":null,\
    "message":"Signed in.","action":null,"route":"main","since":"2026-11-21T10:00:00.000Z",\
    "token":{"expiresAt":"2026-11-21T11:00:00.000Z","remainingSeconds":3200,"lifetimeSeconds":3600,\
    "refreshAt":"2026-11-21T10:55:00.000Z","refreshExpiresAt":null,"health":"fresh","fingerprint":"9f86d081"},\
    "refresh":{"inFlight":false,"failures":0,"lastAt":"2026-11-21T10:00:00.000Z","lastResult":"success",\
    "nextAttemptAt":"2026-11-21T10:55:00.000Z","lastError":null},\
    "credential":{"readable":true,"pendingWrite":false,"error":null},\
    "signIn":null}
    """

  @Test("a session's status is written as the contract shows it, nulls included")
  func sessionStatus() throws {
    let report = try #require(SessionStatusReport(json: try JSON(parsing: example)))
    #expect(report.json.description == example)
    #expect(report.token?.remainingSeconds == 3200)
    #expect(report.signIn == nil)
  }

  @Test("a status without a token, with a sign-in under way, reads back the same")
  func sparseStatus() throws {
    let report = SessionStatusReport(
      account: "work", state: "unauthenticated", reason: "neverSignedIn", message: "m", action: "signIn",
      route: "onboarding", since: "s", credential: .init(readable: true, error: "e"),
      signIn: .init(flow: "device", expiresAt: "x"))
    #expect(SessionStatusReport(json: report.json) == report)
    #expect(report.json["token"] == .null)
  }

  @Test("a status that lacks a field is refused, one with more is read")
  func strictness() throws {
    guard var object = try JSON(parsing: example).object else { return }
    object["later"] = 1
    #expect(SessionStatusReport(json: .object(object)) != nil)
    for name in ["account", "state", "message", "route", "since", "refresh", "credential"] {
      var cut = object
      cut[name] = nil
      #expect(SessionStatusReport(json: .object(cut)) == nil)
    }
  }

  @Test("an item and the counts read back the same, with the contract's fields")
  func outbox() {
    let item = OutboxItemReport(
      id: "1", account: "work", subject: nil, lane: "default", method: "POST", url: "u", state: "waiting", reason: nil,
      attempts: 2, createdAt: "c", nextAttemptAt: "n", lastStatus: 503, lastError: nil, idempotencyKey: "k", bytes: 9)
    #expect(OutboxItemReport(json: item.json) == item)
    #expect(
      item.json.object?.members.map(\.key) == [
        "id", "account", "subject", "lane", "method", "url", "state", "reason", "attempts", "createdAt",
        "nextAttemptAt", "lastStatus", "lastError", "idempotencyKey", "bytes",
      ])
    let stats = OutboxStatsReport(pending: 1, dead: 2, bytes: 3, paused: true, pausedReason: "user")
    #expect(OutboxStatsReport(json: stats.json) == stats)
    #expect(
      stats.json.object?.members.map(\.key) == [
        "pending", "inFlight", "waiting", "held", "delivered", "dead", "bytes", "oldestPendingAt", "paused",
        "pausedReason",
      ])
  }
}
