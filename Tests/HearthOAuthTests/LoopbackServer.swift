import Glibc
import HearthCore
import HearthOAuth
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Synchronization
import TestSupport

/// A server on 127.0.0.1 that answers each request as the test says, and remembers it.
final class LoopbackServer: Sendable {
  struct Request: Sendable {
    var method: String
    var target: String
    var headers: HTTPHeaders
    var body: String
    /// Which connection it came on, counted from 0.
    var connection: Int
    /// What the client showed of itself in TLS.
    var certificate: NIOSSLCertificate?
    /// Nil without TLS.
    var tlsVersion: TLSVersion?
  }

  enum Reply: Sendable {
    case answer(Int, headers: [(String, String)] = [], body: String = "")
    /// These bytes as they are, then the end of the connection.
    case raw(String)
    case rawBytes([UInt8])
    /// These bytes as they are, then the end of TCP, of which TLS says nothing before.
    case cut(String)
    /// These bytes as they are, then a TCP reset.
    case rawThenReset(String)
    /// These bytes as they are, and no more.
    case beginning(String)
    case close
    /// A TCP reset.
    case reset
    case hang
  }

  private struct State {
    var requests: [Request] = []
    var connections = 0
    var open: [any Channel] = []
  }

  let port: Int
  /// Each request as it arrives.
  let arrivals: AsyncStream<Request>
  private let listener: any Channel
  private let state: Mutex<State>

  private init(
    listener: any Channel, port: Int, state: consuming Mutex<State>, arrivals: AsyncStream<Request>
  ) {
    self.listener = listener
    self.port = port
    self.state = state
    self.arrivals = arrivals
  }

  var requests: [Request] { state.withLock(\.requests) }
  var connections: Int { state.withLock(\.connections) }

  func url(_ target: String = "/", scheme: String = "http", host: String = "127.0.0.1") -> HTTPURL {
    guard let url = try? HTTPURL("\(scheme)://\(host):\(port)\(target)") else {
      preconditionFailure("the test asks for a URL that is none")
    }
    return url
  }

  /// Runs `body` against a server that answers with `respond`, and takes the server down. `tls`: nil for plain HTTP.
  static func with<T>(
    tls: TLSConfiguration? = nil, _ respond: @escaping @Sendable (Request) -> Reply,
    _ body: (LoopbackServer) async throws -> T
  ) async throws -> T {
    let tlsContext = try tls.map { try NIOSSLContext(configuration: $0) }
    let (arrivals, continuation) = AsyncStream<Request>.makeStream()
    let box = Box()
    let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let number = box.server.withLock { $0 }?.opened(channel) ?? 0
          if let tlsContext { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tlsContext)) }
          try channel.pipeline.syncOperations.configureHTTPServerPipeline()
          try channel.pipeline.syncOperations.addHandler(
            Handler(connection: number) { request in
              box.server.withLock { $0 }?.state.withLock { $0.requests.append(request) }
              continuation.yield(request)
              return respond(request)
            })
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    let server = LoopbackServer(
      listener: listener, port: listener.localAddress?.port ?? 0, state: Mutex(State()), arrivals: arrivals)
    box.server.withLock { $0 = server }
    let result: Result<T, any Error>
    do {
      result = .success(try await body(server))
    } catch {
      result = .failure(error)
    }
    box.server.withLock { $0 = nil }
    try? await listener.close()
    for channel in server.state.withLock(\.open) { try? await channel.close() }
    return try result.get()
  }

  /// A port that refuses connections for as long as the tests run.
  static let refusingPort = RefusingPort.number

  private func opened(_ channel: any Channel) -> Int {
    state.withLock { state in
      state.open.append(channel)
      state.connections += 1
      return state.connections - 1
    }
  }

  private final class Box: Sendable {
    let server = Mutex<LoopbackServer?>(nil)
  }
}

private final class Handler: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  private let connection: Int
  private let respond: (LoopbackServer.Request) -> LoopbackServer.Reply
  private var request: LoopbackServer.Request?

  init(connection: Int, respond: @escaping (LoopbackServer.Request) -> LoopbackServer.Reply) {
    self.connection = connection
    self.respond = respond
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head):
      request = LoopbackServer.Request(
        method: head.method.rawValue, target: head.uri, headers: head.headers, body: "", connection: connection)
    case .body(let part):
      request?.body += String(buffer: part)
    case .end:
      guard var request else { return }
      request.certificate = try? context.pipeline.syncOperations.nioSSL_peerCertificate()
      request.tlsVersion = try? context.pipeline.syncOperations.nioSSL_tlsVersion()
      send(respond(request), context: context)
    }
  }

  private func send(_ reply: LoopbackServer.Reply, context: ChannelHandlerContext) {
    switch reply {
    case .answer(let status, let headers, let body):
      var all = HTTPHeaders(headers)
      all.add(name: "Content-Length", value: String(body.utf8.count))
      let head = HTTPResponseHead(version: .http1_1, status: .init(statusCode: status), headers: all)
      context.write(wrapOutboundOut(.head(head)), promise: nil)
      context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: body)))), promise: nil)
      context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    case .raw(let text):
      let channel = context.channel
      write(text, context: context)?.whenComplete { _ in channel.close(promise: nil) }
    case .rawBytes(let bytes):
      let channel = context.channel
      write(ByteBuffer(bytes: bytes), context: context)?.whenComplete { _ in channel.close(promise: nil) }
    case .cut(let text):
      let place = pastTLS(context)
      if text.isEmpty { return place.close(promise: nil) }
      write(text, context: context)?.assumeIsolated().whenComplete { _ in place.close(promise: nil) }
    case .rawThenReset(let text):
      let place = pastTLS(context)
      write(text, context: context)?.assumeIsolated().whenComplete { _ in Self.reset(place) }
    case .beginning(let text):
      _ = write(text, context: context)
    case .close:
      context.close(promise: nil)
    case .reset:
      Self.reset(context)
    case .hang:
      break
    }
  }

  private static func reset(_ place: ChannelHandlerContext) {
    let set = (place.channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
    set?.assumeIsolated().whenComplete { _ in place.close(promise: nil) }
  }

  /// From where a close tells TLS nothing.
  private func pastTLS(_ context: ChannelHandlerContext) -> ChannelHandlerContext {
    (try? context.pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self)) ?? context
  }

  /// Past the HTTP handlers, straight to the socket.
  private func write(_ text: String, context: ChannelHandlerContext) -> EventLoopFuture<Void>? {
    write(ByteBuffer(string: text), context: context)
  }

  private func write(_ bytes: ByteBuffer, context: ChannelHandlerContext) -> EventLoopFuture<Void>? {
    let encoder = try? context.pipeline.syncOperations.context(handlerType: HTTPResponseEncoder.self)
    return encoder?.writeAndFlush(NIOAny(bytes))
  }
}

/// Runs `body` with a sender and lets it go afterwards.
func withSender<T>(
  _ connections: HTTPSender.Connections = .fresh, clock: any Clock,
  authorities: SystemAuthorities = SystemAuthorities([:]), _ body: (HTTPSender) async throws -> T
) async throws -> T {
  let sender = HTTPSender(
    connections: connections, userAgent: "hearth/test", clock: clock, authorities: authorities)
  let result: Result<T, any Error>
  do {
    result = .success(try await body(sender))
  } catch {
    result = .failure(error)
  }
  await sender.shutdown()
  return try result.get()
}
