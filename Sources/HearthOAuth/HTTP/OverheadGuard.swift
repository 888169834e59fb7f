import NIOCore
import NIOHTTP1

/// Fails a connection if its server sends mostly overhead: informational responses, chunk extensions or trailers.
/// Nothing else limits their number, and reading them would keep a processor busy for as long as the server likes.
final class OverheadGuard: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  /// In bytes; several times what the parser accepts as the header of a response.
  static let limit = 256 << 10
  /// The overhead that each byte of content allows, since a chunk may hold a single byte.
  private static let allowance = 16

  struct TooMuch: Error, CustomStringConvertible {
    var description: String {
      "it sends more than \(OverheadGuard.limit >> 10) KiB of overhead with its answer"
    }
  }

  /// The overhead of this response so far, in bytes, minus what its content allows.
  private var overhead = 0

  /// Notes a part that the parser has found.
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
