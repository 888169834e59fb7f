import Glibc
import TestSupport

extension Daemon {
  /// Tells it to stop, and returns once it takes no new calls: it refuses them, or has closed the connection. Something
  /// has to be under way that it waits for.
  func beginStopping() throws {
    let link = try RawLink(socket)
    _ = try link.ask("daemon.getInfo", "{}")
    process?.signal(SIGTERM)
    try eventually("the daemon is stopping") {
      link.send(RawLink.line("daemon.getInfo", "{}"))
      return try link.receive()?.contains("-32000") ?? true
    }
  }
}
