import HearthCore
import HearthHashing
import Synchronization
import TestSupport
import Testing

@testable import HearthOAuth

@Suite("Requests to APIs whose bodies go in pieces", .timeLimit(.minutes(1)))
struct HTTPExchangeTests {
  private let clock = ManualClock()
  private let bearer = Token(hashing: Secret("the-access-token"))

  /// Plays the server on a thread of its own while `client` asks it.
  private func scene(
    _ method: String = "GET", _ upload: APIRequest.Upload? = nil, scheme: String = "http",
    server: @escaping @Sendable (RawConnection) throws -> Void,
    client: (any APIExchange) async throws -> Void
  ) async throws {
    let listener = try RawServer()
    try await withSender(.kept, clock: clock) { sender in
      var request = APIRequest(
        method: method, url: try HTTPURL("\(scheme)://127.0.0.1:\(listener.port)/big"),
        headers: [.init(name: "Range", value: "bytes=0-")], body: [], idempotencyKey: nil)
      request.upload = upload
      async let played: Void = onThread { try server(try listener.accept()) }
      let exchange = try await HTTPAPIEndpoint(sender: sender).begin(request, of: .sample, bearer: bearer)
      let result: Result<Void, any Error>
      do { result = .success(try await client(exchange)) } catch { result = .failure(error) }
      exchange.cancel("the test is over")
      try await played
      try result.get()
    }
  }

  private func all(_ exchange: any APIExchange) async throws(ExchangeFailure) -> [UInt8] {
    var bytes: [UInt8] = []
    while let piece = try await exchange.read() {
      #expect(!piece.isEmpty && piece.count <= APIRequest.pieceLimit)
      bytes += piece
    }
    return bytes
  }

  private func failure<Value>(of body: () async throws(ExchangeFailure) -> Value) async -> ExchangeFailure? {
    do throws(ExchangeFailure) {
      _ = try await body()
      return nil
    } catch {
      return error
    }
  }

