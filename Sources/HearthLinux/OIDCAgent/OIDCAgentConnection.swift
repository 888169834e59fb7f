import HearthControl
import NIOCore

/// One client of oidc-agent, from its connection to its answer, after which it is closed: clients wait for that.
///
/// `@unchecked Sendable`: all state is used on the channel's event loop only; methods that other threads call hop there
/// first.
final class OIDCAgentConnection: ChannelInboundHandler, @unchecked Sendable {
  typealias InboundIn = ByteBuffer

  private let channel: any Channel
  private let requested: @Sendable (OIDCAgentConnection, OIDCAgentRequest) -> Void
  private let refusal: OIDCAgentAnswer?
  private var exchange = AgentExchange()
  private var deadline: Scheduled<Void>?
  /// The request is there, or never will be.
  private var isInputOver = false

  /// Closes where the request has not come within `time`. `refusal`: what everybody is answered who cannot be served.
  init(
    _ channel: any Channel, within time: Duration, refusal: OIDCAgentAnswer?,
    requested: @escaping @Sendable (OIDCAgentConnection, OIDCAgentRequest) -> Void
  ) {
    self.channel = channel
    self.refusal = refusal
    self.requested = requested
    deadline = channel.eventLoop.scheduleTask(in: TimeAmount(time)) { channel.close(promise: nil) }
  }

  /// Sends the answer and closes. May be called on any thread.
  func finish(with answer: OIDCAgentAnswer) {
    channel.eventLoop.execute { [self] in
      endInput()
      let channel = channel
      channel.writeAndFlush(ByteBuffer(bytes: exchange.written(answer))).whenComplete { _ in channel.close(promise: nil)
      }
    }
  }

  /// Closes where the request has not come.
  func shutDown() {
    channel.eventLoop.execute { [self] in
      if !isInputOver { channel.close(promise: nil) }
    }
  }

  func channelActive(context: ChannelHandlerContext) {
    if let refusal { finish(with: refusal) }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let bytes = unwrapInboundIn(data)
    defer { bytes.wipe() }
    guard !isInputOver else { return }
    switch exchange.receive(bytes.readableBytesView) {
    case .more: break
    case .send(let text): channel.writeAndFlush(ByteBuffer(string: text), promise: nil)
    case .failure(let answer): finish(with: answer)
    case .request(let request):
      endInput()
      requested(self, request)
    }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    guard case .some(.inputClosed) = event as? ChannelEvent, !isInputOver else { return }
    if exchange.isAtStart {
      context.close(promise: nil)
    } else {
      finish(with: .malformed("The request ends in the middle."))
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(promise: nil)
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    endInput()
  }

  private func endInput() {
    isInputOver = true
    deadline?.cancel()
    deadline = nil
  }
}
