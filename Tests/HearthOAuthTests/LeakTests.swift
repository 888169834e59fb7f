import HearthCore
import HearthHashing
import NIOCore
import NIOHTTP1
import NIOPosix
import TestSupport
import Testing

@testable import HearthOAuth

@Suite("What a request holds is let go with it, and its token too", .timeLimit(.minutes(3))) struct LeakTests {
  enum Course: CaseIterable {
    case download, sized, chunked, closed, cancelled, refused, givenUpAtOnce

    fileprivate var upload: APIRequest.Upload? {
      switch self {
      case .download, .cancelled: nil
      case .sized, .closed, .refused: .sized(5)
      case .chunked, .givenUpAtOnce: .chunked
      }
    }

    fileprivate var reply: LoopbackServer.Reply {
      switch self {
      case .download, .sized, .chunked, .refused, .givenUpAtOnce: .answer(200, body: "done")
      case .closed: .close
      case .cancelled: .hang
      }
    }

    fileprivate func play(_ exchange: any APIExchange) async throws(ExchangeFailure) {
      switch self {
      case .cancelled, .givenUpAtOnce: exchange.cancel("nobody wants it")
      case .download, .sized, .chunked, .closed, .refused:
        if upload != nil { _ = try await exchange.write(Array("hello".utf8), isLast: true) }
        _ = try await exchange.response()
        while try await exchange.read() != nil {}
        exchange.cancel("it is over")
      }
    }
  }

  private struct Weak {
    private(set) weak var object: AnyObject?
  }

  @Test("of an upload that the server cuts off nothing is left, answered or not", arguments: ["413", "reset", "late"])
  func cutOff(_ end: String) async throws {
    var begun: [Weak] = []
    let body = [UInt8](repeating: 1, count: 4 << 20)
    let clock = ManualClock()
    for _ in 0..<5 {
      let listener = try RawServer()
      let head = HTTPRequestHead(
        version: .http1_1, method: .POST, uri: "/", headers: ["Host": "a", "Content-Length": "\(body.count)"])
      let exchange = HTTPExchange(
        HTTPExchange.Message(head: head, body: ByteBuffer(bytes: body)), reading: .whole(limit: 100), clock: clock
      ) { _, _, _ in .unanswered(message: "") }
      begun.append(Weak(object: exchange))
      let pool = ConnectionPool(TLSContexts(SystemAuthorities([:])), timeout: .seconds(10), idleTime: .seconds(30))
      pool.send(exchange, over: ConnectionPlan(to: try HTTPURL(listener.url + "/").origin))
      let server = try await onThread { try listener.accept() }
      _ = try await onThread { try server.readHead() }
      switch end {
      case "413": try server.send("HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
      case "reset": server.reset()
      default: exchange.cancel("it is too late")
      }
      if end != "late" { _ = try? await exchange.answer() }
      exchange.cancel("it is over")
      await pool.shutdown()
    }
    for _ in 0..<3 { try await MultiThreadedEventLoopGroup.singleton.any().submit {}.get() }
    #expect(begun.count { $0.object != nil } == 0)
  }

  @Test("of 1,000 exchanges none is left, whatever became of them", arguments: Course.allCases)
  func exchanges(_ course: Course) async throws {
    var begun: [Weak] = []
    try await LoopbackServer.with({ _ in course.reply }) { server in
      let url =
        course == .refused ? try HTTPURL("http://127.0.0.1:\(LoopbackServer.refusingPort)/") : server.url("/big")
      try await withSender(.kept, clock: ManualClock()) { sender in
        let endpoint = HTTPAPIEndpoint(sender: sender)
        var request = APIRequest(
          method: course.upload == nil ? "GET" : "PUT", url: url, headers: [], body: [], idempotencyKey: nil)
        request.upload = course.upload
        for number in 0..<1000 {
          let bearer = Token(hashing: Secret("token-\(number)"))
          let exchange = try await endpoint.begin(request, of: .sample, bearer: bearer)
          begun.append(Weak(object: exchange as AnyObject))
          try? await course.play(exchange)
        }
      }
    }
    // The event loop lets go at the end of its turn.
    for _ in 0..<3 { try await MultiThreadedEventLoopGroup.singleton.any().submit {}.get() }
    #expect(begun.count == 1000)
    #expect(begun.count { $0.object != nil } == 0)
  }
}
