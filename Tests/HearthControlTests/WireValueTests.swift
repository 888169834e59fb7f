import HearthControl
import HearthCore
import Testing

@Suite struct WireValueTests {
  private let now = Timestamp(rfc3339: "2026-11-21T10:06:40Z")!

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

  private func account() throws -> AccountName { try #require(AccountName("work")) }

  /// The example as the daemon has it.
  private func status() throws -> SessionStatus {
    let since = try #require(Timestamp(rfc3339: "2026-11-21T10:00:00Z"))
    let due = since + .seconds(3300)
    var status = SessionStatus(
      account: try account(), state: .authenticated, message: "Signed in.", since: since, isReadable: true)
    status.subject = Subject(issuer: "https://id.example.com", id: "2482")
    var token = SessionStatus.TokenLife(
      try #require(Fingerprint("9f86d081")), health: .fresh, remaining: nil)
    (token.reportedHealth, token.expiresAt, token.lifetime) = (nil, since + .seconds(3600), .seconds(3600))
    (token.refreshAt, token.expiringFrom) = (due, due)
    (status.token, status.nextAttemptAt) = (token, due)
    (status.history.lastAt, status.history.lastOutcome) = (since, .success)
    return status
  }

  @Test("a session's status is written as the contract shows it, nulls included")
  func sessionStatus() throws {
    #expect(try status().json(at: now).description == example)
  }

  @Test("a status says the configured user name if there is one")
  func username() throws {
    var status = try status()
    status.username = "ada-work"
    let json = status.json(at: now)
    #expect(json["username"] == "ada-work" && SessionStatus(json: json)?.username == "ada-work")
    #expect(SessionStatus(json: try self.status().json(at: now))?.username == nil)
  }

  @Test("a token's health and what is left of it are those of the time of the answer")
  func health() throws {
    let expected = [(3299, "fresh", 301), (3300, "expiring", 300), (3600, "expired", 0), (3601, "expired", 0)]
    for (after, health, remaining) in expected {
      let status = try status()
      let token = status.json(at: status.since + .seconds(after))["token"]
      #expect(token?["health"]?.string == health)
      #expect(token?["remainingSeconds"]?.int == remaining)
    }
  }

  @Test("a client keeps what it was told of a token, whatever time it is there")
  func keepsWhatWasTold() throws {
    let read = try #require(SessionStatus(json: try JSON(parsing: example)))
    let later = now + .seconds(86_400)
    #expect(read.token?.health(at: later) == .fresh)
    #expect(read.token?.remaining(at: later) == .seconds(3200))
    #expect(read.json(at: later).description == example)
    #expect(read.subject == Subject(issuer: "https://id.example.com", id: "2482"))
    #expect(read.history.lastOutcome == .success)
  }

  @Test("a status without a token reads back the same, in every state and for every reason")
  func states() throws {
    let states: [SessionState] =
      [.hydrating, .authenticated, .unauthenticated(signedOut: false), .unauthenticated(signedOut: true)]
      + Lock.allCases.map { .locked(.explicit($0)) }
      + AccessFailure.Kind.allCases.map { .locked(.accessFailure(AccessFailure($0, detail: "why"))) }
      + EndReason.allCases.map { .reauthRequired($0) }
    for state in states {
      var status = SessionStatus(account: try account(), state: state, message: "m", since: now, isReadable: false)
      (status.issuer, status.action) = ("https://id.example.com", state.action)
      status.credentialError = "why"
      #expect(SessionStatus(json: status.json(at: now)) == status)
      #expect(status.json(at: now)["token"] == .null)
      #expect(status.json(at: now)["issuer"] == "https://id.example.com")
    }
  }

  @Test("a status that lacks a field is refused, one with more is read")
  func strictness() throws {
    guard var object = try JSON(parsing: example).object else { return }
    object["later"] = 1
    #expect(SessionStatus(json: .object(object)) != nil)
    for name in ["account", "state", "message", "route", "since", "refresh", "credential"] {
      var cut = object
      cut[name] = nil
      #expect(SessionStatus(json: .object(cut)) == nil)
    }
  }

  @Test(
    "a status with a word that this version does not know is refused",
    arguments: ["state", "reason", "action", "route", "token", "since", "account"])
  func unknownWords(name: String) throws {
    var object = try #require(try JSON(parsing: example).object)
    object[name] = "unheard-of!"
    #expect(SessionStatus(json: .object(object)) == nil)
  }

  @Test("an item and the counts read back the same, with the contract's fields")
  func outbox() throws {
    let item = OutboxItem(
      id: "1", account: try account(), subject: nil, lane: "default", method: "POST", url: "u", state: .held,
      reason: .needsReview, attempts: 2, createdAt: now, nextAttemptAt: now + .seconds(1), lastStatus: 503,
      idempotencyKey: "k", bytes: 9)
    #expect(OutboxItem(json: item.json) == item)
    #expect(
      item.json.object?.members.map(\.key) == [
        "id", "account", "subject", "lane", "method", "url", "state", "reason", "attempts", "createdAt",
        "nextAttemptAt", "lastStatus", "lastError", "idempotencyKey", "bytes",
      ])
    var stats = OutboxStats()
    (stats.pending, stats.dead, stats.bytes, stats.isPaused, stats.pausedReason) = (1, 2, 3, true, "user")
    stats.oldestPendingAt = now
    #expect(OutboxStats(json: stats.json) == stats)
    #expect(
      stats.json.object?.members.map(\.key) == [
        "pending", "inFlight", "waiting", "held", "delivered", "dead", "bytes", "oldestPendingAt", "paused",
        "pausedReason",
      ])
  }

  @Test("an item in a state that this version does not know is refused", arguments: ["state", "reason", "createdAt"])
  func unknownItem(name: String) throws {
    let item = OutboxItem(
      id: "1", account: try account(), subject: nil, lane: nil, method: "POST", url: "u", state: .pending,
      createdAt: now, idempotencyKey: "k", bytes: 9)
    var object = try #require(item.json.object)
    object[name] = "unheard-of"
    #expect(OutboxItem(json: .object(object)) == nil)
  }
}
