import Glibc
import NIOCore

/// Stops accepting connections for 200 ms after the process has run out of descriptors or memory. Retrying immediately
/// would waste CPU time.
///
/// NIO's `AcceptBackoffHandler` does not help if the first accept of an event loop iteration fails, because the channel
/// stays registered for reading and is notified of the same connection again and again.
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
