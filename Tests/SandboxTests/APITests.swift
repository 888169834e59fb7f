import HTTPTypes
import Testing

@testable import hearth_sandbox

@Suite struct APITests {
  @Test("without a good bearer token the API answers 401 with a challenge, counts it, and nothing takes effect")
  func unauthorized() async throws {
    try await Harness.run { sandbox in
      let without = try await sandbox.call(.post, "/api/orders", body: "x")
      #expect(without.status == 401 && without.headers[.wwwAuthenticate] == #"Bearer realm="hearth-sandbox""#)
      let wrong = try await sandbox.call(.post, "/api/orders", bearer: "at_wrong", body: "x")
      #expect(wrong.status == 401 && wrong.headers[.wwwAuthenticate]?.contains("invalid_token") == true)
      #expect(sandbox.statistics.unauthorized == 2)
      #expect(sandbox.effects.isEmpty)
    }
  }

  @Test("a repeat with the same key gets the first answer and a header, and takes no effect")
  func idempotency() async throws {
    try await Harness.run { sandbox in
      let token = try await sandbox.grant().accessToken
      let first = try await sandbox.call(
        .post, "/api/orders", bearer: token, headers: [.idempotencyKey: "k1"], body: "x")
      _ = try await sandbox.call(.post, "/api/orders", bearer: token, headers: [.idempotencyKey: "k2"], body: "y")
      let again = try await sandbox.call(
        .post, "/api/orders", bearer: token, headers: [.idempotencyKey: "k1"], body: "x")
      #expect(first.status == 200 && first.headers[.idempotencyReplayed] == nil)
      #expect(again.status == 200 && again.body == first.body && again.headers[.idempotencyReplayed] == "true")
      #expect(sandbox.statistics.replays == 1)
      #expect(sandbox.effects.map(\.key) == ["k1", "k2"])
    }
  }

  @Test("a key counts within its subject, and other content under it is a conflict")
  func keys() async throws {
    try await Harness.run { sandbox in
      let one = try await sandbox.grant(#"{"subject":"one"}"#).accessToken
      let two = try await sandbox.grant(#"{"subject":"two"}"#).accessToken
      let key: HTTPFields = [.idempotencyKey: "k"]
      _ = try await sandbox.call(.post, "/api/a", bearer: one, headers: key, body: "x")
      #expect(try await sandbox.call(.post, "/api/a", bearer: two, headers: key, body: "y").status == 200)
      #expect(try await sandbox.call(.post, "/api/a", bearer: one, headers: key, body: "z").status == 422)
      #expect(sandbox.effects.map(\.subject) == ["one", "two"])
      #expect(sandbox.statistics.keyConflicts == 1)
    }
  }

  @Test("effects keep their order and tell method, path, subject, and body or its size and digest")
  func effects() async throws {
    try await Harness.run { sandbox in
      let token = try await sandbox.grant().accessToken
      _ = try await sandbox.call(.put, "/api/a?q=1", bearer: token, body: "short")
      _ = try await sandbox.call(.delete, "/api/b", bearer: token)
      _ = try await sandbox.call(.post, "/api/c", bearer: token, body: String(repeating: "x", count: 257))
      let effects = sandbox.effects
      #expect(effects.map(\.order) == [1, 2, 3])
      #expect(effects.map(\.method) == ["PUT", "DELETE", "POST"])
      #expect(effects.map(\.path) == ["/api/a", "/api/b", "/api/c"])
      #expect(effects.map(\.body) == ["short", "", nil])
      #expect(effects.map(\.bytes) == [5, 0, 257])
      #expect(effects[0].sha256 == "f9b0078b5df596d2ea19010c001bbd009e651de2c57e8fb7e355f31eb9d3f739")
    }
  }

  @Test("reading takes no effect, and whoami tells whose the token is")
  func reading() async throws {
    struct WhoAmI: Decodable { let subject, issuer: String }
    try await Harness.run { sandbox in
      let token = try await sandbox.grant().accessToken
      let whoAmI: WhoAmI = try await sandbox.call(.get, "/api/whoami", bearer: token).decoded()
      #expect(whoAmI.subject == "2482" && whoAmI.issuer == sandbox.sandbox.issuer.url)
      let head = try await sandbox.call(.head, "/api/x", bearer: token)
      #expect(head.status == 200 && head.body.isEmpty)
      #expect(sandbox.effects.isEmpty && sandbox.statistics.apiRequests == 2)
    }
  }

  @Test("statistics are told as JSON and counted anew after DELETE, while used keys stay used")
  func statistics() async throws {
    struct Report: Decodable {
      let apiRequests, replays, unauthorized, tokenCalls, maxTokenCallsInFlight, reuseDetected: Int
      let refreshes: [String: Int]
      let effects: [APILedger.Effect]
    }
    try await Harness.run { sandbox in
      let grant = try await sandbox.grant()
      let key: HTTPFields = [.idempotencyKey: "k"]
      _ = try await sandbox.call(.post, "/api/a", bearer: grant.accessToken, headers: key, body: "x")
      _ = try await sandbox.call(.post, "/api/a", bearer: grant.accessToken, headers: key, body: "x")
      _ = try await sandbox.refresh(grant.refreshToken)
      let before: Report = try await sandbox.call(.get, "/__stats").decoded()
      #expect(before.apiRequests == 2 && before.replays == 1 && before.effects.map(\.key) == ["k"])
      #expect(before.tokenCalls == 1 && before.maxTokenCallsInFlight == 1 && before.refreshes == ["2482": 1])
      _ = try await sandbox.call(.delete, "/__stats")
      let after: Report = try await sandbox.call(.get, "/__stats").decoded()
      #expect(after.apiRequests == 0 && after.effects.isEmpty && after.refreshes.isEmpty)
      _ = try await sandbox.call(.post, "/api/a", bearer: grant.accessToken, headers: key, body: "x")
      #expect(sandbox.statistics.replays == 1 && sandbox.effects.isEmpty)
    }
  }
}
