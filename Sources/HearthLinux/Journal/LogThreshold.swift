package import Logging
import Synchronization

/// The level from which records are kept, shared by every logger of the process so that a reload can move it.
package final class LogThreshold: Sendable {
  private let stored: Mutex<Logger.Level>

  package init(_ level: Logger.Level) {
    stored = Mutex(level)
  }

  package var level: Logger.Level {
    get { stored.withLock { $0 } }
    set { stored.withLock { $0 = newValue } }
  }
}
