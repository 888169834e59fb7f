import CLinux
@preconcurrency import Dispatch
import Glibc

/// Hints that the network may be back: an address or a route was added (rtnetlink(7)). It needs no other service.
package enum NetworkWatch {
  /// Several changes may come as one hint. Ends at once where the kernel gives no such socket.
  package static func hints() -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    let descriptor = hearth_open_route_socket()
    guard descriptor >= 0 else {
      continuation.finish()
      return stream
    }
    let source = DispatchSource.makeReadSource(
      fileDescriptor: descriptor, queue: DispatchQueue(label: "hearth.network"))
    source.setEventHandler {
      switch hearth_take_route_news(descriptor) {
      case 0: break
      case 1: continuation.yield()
      default: continuation.finish()
      }
    }
    source.setCancelHandler { close(descriptor) }
    source.resume()
    continuation.onTermination = { _ in source.cancel() }
    return stream
  }
}
