import CLinux
@preconcurrency import Dispatch
import Glibc

/// Reports when the network may be back, without depending on a system service. Reads the kernel's messages about links,
/// addresses and routes in the network namespace of the thread that opens the socket. `NetworkState` decides which
/// changes are worth a hint.
///
/// `@unchecked Sendable` because only one thread uses it at a time.
package final class NetworkWatch: @unchecked Sendable {
  private let descriptor: Int32
  private var network = NetworkState()
  /// The lists to request, links first because the others refer to them (RTM_GETLINK, RTM_GETADDR, RTM_GETROUTE).
  private var requests: ArraySlice<UInt16> = [18, 22, 26]
  private var buffer = [UInt8](repeating: 0, count: 32 << 10)

  /// Returns a stream of hints. Hints that arrive while nobody is waiting are merged into one. The stream finishes
  /// immediately if the kernel does not provide a route socket.
  package static func hints() -> AsyncStream<Void> {
    let (stream, hints) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    guard let socket = NetworkWatch() else {
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

  /// Returns `nil` if the kernel does not provide such a socket.
  init?() {
    descriptor = hearth_open_route_socket()
    guard descriptor >= 0 else { return nil }
    requestNextList()
  }

  deinit { close(descriptor) }

  /// Reads all pending messages without blocking. Returns whether they are worth a hint, or `nil` if the socket has
  /// failed.
  func drain() -> Bool? {
    var isWorthHint = false
    while true {
      let count = recv(descriptor, &buffer, buffer.count, 0)
      if count >= 0 {
        for (message, isListed) in RouteMessage.read(buffer[..<count]) {
          if network.apply(message, isListed: isListed) { isWorthHint = true }
          if message == .listEnded { requestNextList() }
        }
        continue
      }
      switch errno {
      case EINTR: continue
      case EAGAIN: return isWorthHint
      // Messages were lost, and one of them may have been worth a hint.
      case ENOBUFS:
        network.reset()
        isWorthHint = true
      default: return nil
      }
    }
  }

  private func requestNextList() {
    if let request = requests.popFirst() { _ = hearth_ask_for_routes(descriptor, request) }
  }
}
