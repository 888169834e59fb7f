import HearthCore
import HearthHashing
import NIOHTTP1
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

  @Test("an answer whose body comes too slowly is one with its status, cut")
  func tooSlow() async throws {
    let reply = LoopbackServer.Reply.beginning("HTTP/1.1 400 No\r\nContent-Length: 100\r\n\r\nhello")
    try await LoopbackServer.with({ _ in reply }) { server in
      let looks = WatchedClock(clock)
      try await withSender(.kept, clock: looks) { sender in
        let request = request("POST", server.url(), body: "hi")
        async let answer = HTTPAPIEndpoint(sender: sender).exchange(
          request, of: account, bearer: bearer, timeout: .seconds(30))
        // Once for the deadline, once for the head of the answer.
        var iterator = looks.looks.makeAsyncIterator()
        for _ in 0..<2 { _ = await iterator.next() }
        await clock.waitForSleeper()
        clock.advance(by: .seconds(30))
        let ended = try await answer
        #expect(ended.status == 400)
        #expect(ended.isTruncated)
      }
    }
  }

  @Test("the body of a 2xx is waited for a second and no longer")
  func slowSuccess() async throws {
    let reply = LoopbackServer.Reply.beginning("HTTP/1.1 201 Created\r\nContent-Length: 100\r\n\r\nhello")
    try await LoopbackServer.with({ _ in reply }) { server in
      try await withSender(.kept, clock: clock) { sender in
        let request = request("POST", server.url(), body: "hi")
        async let answer = HTTPAPIEndpoint(sender: sender).exchange(
          request, of: account, bearer: bearer, timeout: .seconds(30))
        await clock.waitForSleeper(until: clock.now() + .seconds(1))
        clock.advance(by: .seconds(1))
        let ended = try await answer
        #expect(ended.status == 201)
        #expect(ended.isTruncated)
      }
    }
  }

  @Test("of the body of a 2xx 64 KiB are read and no more", arguments: [64 << 10, (64 << 10) + 1])
  func largeSuccess(bytes: Int) async throws {
    let body = String(repeating: "x", count: bytes)
    try await LoopbackServer.with({ _ in .answer(200, body: body) }) { server in
      let answer = try await exchange(request("GET", server.url()))
      #expect(answer.status == 200)
      #expect(answer.isTruncated == (bytes > 64 << 10))
      #expect(answer.body.count == (answer.isTruncated ? 0 : bytes))
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
