import HearthCore
import HearthThreads
import NIOCore
import NIOHTTP1

/// Reads one request per connection and writes the page that answers it.
final class RedirectHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  /// Maximum size of a request body, in bytes. Hearth ignores bodies, and closes a connection that sends a longer one.
  private static let mostBody = 1 << 16

  private let redirect: LoopbackRedirect
  private let peer: LoopbackPeer
  /// The user who opened the connection, once known.
  private var sender: EventLoopFuture<RedirectSender>?
  private var head: HTTPRequestHead?
  private var bodySize = 0
  private var isAnswered = false
  private var timer: Scheduled<Void>?

  init(_ redirect: LoopbackRedirect, _ peer: LoopbackPeer) {
    (self.redirect, self.peer) = (redirect, peer)
  }

  func channelActive(context: ChannelHandlerContext) {
    let (channel, peer) = (context.channel, peer)
    // Starts the lookup immediately, while the other end of the connection is most likely still open. Uses another
    // thread, because the lookup can be slow.
    let answer = context.eventLoop.makePromise(of: RedirectSender.self)
    sender = answer.futureResult
    LoopbackListener.peers.enqueue {
      guard channel.isActive, let other = channel.remoteAddress, let own = channel.localAddress else {
        return answer.succeed(.unknown)
      }
      answer.succeed(peer.sender(from: other, to: own))
    }
    timer = context.eventLoop.scheduleTask(in: LoopbackListener.requestTime) { channel.close(promise: nil) }
    context.fireChannelActive()
  }

  func channelInactive(context: ChannelHandlerContext) {
    timer?.cancel()
    context.fireChannelInactive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head): self.head = self.head ?? head
    case .body(let part):
      bodySize += part.readableBytes
      if bodySize > Self.mostBody { context.close(promise: nil) }
    case .end: receive(context: context)
    }
  }

  private func receive(context: ChannelHandlerContext) {
    guard let head, let sender, !isAnswered else { return }
    isAnswered = true
    timer?.cancel()
    let hosts = head.headers["Host"]
    let (channel, redirect) = (context.channel, redirect)
    sender.whenSuccess { sender in
      let request = RedirectRequest(
        method: head.method.rawValue, host: hosts.count == 1 ? hosts[0] : nil, target: head.uri, sender: sender)
      let hasBody = head.method != .HEAD
      redirect.receive((request, { @Sendable page in Self.write(page, hasBody, to: channel) }), on: channel)
    }
  }

  /// Sends the page and closes the connection. A response to HEAD has no body (RFC 9110, section 9.3.2).
  private static func write(_ page: RedirectPage, _ hasBody: Bool, to channel: any Channel) {
    let body = ByteBuffer(string: page.html)
    var headers = HTTPHeaders([
      ("Content-Type", "text/html; charset=utf-8"), ("Content-Length", "\(body.readableBytes)"),
      ("Content-Security-Policy", page.policy), ("Cache-Control", "no-store"), ("Referrer-Policy", "no-referrer"),
      ("X-Content-Type-Options", "nosniff"), ("Connection", "close"),
    ])
    if let location = page.location { headers.add(name: "Location", value: location) }
    let head = HTTPResponseHead(
      version: .http1_1, status: HTTPResponseStatus(statusCode: page.status), headers: headers)
    channel.write(HTTPServerResponsePart.head(head), promise: nil)
    if hasBody { channel.write(HTTPServerResponsePart.body(.byteBuffer(body)), promise: nil) }
    channel.writeAndFlush(HTTPServerResponsePart.end(nil)).whenComplete { _ in channel.close(promise: nil) }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(promise: nil)
  }
}