  private static func bytes(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) } }

  // MARK: - Bodies

  @Test("a body of a known length goes with Content-Length, after a head with the token")
  func sized() async throws {
    let body = Self.bytes(300_000)
    try await scene("PUT", .sized(body.count)) { server in
      let head = try server.readHead().lowercased()
      #expect(head.contains("content-length: 300000") && !head.contains("transfer-encoding"))
      #expect(head.contains("authorization: bearer the-access-token") && head.contains("range: bytes=0-"))
      #expect(try server.read(body.count) == body)
      try server.send("HTTP/1.1 204 No Content\r\n\r\n")
    } client: { exchange async throws in
      #expect(try await exchange.write(Array(body[..<200_000]), isLast: false))
      #expect(try await exchange.write(Array(body[200_000...]), isLast: true))
      #expect(try await exchange.response().status == 204)
      #expect(try await exchange.read() == nil)
    }
  }

  @Test("a body of an unknown length goes in chunks, and ends with an empty one")
  func chunked() async throws {
    try await scene("POST", .chunked) { server in
      #expect(try server.readHead().lowercased().contains("transfer-encoding: chunked"))
      let body = "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"
      #expect(try server.read(body.utf8.count) == Array(body.utf8))
      try server.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Type: text/plain\r\n\r\nok")
    } client: { exchange async throws in
      #expect(try await exchange.write(Array("hello".utf8), isLast: false))
      #expect(try await exchange.write(Array(" world".utf8), isLast: false))
      #expect(try await exchange.write([], isLast: true))
      #expect(try await exchange.response().status == 200)
      #expect(try await all(exchange) == Array("ok".utf8))
    }
  }

  @Test("an answer comes as it was sent, compressed or not, in pieces of a bounded length")
  func answer() async throws {
    let body = Self.bytes(2_000_000)
    try await scene { server in
      _ = try server.readHead()
      try server.send(
        "HTTP/1.1 206 Partial Content\r\nContent-Encoding: gzip\r\nContent-Type: text/plain\r\n"
          + "Content-Length: \(body.count)\r\n\r\n")
      try server.send(body)
    } client: { exchange async throws in
      let response = try await exchange.response()
      #expect(response.status == 206 && response.headers.contains(.init(name: "Content-Encoding", value: "gzip")))
      #expect(try await all(exchange) == body)
    }
  }

  @Test("an answer without a body is complete with its head", arguments: [("HEAD", 200), ("GET", 204), ("GET", 304)])
  func bodyless(_ method: String, _ status: Int) async throws {
    try await scene(method) { server in
      _ = try server.readHead()
      try server.send("HTTP/1.1 \(status) X\r\n" + (method == "HEAD" ? "Content-Length: 5000\r\n\r\n" : "\r\n"))
    } client: { exchange async throws in
      #expect(try await exchange.response().status == status)
      #expect(try await exchange.read() == nil)
    }
  }

  @Test("where the head tells no type, it is not given before the body has begun, which is read all the same")
  func untyped() async throws {
    let listener = try RawServer()
    let looks = WatchedClock(clock)
    try await withSender(.kept, clock: looks) { sender in
      let (headCame, ends) = AsyncStream<Void>.makeStream()
      async let played: Void = {
        let server = try await onThread { try listener.accept() }
        _ = try await onThread { try server.readHead() }
        try server.send("HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n")
        for await _ in headCame { break }
        try server.send("<!doctype html>")
      }()
      let request = APIRequest(
        method: "GET", url: try HTTPURL(listener.url + "/"), headers: [], body: [], idempotencyKey: nil)
      let exchange = try await HTTPAPIEndpoint(sender: sender).begin(request, of: .sample, bearer: bearer)
      async let response = exchange.response()
      // Once for the beginning, once for the head.
      var iterator = looks.looks.makeAsyncIterator()
      for _ in 0..<2 { _ = await iterator.next() }
      ends.yield()
      #expect(try await response.body == Array("<!doctype html>".utf8))
      #expect(try await all(exchange) == Array("<!doctype html>".utf8))
      try await played
    }
  }

  @Test("what a server says before its answer is passed over")
  func informational() async throws {
    try await scene("POST", .sized(2)) { server in
      _ = try server.readHead()
      try server.send("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
      #expect(try server.read(2) == [1, 2])
      try server.send("HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n")
    } client: { exchange async throws in
      #expect(try await exchange.write([1, 2], isLast: true))
      #expect(try await exchange.response().status == 201)
    }
  }

  // MARK: - What goes otherwise

  @Test(
    "an answer before the end of the body is given, also where the server breaks the connection off after it",
    arguments: [false, true])
  func early(isReset: Bool) async throws {
    try await scene("PUT", .sized(64 << 20)) { server in
      _ = try server.readHead()
      _ = try server.read(1 << 20)
      try server.send("HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 7\r\n\r\ntoo big")
      if isReset { server.reset() } else { server.close() }
    } client: { exchange async throws in
      let piece = [UInt8](repeating: 1, count: APIRequest.pieceLimit)
      var count = 0
      while try await exchange.write(piece, isLast: false) { count += 1 }
      #expect(count < 256, "the rest was not wanted")
      #expect(try await exchange.response().status == 413)
      #expect(try await all(exchange) == Array("too big".utf8))
    }
  }

  @Test("a success that begins before the end of the body does not end it")
  func duplex() async throws {
    try await scene("POST", .chunked) { server in
      _ = try server.readHead()
      #expect(try server.read(6) == Array("1\r\na\r\n".utf8))
      try server.send("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nA\r\n")
      #expect(try server.read(6) == Array("1\r\nb\r\n".utf8))
      try server.send("1\r\nB\r\n")
      #expect(try server.read(5) == Array("0\r\n\r\n".utf8))
      try server.send("0\r\n\r\n")
    } client: { exchange async throws in
      #expect(try await exchange.write(Array("a".utf8), isLast: false))
      #expect(try await exchange.response().status == 200)
      #expect(try await exchange.read() == Array("A".utf8))
      #expect(try await exchange.write(Array("b".utf8), isLast: false))
      #expect(try await exchange.read() == Array("B".utf8))
      #expect(try await exchange.write([], isLast: true))
      #expect(try await exchange.read() == nil)
    }
  }

  @Test(
    "a success that is whole before the end of the body is given, whatever the server does then",
    arguments: ["close", "reset", "hang", "400"], ["Content-Length: 4\r\n\r\ndone", "Content-Length: 0\r\n\r\n"])
  func wholeTooEarly(_ then: String, _ rest: String) async throws {
    try await scene("PUT", .sized(64 << 20)) { server in
      _ = try server.readHead()
      _ = try server.read(1 << 20)
      try server.send("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\(rest)")
      switch then {
      case "close": server.close()
      case "reset": server.reset()
      case "400": try server.send("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
      default: #expect(try server.read(.max).count < 64 << 20, "the connection is closed in the end")
      }
    } client: { exchange async throws in
      let piece = [UInt8](repeating: 1, count: APIRequest.pieceLimit)
      var count = 0
      while try await exchange.write(piece, isLast: false) { count += 1 }
      #expect(count < 256, "the rest was not wanted")
      #expect(try await exchange.response().status == 200)
      #expect(try await all(exchange) == Array((rest.hasSuffix("done") ? "done" : "").utf8))
    }
  }

  @Test("a body that is given up has no end, by which the server might take it for a whole one", arguments: 1...12)
  func givenUp(_ pieces: Int) async throws {
    try await scene("POST", .chunked) { server in
      _ = try server.readHead()
      #expect(try server.read(.max) == Array(String(repeating: "5\r\nhello\r\n", count: pieces).utf8))
    } client: { exchange async throws in
      for _ in 1...pieces { #expect(try await exchange.write(Array("hello".utf8), isLast: false)) }
      exchange.cancel("nobody wants it")
    }
  }

  @Test(
    "a body that breaks off is no whole one",
    arguments: ["Content-Length: 10\r\n\r\nhello", "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"])
  func brokenOff(_ rest: String) async throws {
    try await scene { server in
      _ = try server.readHead()
      try server.send("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\(rest)")
      server.close()
    } client: { exchange async throws in
      #expect(try await exchange.response().status == 200)
      let failure = await failure { () async throws(ExchangeFailure) in
        while try await exchange.read() != nil {}
      }
      guard case .unanswered(let message)? = failure else {
        Issue.record("it was taken for a whole one")
        return
      }
      #expect(message.hasSuffix(": the connection closed before the response was complete"))
    }
  }

  @Test("a server that closes without an answer has left the request's fate open")
  func unanswered() async throws {
    try await scene("POST", .sized(10)) { server in
      _ = try server.readHead()
      server.close()
    } client: { exchange async throws in
      let failure = await failure { () async throws(ExchangeFailure) in try await exchange.response() }
      guard case .unanswered(let message)? = failure else {
        Issue.record("\(String(describing: failure))")
        return
      }
      #expect(message.hasSuffix("the connection was closed before the response was complete"))
    }
  }

  @Test("without a connection nothing was sent, and who writes is told so too")
  func unreachable() async throws {
    try await withSender(.kept, clock: clock) { sender in
      var request = APIRequest(
        method: "PUT", url: try HTTPURL("http://127.0.0.1:\(RefusingPort.number)/"), headers: [], body: [],
        idempotencyKey: nil)
      request.upload = .sized(1)
      let exchange = try await HTTPAPIEndpoint(sender: sender).begin(request, of: .sample, bearer: bearer)
      for failure in [
        await failure(of: { () async throws(ExchangeFailure) in _ = try await exchange.write([1], isLast: true) }),
        await failure(of: { () async throws(ExchangeFailure) in _ = try await exchange.response() }),
      ] {
        guard case .notSent(let message)? = failure else {
          Issue.record("\(String(describing: failure))")
          continue
        }
        #expect(message.hasSuffix("Connection refused"))
      }
    }
  }

  @Test("nothing of a body is taken before TLS has begun, and what is given up then was not sent")
  func noTLS() async throws {
    let (over, ends) = AsyncStream<Void>.makeStream()
    try await scene("PUT", .sized(10), scheme: "https") { server in
      #expect(try server.read(1) == [0x16], "it wants to begin TLS")
      ends.finish()
      _ = try server.read(.max)
    } client: { exchange async throws in
      async let writing = failure { () async throws(ExchangeFailure) in try await exchange.write([1], isLast: false) }
      for await _ in over {}
      exchange.cancel("it took too long")
      guard case .notSent(let message)? = await writing else {
        Issue.record("it was taken")
        return
      }
      #expect(message.hasSuffix("it took too long"))
    }
  }

  // MARK: - Bounds

  /// More than the network holds on this machine, in bytes.
  private static let much = 64 << 20

  /// Tells whether something has not moved for many looks.
  private final class Stillness: @unchecked Sendable {
    let taken = Atomic(0)
    private var last = -1
    private var looks = 0

    func hasCome(_ value: Int) -> Bool {
      looks = value == last ? looks + 1 : 0
      last = value
      return looks >= 25 || value > HTTPExchangeTests.much
    }
  }

  @Test("of a body that the server does not read no more is taken than the network holds")
  func pressureOnWriter() async throws {
    let stillness = Stillness()
    try await scene("PUT", .sized(4 * Self.much)) { server in
      _ = try server.readHead()
      try eventually("nothing more is taken") { stillness.hasCome(stillness.taken.load(ordering: .relaxed)) }
      server.reset()
    } client: { exchange async throws in
      let piece = [UInt8](repeating: 1, count: APIRequest.pieceLimit)
      while (try? await exchange.write(piece, isLast: false)) == true {
        stillness.taken.add(piece.count, ordering: .relaxed)
      }
      let count = stillness.taken.load(ordering: .relaxed)
      #expect(count < Self.much, "\(count)")
    }
  }

  @Test("of an answer that nobody reads no more is taken than a piece and what the network holds")
  func pressureOnServer() async throws {
    let (still, isStill) = AsyncStream<Int>.makeStream()
    try await scene { server in
      _ = try server.readHead()
      try server.send("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: \(4 * Self.much)\r\n\r\n")
      let (piece, stillness) = ([UInt8](repeating: 1, count: 65_536), Stillness())
      var count = 0
      try eventually("nothing more is taken") {
        count += server.sendNow(piece)
        return stillness.hasCome(count)
      }
      isStill.yield(count)
      isStill.finish()
      server.reset()
    } client: { exchange async throws in
      #expect(try await exchange.response().status == 200)
      for await count in still { #expect(count < Self.much, "\(count)") }
    }
  }
}
