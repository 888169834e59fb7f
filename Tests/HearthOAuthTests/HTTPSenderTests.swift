import HearthCore
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOPosix
import TestSupport
import Testing

@testable import HearthOAuth

@Suite("Sending one request")
struct HTTPSenderTests {
  private let clock = ManualClock()

  /// How a failed exchange ended: whether the server can have seen the request, and why.
  private func failure(
    of sender: HTTPSender, _ request: HTTPSender.Request
  ) async throws -> ExchangeFailure {
    do {
      let answer = try await sender.send(request, timeout: .seconds(30))
      throw UnexpectedAnswer(status: answer.status)
    } catch let failure as ExchangeFailure {
      return failure
    }
  }

  private struct UnexpectedAnswer: Error {
    let status: Int
  }

  private func wasSent(_ failure: ExchangeFailure) -> Bool {
    switch failure {
    case .notSent: false
    case .unanswered: true
    }
  }

  @Test("a refused connection is surely not sent, and says where and why")
  func refused() async throws {
    let port = LoopbackServer.refusingPort
    let request = HTTPSender.Request(url: try HTTPURL("http://127.0.0.1:\(port)/token"))
    let failure = try await withSender(clock: clock) { try await self.failure(of: $0, request) }
    guard case .notSent(let message) = failure else {
      Issue.record("it is \(failure)")
      return
    }
    #expect(message.contains("127.0.0.1:\(port)"))
    #expect(message.contains("refused"))
  }

  @Test("a server that closes or resets after reading leaves the request unanswered", arguments: [false, true])
  func closedAfterReading(byReset: Bool) async throws {
    try await LoopbackServer.with({ _ in byReset ? .reset : .close }) { server in
      let request = HTTPSender.Request(method: "POST", url: server.url("/token"), body: Array("a=b".utf8))
      let failure = try await withSender(clock: clock) { try await self.failure(of: $0, request) }
      guard case .unanswered(let message) = failure else {
        Issue.record("it is \(failure)")
        return
      }
      let reason = byReset ? "Connection reset by peer" : "the connection was closed before the response was complete"
      #expect(message.hasSuffix(": \(reason)"))
      #expect(server.requests.map(\.body) == ["a=b"])
    }
  }

  @Test("an answer that breaks off leaves the request unanswered")
  func brokenOff() async throws {
    try await LoopbackServer.with({ _ in .raw("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"access_token\":") }) {
      server in
      let request = HTTPSender.Request(url: server.url())
      let failure = try await withSender(clock: clock) { try await self.failure(of: $0, request) }
      #expect(wasSent(failure))
    }
  }

  @Test("a server that hangs is given up at the deadline, and the request is unanswered")
  func hangs() async throws {
    try await LoopbackServer.with({ _ in .hang }) { server in
      try await withSender(clock: clock) { sender in
        async let failure = self.failure(of: sender, HTTPSender.Request(url: server.url()))
        var arrivals = server.arrivals.makeAsyncIterator()
        _ = await arrivals.next()
        await clock.waitForSleeper(until: clock.now() + .seconds(30))
        clock.advance(by: .seconds(30))
        let ended = try await failure
        #expect(wasSent(ended))
        #expect("\(ended)".contains("no response within 30"))
      }
    }
  }

