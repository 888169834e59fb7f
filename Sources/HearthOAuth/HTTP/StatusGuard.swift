import NIOCore
import NIOHTTP1

/// Fails a connection whose server responds with a status below 100.
///
/// The HTTP client takes such a response for an informational one. Informational responses have no end, and the end of
/// this one would stop the whole process.
final class StatusGuard: ChannelInboundHandler {
  typealias InboundIn = HTTPClientResponsePart

  struct InvalidStatus: Error, CustomStringConvertible {
    let status: UInt
    var description: String { "the server answered with the status \(status), which does not exist" }
  }

  private var hasFailed = false
  private let overhead: OverheadGuard

  private init(_ overhead: OverheadGuard) {
    self.overhead = overhead
  }

  /// Adds guards before the parser, and between it and the client's own handler, of a new HTTP/1.1 connection.
  static func attach(to channel: any Channel) -> EventLoopFuture<Void> {
    channel.eventLoop.makeCompletedFuture {
      let pipeline = channel.pipeline.syncOperations
      let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
      let overhead = OverheadGuard()
      try pipeline.addHandler(overhead, position: .before(decoder))
      try pipeline.addHandler(StatusGuard(overhead), position: .after(decoder))
    }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !hasFailed else { return }
    let part = unwrapInboundIn(data)
    overhead.found(part)
    if case .head(let head) = part, head.status.code < 100 {
      hasFailed = true
      // On this the client fails the request and closes the connection.
      context.fireErrorCaught(InvalidStatus(status: head.status.code))
    } else {
      context.fireChannelRead(data)
    }
  }
}
