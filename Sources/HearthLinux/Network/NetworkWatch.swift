@preconcurrency import Dispatch

/// Hints that the network may be back, at most one every few seconds (`NetworkPicture` says for what, `HintPace` how
/// often). It needs no other service.
package enum NetworkWatch {
  /// Ends at once where the kernel gives no such socket.
  package static func hints() -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    let queue = DispatchQueue(label: "hearth.network")
    guard let socket = RouteSocket() else {
      continuation.finish()
      return stream
    }
    let source = DispatchSource.makeReadSource(fileDescriptor: socket.descriptor, queue: queue)
    let listener = RouteListener(socket: socket, queue: queue, hints: continuation)
    source.setEventHandler { listener.listen() }
    // Until then it holds the socket open.
    source.setCancelHandler { listener.end() }
    source.resume()
    continuation.onTermination = { _ in source.cancel() }
    return stream
  }
}

/// Gives the hints.
///
/// `@unchecked Sendable`: all of it is touched on its queue alone.
private final class RouteListener: @unchecked Sendable {
  private var socket: RouteSocket?
  private let queue: DispatchQueue
  private let hints: AsyncStream<Void>.Continuation
  private var pace = HintPace()

  init(socket: consuming RouteSocket, queue: DispatchQueue, hints: AsyncStream<Void>.Continuation) {
    self.socket = consume socket
    self.queue = queue
    self.hints = hints
  }

  func listen() {
    switch socket?.drain() {
    case nil: hints.finish()
    case false?: break
    case true?: news()
    }
  }

  func end() { socket = nil }

  private func news() {
    switch pace.news(at: Self.now) {
    case .hint: hints.yield()
    case .nothing: break
    case .wait(let end):
      let wait = end - Self.now
      queue.asyncAfter(deadline: .now() + .nanoseconds(Int(wait / .nanoseconds(1)))) { [self] in
        pace.due(at: Self.now)
        hints.yield()
      }
    }
  }

  private static var now: Duration { .nanoseconds(Int64(clamping: DispatchTime.now().uptimeNanoseconds)) }
}
