import NIOCore
import NIOHTTP1

/// Fails a connection whose server answers with a status below 100.
///
/// The client takes such an answer for an informational one, and its end, which informational ones have not, would stop
/// the whole process.
final class StatusGuard: ChannelInboundHandler {
  typealias InboundIn = HTTPClientResponsePart

  /// The status that is none.
  struct Refusal: Error, CustomStringConvertible {
    let status: UInt
    var description: String { "the server answered with the status \(status), which does not exist" }
  }

  private var isShut = false

  /// Puts a guard between the parser and the client's own handler of a new HTTP/1.1 connection.
  static func attach(to channel: any Channel) -> EventLoopFuture<Void> {
    channel.eventLoop.makeCompletedFuture {
      let pipeline = channel.pipeline.syncOperations
      let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
      try pipeline.addHandler(StatusGuard(), position: .after(decoder))
    }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !isShut else { return }
    if case .head(let head) = unwrapInboundIn(data), head.status.code < 100 {
      isShut = true
      // On this the client fails the request and closes the connection.
      context.fireErrorCaught(Refusal(status: head.status.code))
    } else {
      context.fireChannelRead(data)
    }
  }
}
