@preconcurrency import Dispatch

/// Reports when the network may be back, without depending on a system service. `NetworkState` decides which
/// changes are worth a hint.
package enum NetworkWatch {
  /// Returns a stream of hints. Hints that arrive while nobody is waiting are merged into one. The stream finishes
  /// immediately if the kernel does not provide a route socket.
  package static func hints() -> AsyncStream<Void> {
    let (stream, hints) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    guard let socket = RouteSocket() else {
      hints.finish()
      return stream
    }
    let queue = DispatchQueue(label: "hearth.network")
    let source = DispatchSource.makeReadSource(fileDescriptor: socket.descriptor, queue: queue)
    source.setEventHandler {
      switch socket.drain() {
      case nil: hints.finish()
      case false?: break
      case true?: hints.yield()
      }
    }
    // Keeps the descriptor open until the source is cancelled.
    source.setCancelHandler { withExtendedLifetime(socket) {} }
    source.resume()
    hints.onTermination = { _ in source.cancel() }
    return stream
  }
}
