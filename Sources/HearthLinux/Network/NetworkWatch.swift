@preconcurrency import Dispatch

/// Hints that the network may be back. `NetworkState` decides which changes are worth one. Needs no other system
/// service.
package enum NetworkWatch {
  /// Hints that come while nobody waits are merged into one. The stream ends at once if the kernel offers no such
  /// socket.
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
    // The descriptor must stay open until the source is cancelled.
    source.setCancelHandler { withExtendedLifetime(socket) {} }
    source.resume()
    hints.onTermination = { _ in source.cancel() }
    return stream
  }
}
