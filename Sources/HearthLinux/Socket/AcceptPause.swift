import Glibc
import NIOCore

/// Stops accepting for a while after a connection could not be accepted: without descriptors or memory, retrying at
/// once would keep a processor busy.
///
/// NIO's own `AcceptBackoffHandler` does not help if the first accept of a turn fails: the channel then stays
/// registered for reading, and is notified of the same connection again and again.
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
