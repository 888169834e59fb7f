import HearthCore
import HearthHashing
import NIOHTTP1
import Synchronization
import TestSupport
import Testing

@testable import HearthOAuth

@Suite("Requests to APIs")
struct HTTPAPIEndpointTests {
  private let clock = ManualClock()
  private let account = AccountName.sample
  private let bearer = Token(hashing: Secret("the-access-token"))

  private func exchange(_ request: APIRequest) async throws -> APIResponse {
    try await withSender(.kept, clock: clock) { sender in
      try await HTTPAPIEndpoint(sender: sender).exchange(
        request, of: account, bearer: bearer, timeout: .seconds(30))
    }
  }

  private func request(
    _ method: String, _ url: HTTPURL, headers: [(String, String)] = [], body: String = "", key: String? = nil
  ) -> APIRequest {
    APIRequest(
      method: method, url: url, headers: headers.map { APIRequest.Header(name: $0.0, value: $0.1) },
      body: Array(body.utf8), idempotencyKey: key)
  }

  @Test("a request carries the caller's headers, the bearer token, the idempotency key and the agent's name")
  func headers() async throws {
    try await LoopbackServer.with({ _ in .answer(201) }) { server in
      let headers = [("Content-Type", "text/plain"), ("X-A", "1"), ("X-A", "2")]
      let answer = try await exchange(request("PATCH", server.url("/n?q=1"), headers: headers, body: "hi", key: "k-1"))
      #expect(answer.status == 201)
      let sent = try #require(server.requests.first)
      #expect(sent.method == "PATCH")
      #expect(sent.target == "/n?q=1")
      #expect(sent.body == "hi")
      #expect(sent.headers["Authorization"] == ["Bearer the-access-token"])
      #expect(sent.headers["Idempotency-Key"] == ["k-1"])
      #expect(sent.headers["User-Agent"] == ["hearth/test"])
      #expect(sent.headers["X-A"] == ["1", "2"])
      #expect(sent.headers["Content-Length"] == ["2"])
    }
  }

  @Test("headers that Hearth sets itself are not the caller's to set")
  func ownHeaders() async throws {
    try await LoopbackServer.with({ _ in .answer(200) }) { server in
      let headers = [
        ("authorization", "Bearer mine"), ("Host", "elsewhere"), ("Content-Length", "99"),
        ("Transfer-Encoding", "chunked"), ("connection", "close"), ("Idempotency-Key", "mine"), ("X", "y"),
      ]
      _ = try await exchange(request("POST", server.url(), headers: headers, body: "hi"))
      let sent = try #require(server.requests.first)
      #expect(sent.headers["Authorization"] == ["Bearer the-access-token"])
      #expect(sent.headers["Host"] == ["127.0.0.1:\(server.port)"])
      #expect(!sent.headers.contains(name: "Idempotency-Key"))
      #expect(!sent.headers.contains(name: "Transfer-Encoding"))
      #expect(sent.headers["X"] == ["y"])
      #expect(sent.body == "hi")
    }
  }

  @Test("an answer comes with its status, headers, body, Retry-After and skew")
  func answer() async throws {
    let headers = [("Retry-After", "7"), ("Date", "Sat, 21 Nov 2026 10:01:00 GMT"), ("X-B", "c")]
    try await LoopbackServer.with({ _ in .answer(503, headers: headers, body: "later") }) { server in
      let answer = try await exchange(request("GET", server.url()))
      #expect(answer.status == 503)
      #expect(answer.body == Array("later".utf8))
      #expect(!answer.isTruncated)
      #expect(answer.retryAfter == .seconds(7))
      #expect(answer.skew == .seconds(60))
      #expect(answer.headers.contains(APIRequest.Header(name: "X-B", value: "c")))
    }
  }

  @Test("the value of a header has no blanks around it, whoever reads it")
  func blanksAroundValues() async throws {
    let reply =
      "HTTP/1.1 503 X\r\nRetry-After: \t29.7 \t \r\nDate:Sat, 21 Nov 2026 10:01:00 GMT \r\nX-B:\t c d \t\r\n"
      + "X-C: \t \r\nContent-Length: 0\r\n\r\n"
    try await LoopbackServer.with({ _ in .raw(reply) }) { server in
      let answer = try await exchange(request("GET", server.url()))
      #expect(answer.retryAfter == .seconds(30))
      #expect(answer.skew == .seconds(60))
      #expect(answer.headers.contains(APIRequest.Header(name: "X-B", value: "c d")))
      #expect(answer.headers.contains(APIRequest.Header(name: "X-C", value: "")))
    }
  }