  @Test("an answer that never ends is given up at the deadline too")
  func bodyHangs() async throws {
    let reply = LoopbackServer.Reply.beginning("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
    try await LoopbackServer.with({ _ in reply }) { server in
      let looks = WatchedClock(clock)
      try await withSender(clock: looks) { sender in
        async let failure = self.failure(of: sender, HTTPSender.Request(url: server.url()))
        // Once for the deadline, once for the head of the answer.
        var iterator = looks.looks.makeAsyncIterator()
        for _ in 0..<2 { _ = await iterator.next() }
        await clock.waitForSleeper()
        clock.advance(by: .seconds(30))
        let ended = try await failure
        #expect(wasSent(ended))
      }
    }
  }

  @Test("a TLS handshake that fails is surely not sent")
  func failedHandshake() async throws {
    try await LoopbackServer.with({ _ in .close }) { server in
      let request = HTTPSender.Request(method: "POST", url: server.url(scheme: "https"), body: Array("secret".utf8))
      let failure = try await withSender(clock: clock) { try await self.failure(of: $0, request) }
      #expect(!wasSent(failure))
      #expect("\(failure)".contains("TLS failed: the server does not use TLS on this port (WRONG_VERSION_NUMBER)"))
      #expect(server.requests.isEmpty)
    }
  }

  @Test("a server that ends the handshake, or does not speak HTTP, is told in words")
  func noHTTP() async throws {
    let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(HangUp()) }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    let closing = try HTTPURL("https://127.0.0.1:\(server.localAddress?.port ?? 0)/")
    let ended = try await withSender(clock: clock) {
      try await self.failure(of: $0, HTTPSender.Request(url: closing))
    }
    try await server.close()
    #expect("\(ended)".contains("TLS failed: the server aborted the handshake"))

    try await LoopbackServer.with({ _ in .raw("220 mail.example.com ESMTP\r\n") }) { server in
      let failure = try await withSender(clock: clock) {
        try await self.failure(of: $0, HTTPSender.Request(url: server.url()))
      }
      #expect(wasSent(failure) && "\(failure)".contains("the response is not HTTP"))
    }
  }

  @Test("a connection that the server closes instead of answering a second request leaves that one unanswered")
  func keptConnectionCloses() async throws {
    try await LoopbackServer.with({ $0.target == "/first" ? .answer(200) : .close }) { server in
      try await withSender(.kept, clock: clock) { sender in
        _ = try await sender.send(HTTPSender.Request(url: server.url("/first")), timeout: .seconds(30))
        let failure = try await self.failure(of: sender, HTTPSender.Request(url: server.url("/second")))
        #expect(wasSent(failure))
        #expect(server.requests.map(\.connection) == [0, 0])
      }
    }
  }

  @Test("fresh connections are used once and say so")
  func freshConnections() async throws {
    try await LoopbackServer.with({ _ in .answer(200) }) { server in
      try await withSender(.fresh, clock: clock) { sender in
        for _ in 0..<3 { _ = try await sender.send(HTTPSender.Request(url: server.url()), timeout: .seconds(30)) }
      }
      #expect(server.requests.map(\.connection) == [0, 1, 2])
      #expect(server.requests.allSatisfy { $0.headers["Connection"] == ["close"] })
    }
  }

  /// A connection without a network, which writes to `channel`.
  private func connection(_ channel: EmbeddedChannel) throws -> HTTPConnection {
    let connection = try HTTPConnection.add(to: channel) { _ in }
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    return connection
  }

  private func exchange() -> HTTPExchange {
    let headers = HTTPHeaders([("Host", "a"), ("Content-Length", "4")])
    let head = HTTPRequestHead(version: .http1_1, method: .POST, uri: "/", headers: headers)
    return HTTPExchange(
      HTTPExchange.Message(head: head, body: ByteBuffer(string: "body")), reading: .whole(limit: 100), clock: clock
    ) { _, _, wasSent in wasSent ? .unanswered(message: "") : .notSent(message: "") }
  }

  @Test("what was given up before it reached a connection is never sent afterwards")
  func givenUp() async throws {
    let channel = EmbeddedChannel()
    let connection = try connection(channel)
    let (late, sent) = (exchange(), exchange())
    late.cancel("nobody wants it")
    #expect(connection.start(late), "the connection is as good as before")
    #expect(try channel.readOutbound(as: ByteBuffer.self) == nil)
    #expect(connection.start(sent))
    connection.abandon(late)
    let isOthers = channel.isActive
    #expect(isOthers, "who was given up does not close the connection of another request")
    sent.cancel("nobody wants it")
    channel.embeddedEventLoop.run()
    let isOpen = channel.isActive
    #expect(!isOpen)
    await #expect(throws: ExchangeFailure.notSent(message: "")) { _ = try await late.answer() }
    await #expect(throws: ExchangeFailure.unanswered(message: "")) { _ = try await sent.answer() }
  }

