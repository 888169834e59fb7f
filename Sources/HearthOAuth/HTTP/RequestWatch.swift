import NIOCore
import NIOHTTP1
import Synchronization

/// Knows of each request whether anything of it was handed to a connection, so that "surely not sent" is a fact.
///
/// A request carries its ticket in a header that the connection takes off again. One whose sender has given up is not
/// let through any more.
final class RequestWatch: Sendable {
  static let ticketHeader = "hearth-ticket"

  private struct State {
    var next: UInt64 = 0
    var unsent: Set<UInt64> = []
  }

  private let state = Mutex(State())

  func issueTicket() -> UInt64 {
    state.withLock { state in
      state.next += 1
      state.unsent.insert(state.next)
      return state.next
    }
  }

  /// Ends the ticket; true where its request was sent, at least in part. Nothing of it is sent after this.
  func redeem(_ ticket: UInt64) -> Bool {
    state.withLock { $0.unsent.remove(ticket) == nil }
  }

  /// Puts the watch into the pipeline of a new HTTP/1.1 connection.
  func attach(to channel: any Channel) -> EventLoopFuture<Void> {
    channel.eventLoop.makeCompletedFuture {
      let pipeline = channel.pipeline.syncOperations
      let encoder = try pipeline.handler(type: HTTPRequestEncoder.self)
      try pipeline.addHandler(Gate(watch: self), position: .after(encoder))
    }
  }

  fileprivate func passes(_ head: HTTPRequestHead) -> Bool {
    guard let ticket = head.headers.first(name: Self.ticketHeader).flatMap(UInt64.init) else { return false }
    return state.withLock { $0.unsent.remove(ticket) != nil }
  }
}

/// Lets request heads with a live ticket through; on others it drops everything and closes the connection.
private final class Gate: ChannelOutboundHandler {
  typealias OutboundIn = HTTPClientRequestPart
  typealias OutboundOut = HTTPClientRequestPart

  private let watch: RequestWatch
  private var isShut = false

  init(watch: RequestWatch) {
    self.watch = watch
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    if isShut {
      promise?.fail(ChannelError.ioOnClosedChannel)
      return
    }
    guard case .head(var head) = unwrapOutboundIn(data) else {
      context.write(data, promise: promise)
      return
    }
    guard watch.passes(head) else {
      isShut = true
      promise?.fail(ChannelError.ioOnClosedChannel)
      // Not within the write: the client's own handler is still in the middle of it.
      let channel = context.channel
      channel.eventLoop.execute { channel.close(promise: nil) }
      return
    }
    head.headers.remove(name: RequestWatch.ticketHeader)
    context.write(wrapOutboundOut(.head(head)), promise: promise)
  }
}
