import CLinux
import Glibc

/// The kernel's news of links, addresses and routes, in the network namespace of the thread that opens it. Not to be
/// used by two threads at a time.
struct RouteSocket: ~Copyable {
  let descriptor: Int32
  private var picture = NetworkPicture()
  /// What is still to be asked for: the links before what lies on them (RTM_GETLINK, RTM_GETADDR, RTM_GETROUTE).
  private var questions: ArraySlice<UInt16> = [18, 22, 26]
  private var buffer = [UInt8](repeating: 0, count: 32 << 10)

  /// Nil where the kernel gives none.
  init?() {
    descriptor = hearth_open_route_socket()
    guard descriptor >= 0 else { return nil }
    askForMore()
  }

  deinit { close(descriptor) }

  /// Takes what has been told, without waiting: whether it is worth a hint. Nil where nothing will be told any more.
  mutating func drain() -> Bool? {
    var isNews = false
    while true {
      let count = recv(descriptor, &buffer, buffer.count, 0)
      if count >= 0 {
        for (message, isListed) in RouteMessage.read(buffer[..<count]) {
          if picture.take(message, isListed: isListed) { isNews = true }
          if message == .listEnded { askForMore() }
        }
        continue
      }
      switch errno {
      case EINTR: continue
      case EAGAIN: return isNews
      // Messages were lost: any of them may have been good news.
      case ENOBUFS:
        picture.forget()
        isNews = true
      default: return nil
      }
    }
  }

  private mutating func askForMore() {
    if let question = questions.popFirst() { _ = hearth_ask_for_routes(descriptor, question) }
  }
}
