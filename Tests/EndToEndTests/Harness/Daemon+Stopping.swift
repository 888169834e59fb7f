import Glibc
import TestSupport

extension Daemon {
  /// Tells the daemon to stop, and returns when it accepts no more calls. Something must be running that it waits for.
  func beginStopping() throws {
    process?.signal(SIGTERM)
    try eventually("the daemon takes no more calls") { (try? call("daemon.getInfo")) == nil }
  }
}