  @Test(
    "an answer that breaks off after its head is one with that status, cut",
    arguments: [
      "Content-Length: 100\r\n\r\nhello", "Content-Length: 100\r\n\r\n",
      "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nZZ\r\n",
    ])
  func brokenOff(rest: String) async throws {
    let reply = "HTTP/1.1 503 X\r\nRetry-After: 7\r\n\(rest)"
    try await LoopbackServer.with({ _ in .raw(reply) }) { server in
      let answer = try await exchange(request("POST", server.url(), body: "hi"))
      #expect(answer.status == 503)
      #expect(answer.retryAfter == .seconds(7))
      #expect(answer.isTruncated)
      // What comes in one piece with the fault may be lost.
      #expect("hello".utf8.starts(with: answer.body))
    }
  }

  @Test(
    "the body of an answer whose status says enough is waited for a second and no longer", arguments: [201, 400, 422])
  func slowBody(_ status: Int) async throws {
    let reply = LoopbackServer.Reply.beginning("HTTP/1.1 \(status) X\r\nContent-Length: 100\r\n\r\nhello")
    try await LoopbackServer.with({ _ in reply }) { server in
      try await withSender(.kept, clock: clock) { sender in
        let request = request("POST", server.url(), body: "hi")
        async let answer = HTTPAPIEndpoint(sender: sender).exchange(
          request, of: account, bearer: bearer, timeout: .seconds(30))
        await clock.waitForSleeper(until: clock.now() + .seconds(1))
        clock.advance(by: .seconds(1))
        let ended = try await answer
        #expect(ended.status == status)
        #expect(ended.isTruncated)
      }
    }
  }

  @Test("of such a body 64 KiB are read and no more", arguments: [64 << 10, (64 << 10) + 1], [200, 422])
  func largeBody(bytes: Int, status: Int) async throws {
    let body = String(repeating: "x", count: bytes)
    try await LoopbackServer.with({ _ in .answer(status, body: body) }) { server in
      let answer = try await exchange(request("GET", server.url()))
      #expect(answer.status == status)
      #expect(answer.isTruncated == (bytes > 64 << 10))
      #expect(answer.body.count == 64 << 10)
    }
  }

  @Test("a body that moves arrives, however long it takes; after its last byte the answer has the whole time limit")
  func slowUpload() async throws {
    let listener = try RawServer()
    let body = String(repeating: "x", count: 1 << 20)
    let answered = try await withSender(.kept, clock: clock) { sender in
      async let answer = HTTPAPIEndpoint(sender: sender).exchange(
        request("POST", try HTTPURL(listener.url + "/"), body: body), of: account, bearer: bearer,
        timeout: .seconds(30))
      try await onThread { [clock] in
        let server = try listener.accept()
        server.takesLittle()
        _ = try server.readHead()
        // Each 16 KiB take 2 s: more than the kernel holds of it is on its way within the time limit.
        for _ in 0..<64 {
          #expect(try server.read(16 << 10).count == 16 << 10)
          clock.advance(by: .seconds(2))
        }
        clock.advance(by: .seconds(15))
        try server.send("HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n")
      }
      return try await answer
    }
    #expect(answered.status == 201)
  }

  @Test(
    "a success that comes before the end of the body cuts nothing off",
    arguments: [
      "Content-Length: 2\r\n\r\nok", "Content-Length: 0\r\n\r\n", "Connection: close\r\nContent-Length: 0\r\n\r\n",
    ]
  )
  func earlySuccess(_ rest: String) async throws {
    let listener = try RawServer()
    let body = String(repeating: "x", count: 4 << 20)
    let answered = try await withSender(.kept, clock: clock) { sender in
      async let answer = HTTPAPIEndpoint(sender: sender).exchange(
        request("POST", try HTTPURL(listener.url + "/"), body: body), of: account, bearer: bearer,
        timeout: .seconds(30))
      try await onThread {
        let server = try listener.accept()
        server.takesLittle()
        _ = try server.readHead()
        try server.send("HTTP/1.1 202 Accepted\r\n\(rest)")
        #expect(try server.read(body.utf8.count).count == body.utf8.count)
      }
      return try await answer
    }
    #expect(answered.status == 202 && !answered.isTruncated)
  }

  private final class GivenUp: Sendable {
    let hasCome = Atomic(false)
  }

