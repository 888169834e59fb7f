import HTTPTypes
import TestSupport
import Testing

@testable import hearth_sandbox

@Suite struct FaultTests {
  @Test("a fault with a status answers it so many times without effect, then the truth is back")
  func status() async throws {
    try await Harness.run { sandbox in
      let token = try await sandbox.grant().accessToken
      _ = try await sandbox.call(.post, "/__fault", body: #"{"path":"/api","status":503,"times":2}"#)
      #expect(try await sandbox.call(.post, "/api/a", bearer: token).status == 503)
      #expect(try await sandbox.call(.post, "/api/a", bearer: token).status == 503)
      #expect(sandbox.effects.isEmpty)
      #expect(try await sandbox.call(.post, "/api/a", bearer: token).status == 200)
      #expect(sandbox.effects.count == 1)
    }
  }

  @Test("a dropped request takes effect, and its connection closes without an answer")
  func drop() async throws {
    try await Harness.run { sandbox in
      let token = try await sandbox.grant().accessToken
      _ = try await sandbox.call(.post, "/__fault", body: #"{"path":"/api","drop":true,"times":1}"#)
      await #expect(throws: (any Error).self) {
        try await sandbox.call(.post, "/api/a", bearer: token, headers: [.idempotencyKey: "k"], body: "x")
      }
      #expect(sandbox.effects.map(\.key) == ["k"])
    }
  }

  @Test("a dropped refresh has rotated the token all the same")
  func dropRefresh() async throws {
    try await Harness.run(["--grace", "0"]) { sandbox in
      let grant = try await sandbox.grant()
      _ = try await sandbox.call(.post, "/__fault", body: #"{"path":"/token","drop":true,"times":1}"#)
      await #expect(throws: (any Error).self) { try await sandbox.refresh(grant.refreshToken) }
      #expect(sandbox.statistics.tokenOutcomes == ["success": 1])
      #expect(sandbox.statistics.refreshes == ["2482": 1])
    }
  }

  @Test("handle says whether a request takes effect, whatever is answered")
  func handle() async throws {
    try await Harness.run { sandbox in
      let token = try await sandbox.grant().accessToken
      _ = try await sandbox.call(
        .post, "/__fault", body: #"{"path":"/api","status":502,"handle":true,"times":1}"#)
      #expect(try await sandbox.call(.post, "/api/a", bearer: token, body: "x").status == 502)
      #expect(sandbox.effects.count == 1)
      #expect(Fault(path: "/", drop: true, handle: false).takesEffect == false)
    }
  }

  @Test("only the true answer, a drop, a mere delay and a mere hold take effect by themselves")
  func takesEffect() {
    #expect(Fault(path: "/", delay: 1).takesEffect)
    #expect(Fault(path: "/", hold: true).takesEffect)
    #expect(Fault(path: "/", drop: true).takesEffect)
    #expect(Fault(path: "/", headers: ["Retry-After": "1"]).takesEffect)
    #expect(!Fault(path: "/", hang: true).takesEffect)
    #expect(!Fault(path: "/", status: 500).takesEffect)
    #expect(!Fault(path: "/", redirect: "http://127.0.0.1").takesEffect)
  }

  @Test("body, content type and headers are answered as they were given")
  func body() async throws {
    try await Harness.run { sandbox in
      let fault =
        #"{"path":"/token","status":429,"body":"<p>busy","contentType":"text/html","headers":{"Retry-After":"7"}}"#
      _ = try await sandbox.call(.post, "/__fault", body: fault)
      let answer = try await sandbox.refresh("x")
      #expect(answer.status == 429 && answer.body == "<p>busy")
      #expect(answer.headers[.contentType] == "text/html" && answer.headers[.retryAfter] == "7")
      #expect(sandbox.statistics.tokenOutcomes == ["fault": 1])
    }
  }

  @Test("an echoing fault repeats the secrets that were sent")
  func echo() async throws {
    try await Harness.run { sandbox in
      _ = try await sandbox.call(.post, "/__fault", body: #"{"path":"/","status":400,"echo":true}"#)
      #expect(try await sandbox.refresh("rt_secret").body.contains("refresh_token=rt_secret"))
      #expect(try await sandbox.call(.get, "/api/x", bearer: "at_secret").body.contains("Bearer at_secret"))
      _ = try await sandbox.call(.delete, "/__fault")
      _ = try await sandbox.call(.post, "/__fault", body: #"{"path":"/","status":400,"body":"no: {{sent}}!"}"#)
      #expect(try await sandbox.refresh("rt_secret").body == "no: refresh_token=rt_secret!")
    }
  }

  @Test("a redirect answers 307 with the place")
  func redirect() async throws {
    try await Harness.run { sandbox in
      _ = try await sandbox.call(.post, "/__fault", body: #"{"path":"/api","redirect":"http://127.0.0.1:9/x"}"#)
      let answer = try await sandbox.call(.post, "/api/a", bearer: "x")
      #expect(answer.status == 307 && answer.headers[.location] == "http://127.0.0.1:9/x")
    }
  }

  @Test("a fault is for its path and method alone, and never for the control routes")
  func matching() async throws {
    try await Harness.run { sandbox in
      _ = try await sandbox.call(.post, "/__fault", body: #"{"path":"/","method":"post","status":500}"#)
      let token = try await sandbox.grant().accessToken
      #expect(try await sandbox.call(.post, "/api/a", bearer: token).status == 500)
      #expect(try await sandbox.call(.get, "/api/a", bearer: token).status == 200)
      _ = try await sandbox.call(.delete, "/__fault")
      #expect(try await sandbox.call(.post, "/api/a", bearer: token).status == 200)
    }
  }

  @Test("a fault whose keys mean nothing is refused, and the key is named")
  func unknownKey() async throws {
    try await Harness.run { sandbox in
      let answer = try await sandbox.call(.post, "/__fault", body: #"{"path":"/api","statsu":500}"#)
      #expect(answer.status == 400 && answer.body.contains("statsu"))
      #expect(try await sandbox.call(.post, "/__fault", body: "[]").status == 400)
      let both = try await sandbox.call(.post, "/__fault", body: #"{"path":"/","hold":true,"hang":true}"#)
      #expect(both.status == 400)
      #expect(try await sandbox.call(.post, "/__grant", body: "{}").status == 400)
      #expect(try await sandbox.call(.get, "/__fault").body == #"{"faults":[]}"#)
    }
  }

  @Test("a hung request gets no answer, and its end by the client is noticed")
  func hang() async throws {
    try await Harness.run { sandbox in
      _ = try await sandbox.call(.post, "/__fault", body: #"{"path":"/token","hang":true,"times":1}"#)
      let client = try sandbox.send(.post, "/token")
      while sandbox.statistics.tokenCallsInFlight == 0 { await Task.yield() }
      client.close()
      while sandbox.statistics.tokenCallsInFlight != 0 { await Task.yield() }
      #expect(sandbox.statistics.maxTokenCallsInFlight == 1)
    }
  }

  @Test("held requests are counted, and take effect and are answered once they are released")
  func hold() async throws {
    struct Report: Decodable { let held: Int }
    try await Harness.run { sandbox in
      let token = try await sandbox.grant().accessToken
      try await sandbox.fault(#"{"path":"/api","hold":true}"#)
      async let first = sandbox.call(.post, "/api/a", bearer: token)
      async let second = sandbox.call(.post, "/api/b", bearer: token)
      while sandbox.held < 2 { await Task.yield() }
      #expect(try await sandbox.call(.get, "/__stats").decoded(as: Report.self).held == 2)
      #expect(sandbox.effects.isEmpty)
      #expect(try await sandbox.call(.post, "/__release").body == #"{"released":2}"#)
      #expect(try await first.status == 200)
      #expect(try await second.status == 200)
      #expect(sandbox.held == 0 && Set(sandbox.effects.map(\.path)) == ["/api/a", "/api/b"])
      #expect(try await sandbox.call(.post, "/api/c", bearer: token).status == 200, "the fault is gone")
    }
  }

  @Test("a hold comes before the rest of its fault, for so many requests, and its release leaves other faults")
  func holdWithAnswer() async throws {
    try await Harness.run { sandbox in
      try await sandbox.fault(#"{"path":"/token","hold":true,"status":503,"times":1}"#)
      try await sandbox.fault(#"{"path":"/token","status":502}"#)
      async let held = sandbox.refresh("x")
      while sandbox.held == 0 { await Task.yield() }
      #expect(sandbox.statistics.tokenCallsInFlight == 1)
      #expect(try await sandbox.refresh("x").status == 502, "only one is held")
      _ = try await sandbox.call(.post, "/__release")
      #expect(try await held.status == 503)
      #expect(try await sandbox.refresh("x").status == 502)
    }
  }

  @Test("a held request whose client leaves is forgotten, and takes no effect")
  func abandonedHold() async throws {
    try await Harness.run { sandbox in
      let token = try await sandbox.grant().accessToken
      try await sandbox.fault(#"{"path":"/api","hold":true}"#)
      let client = try sandbox.send(.post, "/api/a", bearer: token)
      while sandbox.held == 0 { await Task.yield() }
      client.close()
      while sandbox.held != 0 { await Task.yield() }
      #expect(try await sandbox.call(.post, "/__release").body == #"{"released":0}"#)
      #expect(sandbox.effects.isEmpty)
    }
  }

  @Test("the connection of a held request closes with the answer, which says so")
  func connectionOfHold() async throws {
    try await Harness.run { sandbox in
      try await sandbox.fault(#"{"path":"/api","hold":true}"#)
      let client = try sandbox.send(.get, "/api/a", bearer: "x")
      while sandbox.held == 0 { await Task.yield() }
      sandbox.sandbox.release()
      let answer = try await onThread { try client.receiveToEnd() }
      #expect(answer.lowercased().contains("connection: close\r\n"))
    }
  }
}
