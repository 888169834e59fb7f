@preconcurrency import Dispatch

/// Hints that the network may be back, at most one every three seconds. `NetworkState` decides which changes are worth
/// a hint. No other service of the system is needed.
package enum NetworkWatch {
  /// The stream ends at once where the kernel offers no such socket.
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
    // The descriptor must stay open until the source is cancelled.
    source.setCancelHandler { listener.end() }
    source.resume()
    continuation.onTermination = { _ in source.cancel() }
    return stream
  }
}

/// Reads the messages and yields the hints.
///
/// `@unchecked Sendable`: everything in it is used on its queue only.
private final class RouteListener: @unchecked Sendable {
  private var socket: RouteSocket?
  private let queue: DispatchQueue
  private let hints: AsyncStream<Void>.Continuation
  /// An address, a route and its sibling of the other family come shortly after each other.
  private var throttle = Throttle(interval: .seconds(3))

  init(socket: consuming RouteSocket, queue: DispatchQueue, hints: AsyncStream<Void>.Continuation) {
    self.socket = consume socket
    self.queue = queue
    self.hints = hints
  }

  func listen() {
    switch socket?.drain() {
    case nil: hints.finish()
    case false?: break
    case true?: changed()
    }
  }

  func end() { socket = nil }

  private func changed() {
    switch throttle.admit(at: Self.now) {
    case .pass: hints.yield()
    case .count: break
    case .countUntil(let end):
      let wait = end - Self.now
      queue.asyncAfter(deadline: .now() + .nanoseconds(Int(wait / .nanoseconds(1)))) { [self] in
        _ = throttle.release(at: Self.now)
        hints.yield()
      }
    }
  }

  private static var now: Duration { .nanoseconds(Int64(clamping: DispatchTime.now().uptimeNanoseconds)) }
}
