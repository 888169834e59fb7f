import CLinux
import Glibc

/// A socket for the kernel's messages about links, addresses and routes in the network namespace of the thread that
/// opens it.
///
/// `@unchecked Sendable` because only one thread uses it at a time.
final class RouteSocket: @unchecked Sendable {
  let descriptor: Int32
  private var network = NetworkState()
  /// The lists to request, links first because the others refer to them (RTM_GETLINK, RTM_GETADDR, RTM_GETROUTE).
  private var requests: ArraySlice<UInt16> = [18, 22, 26]
  private var buffer = [UInt8](repeating: 0, count: 32 << 10)

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
