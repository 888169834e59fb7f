import Glibc
import NIOCore

/// Accepts nothing for a while after a connection could not be accepted: without descriptors or memory, trying again at
/// once would take a processor.
///
/// NIO's own `AcceptBackoffHandler` does not help where the first accept of a turn fails: the channel stays registered
/// for reading then, and is told of the same connection again and again.
final class AcceptPause: ChannelInboundHandler {
  typealias InboundIn = Channel

  private static let length = TimeAmount.milliseconds(200)

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard let code = (error as? IOError)?.errnoCode, [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(code)
    else { return context.fireErrorCaught(error) }
    let channel = context.channel
    try? channel.syncOptions?.setOption(.autoRead, value: false)
    context.eventLoop.assumeIsolated().scheduleTask(in: Self.length) {
      try? channel.syncOptions?.setOption(.autoRead, value: true)
    }
  }
}
