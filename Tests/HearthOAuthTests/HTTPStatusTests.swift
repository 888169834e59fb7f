import HearthCore
import TestSupport
import Testing

@testable import HearthOAuth

@Suite("Answers that break the rules of HTTP")
struct HTTPStatusTests {
  private let clock = ManualClock()

  private func outcome(_ reply: String) async throws -> Result<Int, ExchangeFailure> {
    try await LoopbackServer.with({ _ in .raw(reply) }) { server in
      try await withSender(.kept, clock: clock) { sender in
        do throws(ExchangeFailure) {
          let request = HTTPSender.Request(method: "POST", url: server.url(), body: Array("a=b".utf8))
          return .success(try await sender.send(request, timeout: .seconds(30)).status)
        } catch {
          return .failure(error)
        }
      }
    }
  }

  @Test(
    "a status below 100 is no answer",
    arguments: [
      "HTTP/1.1 099 X\r\nContent-Length: 0\r\n\r\n",
      "HTTP/1.1 000 X\r\nContent-Length: 5\r\n\r\nhello",
      "HTTP/1.1 001 X\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
      "HTTP/1.0 099 X\r\n\r\nuntil the end",
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 099 X\r\nContent-Length: 0\r\n\r\n",
      "HTTP/1.1 099 X\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
    ])
  func belowHundred(reply: String) async throws {
    guard case .failure(.unanswered(let message)) = try await outcome(reply) else {
      Issue.record("it counts as an answer, or as not sent")
      return
    }
    #expect(message.contains("the server returned the invalid status "))
  }

  @Test(
    "what surrounds content is read up to 256 KiB: informational answers, extensions of chunks",
    arguments: [
      String(repeating: "HTTP/1.1 100 Continue\r\n\r\n", count: 20_000),
      String(repeating: "HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n", count: 10_000),
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;" + String(repeating: "a", count: 400_000),
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        + String(repeating: "1;" + String(repeating: "a", count: 1000) + "\r\nx\r\n", count: 400),
    ])
  func overhead(reply: String) async throws {
    guard case .failure(.unanswered(let message)) = try await outcome(reply) else {
      Issue.record("it counts as an answer, or as not sent")
      return
    }
    #expect(message.contains("the response has more than 256 KiB of protocol overhead"), "\(message)")
  }

  @Test("content in chunks of one byte is read, however much surrounds it")
  func smallChunks() async throws {
    let count = 100_000
    let reply =
      "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
      + String(repeating: "1;a\r\nx\r\n", count: count) + "0\r\n\r\n"
    try await LoopbackServer.with({ _ in .raw(reply) }) { server in
      try await withSender(.kept, clock: clock) { sender in
        let response = try await sender.send(HTTPSender.Request(url: server.url()), timeout: .seconds(30))
        #expect(response.status == 200 && response.body.count == count)
      }
    }
  }

  @Test(
    "neither an informational answer, whatever its headers and body, nor a malformed status line is an answer",
    arguments: [
      "HTTP/1.1 100 Continue\r\n\r\n",
      "HTTP/1.1 100 Continue\r\nContent-Length: 5\r\n\r\nhello",
      "HTTP/1.1 103 Early Hints\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
      "HTTP/1.1 199 X\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
      "HTTP/1.1 102 X\r\nConnection: upgrade\r\nUpgrade: x\r\nContent-Length: 1\r\n\r\n1",
      "HTTP/1.1 1 X\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 1000 X\r\nContent-Length: 0\r\n\r\n",
      "HTTP/1.1 -10 X\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1  \r\nContent-Length: 0\r\n\r\n",
      "HTTP/2.0 200 X\r\nContent-Length: 0\r\n\r\n", "HTTP/0.9 200 X\r\nContent-Length: 0\r\n\r\n",
    ])
  func informational(reply: String) async throws {
    guard case .failure(.unanswered) = try await outcome(reply) else {
      Issue.record("it counts as an answer, or as not sent")
      return
    }
  }

  @Test("informational answers before the final one are passed over")
  func informationalFirst() async throws {
    let hints = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nContent-Length: 3\r\n\r\n"
    #expect(try await outcome(hints + "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n") == .success(201))
  }

  @Test(
    "a switch of protocols that nobody asked for is an answer with that status, whatever follows",
    arguments: [
      "HTTP/1.1 101 X\r\n\r\n", "HTTP/1.1 101 X\r\nContent-Length: 5\r\n\r\nhello",
      "HTTP/1.1 101 X\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\nhello",
      "HTTP/1.1 101 X\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
      "HTTP/1.1 101 X\r\n\r\nHTTP/1.1 099 X\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
    ])
  func switching(reply: String) async throws {
    #expect(try await outcome(reply) == .success(101))
  }
}
