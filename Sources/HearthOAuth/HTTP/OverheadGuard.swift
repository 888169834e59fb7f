import NIOCore
import NIOHTTP1

/// Fails a connection whose server sends little else than what surrounds content: informational responses, extensions of
/// chunks, or trailers. Nothing else bounds their number, and reading them keeps a processor busy for as long as the
/// server likes.
final class OverheadGuard: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  /// In bytes; several times what the parser takes for the header of a response.
  static let limit = 256 << 10
  /// One byte of content allows for so many around it, since a chunk may be as short as that.
  private static let allowance = 16

  struct TooMuch: Error, CustomStringConvertible {
    var description: String {
      "it sends more than \(OverheadGuard.limit >> 10) KiB around the content of its answer"
    }
  }

  /// What has been read of this response, in bytes, less what its content allows for.
  private var overhead = 0

  /// The parser has found this in what was read.
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
    if overhead > Self.limit { context.fireErrorCaught(TooMuch()) }
  }
}
