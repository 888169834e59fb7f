import NIOCore
import NIOPosix
import Synchronization

/// A proxy on 127.0.0.1: HTTP CONNECT (RFC 9110, section 9.3.6) and SOCKS 5 (RFC 1928). It connects to loopback only, and
/// remembers whom it was asked for.
final class LoopbackProxy: Sendable {
  let port: Int
  private let targets = Mutex<[String]>([])
  private let wanted: String?

  /// `HOST:PORT`, in order.
  var requests: [String] { targets.withLock { $0 } }

  private init(port: Int, wanted: String?) {
    self.port = port
    self.wanted = wanted
  }

  /// Runs `body` against a proxy and takes it down. `authorization`: what CONNECT must bring, else it is answered 407.
  static func with<T>(authorization: String? = nil, _ body: (LoopbackProxy) async throws -> T) async throws -> T {
    let box = Box()
    let open = Mutex<[any Channel]>([])
    let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { channel in
        open.withLock { $0.append(channel) }
        return channel.eventLoop.makeCompletedFuture {
          guard let proxy = box.proxy.withLock({ $0 }) else { return }
          try channel.pipeline.syncOperations.addHandler(Handshake(proxy))
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    let proxy = LoopbackProxy(port: listener.localAddress?.port ?? 0, wanted: authorization)
    box.proxy.withLock { $0 = proxy }
    let result: Result<T, any Error>
    do {
      result = .success(try await body(proxy))
    } catch {
      result = .failure(error)
    }
    box.proxy.withLock { $0 = nil }
    try? await listener.close()
    for channel in open.withLock({ $0 }) { try? await channel.close() }
    return try result.get()
  }

  private final class Box: Sendable {
    let proxy = Mutex<LoopbackProxy?>(nil)
  }

  fileprivate func asked(for target: String) {
    targets.withLock { $0.append(target) }
  }

  fileprivate func takes(_ head: String) -> Bool {
    guard let wanted else { return true }
    return head.split(separator: "\r\n").contains { $0.lowercased() == "proxy-authorization: " + wanted.lowercased() }
  }
}

private final class Handshake: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let proxy: LoopbackProxy
  private var received = ByteBuffer()

  init(_ proxy: LoopbackProxy) {
    self.proxy = proxy
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var part = unwrapInboundIn(data)
    received.writeBuffer(&part)
    if received.getInteger(at: received.readerIndex, as: UInt8.self) == 5 {
      socks(context: context)
    } else {
      connect(context: context)
    }
  }

  private func connect(context: ChannelHandlerContext) {
    let head = String(buffer: received)
    guard head.hasSuffix("\r\n\r\n") else { return }
    let words = head.split(separator: " ")
    guard words.first == "CONNECT", words.count > 1 else { return context.close(promise: nil) }
    let target = String(words[1])
    proxy.asked(for: target)
    guard proxy.takes(head) else {
      let refusal = "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n"
      return context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: refusal)), promise: nil)
    }
    let port = target.split(separator: ":").last.flatMap { Int($0) } ?? 0
    relay(to: port, saying: ByteBuffer(string: "HTTP/1.1 200 OK\r\n\r\n"), context: context)
  }

  private func socks(context: ChannelHandlerContext) {
    let bytes = Array(received.readableBytesView)
    if bytes == [5, 1, 0] {
      received.clear()
      return context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: [5, 0])), promise: nil)
    }
    guard bytes.count > 6, bytes[1] == 1 else { return }
    let length = bytes[3] == 3 ? Int(bytes[4]) + 1 : 4
    guard bytes.count == 4 + length + 2 else { return }
    let host =
      bytes[3] == 3
      ? String(decoding: bytes[5..<(4 + length)], as: UTF8.self)
      : bytes[4..<8].map(String.init).joined(separator: ".")
    let port = Int(bytes[4 + length]) << 8 | Int(bytes[5 + length])
    proxy.asked(for: "\(host):\(port)")
    relay(to: port, saying: ByteBuffer(bytes: [5, 0, 0, 1, 127, 0, 0, 1, 0, 0]), context: context)
  }

  private func relay(to port: Int, saying answer: ByteBuffer, context: ChannelHandlerContext) {
    let client = context.channel
    ClientBootstrap(group: context.eventLoop).connect(host: "127.0.0.1", port: port).assumeIsolated().flatMapThrowing {
      server in
      try server.pipeline.syncOperations.addHandler(Relay(to: client))
      try client.pipeline.syncOperations.addHandler(Relay(to: server))
      client.pipeline.syncOperations.removeHandler(self, promise: nil)
      client.writeAndFlush(answer, promise: nil)
    }.whenFailure { _ in client.close(promise: nil) }
  }
}

/// What comes in here goes out there.
private final class Relay: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let other: any Channel

  init(to other: any Channel) {
    self.other = other
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    other.writeAndFlush(unwrapInboundIn(data), promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) {
    other.close(promise: nil)
  }
}
