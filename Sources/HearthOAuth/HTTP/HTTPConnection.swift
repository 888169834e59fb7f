import NIOCore
import NIOHTTP1
import NIOSSL

/// An open HTTP/1.1 connection that carries one request at a time. Used only on its event loop.
final class HTTPConnection: ChannelDuplexHandler {
  typealias InboundIn = HTTPClientResponsePart
  typealias OutboundIn = Never
  typealias OutboundOut = HTTPClientRequestPart

  /// A reference that other threads can use to reach a connection.
  struct Reference: Sendable {
    let channel: any Channel
    let handler: NIOLoopBound<HTTPConnection>

    func onLoop(_ action: @escaping @Sendable (HTTPConnection) -> Void) {
      channel.eventLoop.execute { action(handler.value) }
    }
  }

  private struct Current {
    let exchange: HTTPExchange
    /// Whether the end of the request has been written.
    var isSent = false
    /// Whether the response's head means that the server does not want the rest of the request's body.
    var isRefused = false
    /// Whether the server will keep the connection open after the response.
    var isKept = false
    var hasHead = false
    /// Whether the response is complete but the request's body is not. A server that reports success early may still
    /// need the rest of the body, so Hearth keeps sending.
    var isAnswered = false

    /// Whether a complete response ends the exchange.
    var mayEnd: Bool { isSent || isRefused || exchange.isUpload }
  }

  /// Maximum size of a piece of the body, in bytes. Sending the body in pieces shows whether the upload makes progress.
  private static let pieceSize = 16 << 10

  private let overhead: OverheadGuard
  /// Called when the connection is ready for another request.
  private let isFree: (HTTPConnection) -> Void
  private var context: ChannelHandlerContext?
  private var current: Current?
  private var isPaused = false
  private var owesRead = false
  private var closing: Scheduled<Void>?

  private init(_ overhead: OverheadGuard, isFree: @escaping (HTTPConnection) -> Void) {
    (self.overhead, self.isFree) = (overhead, isFree)
  }

  static func add(
    to channel: any Channel, isFree: @escaping (HTTPConnection) -> Void
  ) throws -> HTTPConnection {
    let connection = HTTPConnection(OverheadGuard(), isFree: isFree)
    let pipeline = channel.pipeline.syncOperations
    try pipeline.addHandler(connection.overhead)
    var encoder = HTTPRequestEncoder.Configuration()
    // `HTTPSender` sets the framing headers, because the method does not always determine whether there is a body.
    encoder.automaticallySetFramingHeaders = false
    try pipeline.addHTTPClientHandlers(encoderConfiguration: encoder)
    try pipeline.addHandler(connection)
    return connection
  }

  var reference: Reference? {
    context.map { Reference(channel: $0.channel, handler: NIOLoopBound(self, eventLoop: $0.eventLoop)) }
  }

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  // MARK: - The request

  /// Starts the request. Returns false if the connection is closed or in use.
  func start(_ exchange: HTTPExchange) -> Bool {
    guard let context, context.channel.isActive, current == nil, let reference else { return false }
    guard let message = exchange.leaves(on: reference) else {
      isFree(self)
      return true
    }
    closing?.cancel()
    current = Current(exchange: exchange)
    context.write(wrapOutboundOut(.head(message.head)), promise: nil)
    if let body = message.body {
      writeNext(of: body, of: exchange)
    } else {
      context.flush()
      exchange.began()
    }
    return true
  }

  func close(unlessUsedWithin time: TimeAmount) {
    closing?.cancel()
    closing = context?.eventLoop.assumeIsolated().scheduleTask(in: time) { [weak self] in
      self?.context?.close(promise: nil)
    }
  }

  private func writeNext(of body: ByteBuffer, of exchange: HTTPExchange) {
    var rest = body
    guard let piece = rest.readSlice(length: min(rest.readableBytes, Self.pieceSize)) else { return }
    let isLast = rest.readableBytes == 0
    write(piece, isLast: isLast, of: exchange) { [rest] in
      if !isLast { self.writeNext(of: rest, of: exchange) }
    }
  }

  /// Writes a piece of the body and calls `done` once the kernel has accepted it.
  func write(_ piece: ByteBuffer, isLast: Bool, of exchange: HTTPExchange, done: @escaping () -> Void = {}) {
    guard let context, let current, current.exchange === exchange, !current.isSent, !current.isRefused else { return }
    if piece.readableBytes > 0 {
      let promise = context.eventLoop.makePromise(of: Void.self)
      promise.futureResult.assumeIsolated().whenSuccess {
        exchange.sent(piece.readableBytes)
        done()
      }
      context.write(wrapOutboundOut(.body(.byteBuffer(piece))), promise: promise)
    }
    if isLast {
      self.current?.isSent = true
      let promise = context.eventLoop.makePromise(of: Void.self)
      promise.futureResult.assumeIsolated().whenSuccess { self.sentAll(of: exchange) }
      context.write(wrapOutboundOut(.end(nil)), promise: promise)
    }
    context.flush()
  }

  private func sentAll(of exchange: HTTPExchange) {
    guard let current, current.exchange === exchange else { return }
    if current.isAnswered { return complete(isKept: current.isKept) }
    if current.hasHead { exchange.limitResponse() }
  }

  // MARK: - The response

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let part = unwrapInboundIn(data)
    overhead.found(part)
    guard let current else { return context.close(promise: nil) }
    switch part {
    case .head(let head):
      // The parser skips informational responses itself but accepts status codes below 100, which are invalid.
      guard head.status.code >= 100 else {
        return fail(Reason("the server returned the invalid status \(head.status.code)"))
      }
      let isRefusal = current.exchange.received(head)
      self.current?.hasHead = true
      self.current?.isKept = head.isKeepAlive
      self.current?.isRefused = !current.isSent && isRefusal
      // The bytes after this response belong to another protocol, so the connection cannot be reused.
      if head.status == .switchingProtocols { return complete(isKept: false) }
      if self.current?.mayEnd == true { current.exchange.limitResponse() }
    case .body(let piece): isPaused = !current.exchange.received(piece, mayEnd: current.mayEnd)
    case .end:
      if current.mayEnd { return complete(isKept: current.isKept && current.isSent) }
      self.current?.isAnswered = true
      current.exchange.answered()
    }
  }

  private func complete(isKept: Bool) {
    let exchange = current?.exchange
    current = nil
    readOn()
    // Frees the connection first, so that the caller's next request can reuse it.
    if isKept { isFree(self) } else { context?.close(promise: nil) }
    exchange?.end(nil)
  }

  private func fail(_ error: any Error) {
    let exchange = current?.exchange
    current = nil
    exchange?.end(error)
    context?.close(promise: nil)
  }

  /// Closes the connection if it carries this request.
  func abandon(_ exchange: HTTPExchange) {
    guard current?.exchange === exchange else { return }
    current = nil
    context?.close(promise: nil)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    switch error {
    // The TCP connection was closed without a TLS closure alert, or just before TLS started.
    case NIOSSLError.uncleanShutdown, ChannelError.ioOnClosedChannel: fail(Reason.closed)
    default: fail(error)
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    fail(Reason.closed)
    context.fireChannelInactive()
  }

  func read(context: ChannelHandlerContext) {
    if isPaused { owesRead = true } else { context.read() }
  }

  func readOn() {
    isPaused = false
    guard owesRead else { return }
    owesRead = false
    context?.read()
  }
}
