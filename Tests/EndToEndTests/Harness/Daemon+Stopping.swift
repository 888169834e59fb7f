import Glibc
import TestSupport

extension Daemon {
  /// Tells it to stop, and returns once it takes no more calls. Something has to be under way that it waits for.
  func beginStopping() throws {
    process?.signal(SIGTERM)
    try eventually("the daemon takes no more calls") { (try? call("daemon.getInfo")) == nil }
  }
}
