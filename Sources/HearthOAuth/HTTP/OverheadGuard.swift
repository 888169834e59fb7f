import NIOCore
import NIOHTTP1

/// Fails a connection whose server sends mostly overhead, such as informational responses, chunk extensions or
/// trailers. Otherwise, such a server could keep the CPU busy until a timeout.
final class OverheadGuard: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  /// Maximum overhead in bytes, several times the header size that the parser accepts.
  static let limit = 256 << 10
  /// Overhead allowed per byte of content, in bytes, because even chunks with one byte of content are legal.
  private static let allowance = 16

  /// The overhead of this response so far, in bytes, minus the allowance for its content.
  private var overhead = 0

  /// Updates the overhead after the parser has found a part of the response.
  func found(_ part: HTTPClientResponsePart) {
    switch part {
    case .head: break
    case .body(let content): overhead = max(0, overhead - content.readableBytes * Self.allowance)
    case .end: overhead = 0
    }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard overhead <= Self.limit else { return }
    overhead += unwrapInboundIn(data).readableBytes
    context.fireChannelRead(data)
    guard overhead > Self.limit else { return }
    context.fireErrorCaught(
      HTTPExchange.Cancelled(reason: "the response has more than \(Self.limit >> 10) KiB of protocol overhead"))
  }
}