  @Test("a body that does not move is given up after the time limit, its fate unknown")
  func stuckUpload() async throws {
    let listener = try RawServer()
    let body = String(repeating: "x", count: 4 << 20)
    let end = GivenUp()
    try await withSender(.kept, clock: clock) { sender in
      async let stuck: Void = onThread { [clock] in
        let server = try listener.accept()
        server.takesLittle()
        _ = try server.readHead()
        // What the kernel takes may move for a while; then nothing does.
        while !end.hasCome.load(ordering: .relaxed) { clock.advance(by: .seconds(30)) }
      }
      await #expect {
        _ = try await HTTPAPIEndpoint(sender: sender).exchange(
          request("POST", try HTTPURL(listener.url + "/"), body: body), of: account, bearer: bearer,
          timeout: .seconds(30))
      } throws: { error in
        if case .unanswered = error as? ExchangeFailure { true } else { false }
      }
      end.hasCome.store(true, ordering: .relaxed)
      try await stuck
    }
  }

  @Test("a Date in the answer of a cache, which has an Age, tells nothing of the server's clock")
  func cachedDate() async throws {
    let date = ("Date", "Sat, 21 Nov 2026 09:00:00 GMT")
    let headers = [date, ("Age", "3600"), ("Retry-After", "Sat, 21 Nov 2026 10:00:07 GMT")]
    try await LoopbackServer.with({ _ in .answer(503, headers: headers) }) { server in
      let answer = try await exchange(request("GET", server.url()))
      #expect(answer.skew == nil)
      #expect(answer.retryAfter == .seconds(7), "it is not counted from what the cache has kept")
    }
  }

  @Test("of an answer that is needed whole no more is read than was asked for", arguments: [100_000, 100_001])
  func wholeAnswer(bytes: Int) async throws {
    let body = String(repeating: "x", count: bytes)
    for status in [200, 404] {
      try await LoopbackServer.with({ _ in .answer(status, body: body) }) { server in
        var request = request("GET", server.url())
        request.responseLimit = 100_000
        let answer = try await exchange(request)
        #expect(answer.status == status && answer.isTruncated == (bytes > 100_000))
        #expect(answer.body.count == 100_000)
      }
    }
  }

  @Test("an answer that is needed whole and breaks off is none")
  func wholeBrokenOff() async throws {
    try await LoopbackServer.with({ _ in .raw("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello") }) { server in
      var request = request("GET", server.url())
      request.responseLimit = 100_000
      await #expect {
        _ = try await exchange(request)
      } throws: { error in
        if case .unanswered = error as? ExchangeFailure { true } else { false }
      }
    }
  }

  @Test("without a head there is no answer, however the connection ends")
  func noHead() async throws {
    for reply in [LoopbackServer.Reply.close, .reset, .raw("HTTP/1.1 201 Created\r\nContent-Le")] {
      try await LoopbackServer.with({ _ in reply }) { server in
        do {
          let answer = try await exchange(request("POST", server.url(), body: "hi"))
          Issue.record("\(reply) became \(answer)")
        } catch {
          guard case .unanswered = error as? ExchangeFailure else {
            Issue.record("\(reply) became \(error)")
            return
          }
        }
      }
    }
  }

  @Test("a header that cannot be sent fails without telling the token")
  func badHeader() async throws {
    try await LoopbackServer.with({ _ in .answer(200) }) { server in
      let bearer = Token(hashing: Secret("the-access\u{1}token"))
      await #expect {
        try await withSender(.kept, clock: clock) { sender in
          _ = try await HTTPAPIEndpoint(sender: sender).exchange(
            request("POST", server.url()), of: account, bearer: bearer, timeout: .seconds(30))
        }
      } throws: { error in
        guard let failure = error as? ExchangeFailure, case .notSent(let message) = failure else { return false }
        return !message.contains("access")
      }
      #expect(server.requests.isEmpty)
    }
  }

  @Test("many requests at once each get their own answer")
  func concurrent() async throws {
    try await LoopbackServer.with({ .answer(200, body: $0.target) }) { server in
      try await withSender(.kept, clock: clock) { sender in
        let endpoint = HTTPAPIEndpoint(sender: sender)
        let bodies = try await withThrowingTaskGroup(of: [UInt8].self) { group in
          for number in 0..<100 {
            let request = request("GET", server.url("/\(number)"))
            group.addTask {
              try await endpoint.exchange(
                request, of: account, bearer: bearer, timeout: .seconds(30)
              ).body
            }
          }
          return try await group.reduce(into: Set<[UInt8]>()) { $0.insert($1) }
        }
        #expect(bodies == Set((0..<100).map { Array("/\($0)".utf8) }))
      }
    }
  }
}
