import Glibc
import TestSupport

extension Daemon {
  /// Tells it to stop, and returns once it refuses new calls. Something has to be under way that it waits for.
  func beginStopping() throws {
    let link = try RawLink(socket)
    _ = try link.ask("daemon.getInfo", "{}")
    process?.signal(SIGTERM)
    try eventually("the daemon is stopping") { try link.ask("daemon.getInfo", "{}").contains("-32000") }
  }
}