  @Test("head and body of a request leave together")
  func onePacket() throws {
    let channel = EmbeddedChannel()
    let flushes = FlushCounter()
    try channel.pipeline.syncOperations.addHandler(flushes)
    #expect(try connection(channel).start(exchange()))
    #expect(flushes.count == 1)
    var sent = ""
    while let bytes = try channel.readOutbound(as: ByteBuffer.self) { sent += String(buffer: bytes) }
    #expect(sent.hasPrefix("POST / HTTP/1.1\r\n") && sent.hasSuffix("\r\n\r\nbody"))
  }

  private final class FlushCounter: ChannelOutboundHandler {
    typealias OutboundIn = IOData
    var count = 0

    func flush(context: ChannelHandlerContext) {
      count += 1
      context.flush()
    }
  }

  @Test("no redirect is followed", arguments: [301, 302, 303, 307, 308])
  func redirects(status: Int) async throws {
    try await LoopbackServer.with({ _ in .answer(200) }) { other in
      let location = other.url("/stolen").description
      try await LoopbackServer.with({ _ in .answer(status, headers: [("Location", location)]) }) { server in
        let answer = try await withSender(clock: clock) { sender in
          try await sender.send(
            HTTPSender.Request(method: "POST", url: server.url(), body: Array("refresh_token=x".utf8)),
            timeout: .seconds(30))
        }
        #expect(answer.status == status)
        #expect(other.requests.isEmpty)
        #expect(server.requests.count == 1)
      }
    }
  }

  @Test("the target and the host go out exactly as the URL has them")
  func exactTarget() async throws {
    let target = "/a%2Fb//c/./d/../e;x=1/%7e?q=%20+a&b=c%26'()*!$,:@/?"
    try await LoopbackServer.with({ _ in .answer(204) }) { server in
      _ = try await withSender(clock: clock) { sender in
        try await sender.send(HTTPSender.Request(url: server.url(target)), timeout: .seconds(30))
      }
      #expect(server.requests.map(\.target) == [target])
      #expect(server.requests.first?.headers["Host"] == ["127.0.0.1:\(server.port)"])
      #expect(server.requests.first?.headers["User-Agent"] == ["hearth/test"])
    }
  }

  @Test("an answer longer than the limit is cut there and says so")
  func limit() async throws {
    let body = String(repeating: "x", count: 200_000)
    try await LoopbackServer.with({ _ in .answer(200, body: body) }) { server in
      let answer = try await withSender(clock: clock) { sender in
        try await sender.send(
          HTTPSender.Request(url: server.url(), reading: .whole(limit: 100_000)), timeout: .seconds(30))
      }
      #expect(answer.isTruncated)
      #expect(answer.body.count == 100_000)
      #expect(answer.status == 200)
    }
  }

  @Test("a request whose task is cancelled ends")
  func cancelled() async throws {
    try await LoopbackServer.with({ _ in .hang }) { server in
      try await withSender(clock: clock) { sender in
        let ended = await withTaskGroup(of: ExchangeFailure?.self) { group in
          group.addTask { try? await self.failure(of: sender, HTTPSender.Request(url: server.url())) }
          var arrivals = server.arrivals.makeAsyncIterator()
          _ = await arrivals.next()
          group.cancelAll()
          return await group.next() ?? nil
        }
        #expect(ended.map(wasSent) == true)
      }
    }
  }
}

/// Ends the connection after the first words on it.
private final class HangUp: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  func channelRead(context: ChannelHandlerContext, data: NIOAny) { context.close(promise: nil) }
}
