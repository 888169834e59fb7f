import Logging

/// Where the daemon's log goes: the journal where standard error is the journal, else lines on standard error.
package enum DaemonLog {
  /// Sets the handlers of every logger made from now on. Once a process, before the first logger.
  package static func bootstrap(threshold: LogThreshold) {
    if Journal.isStandardError() {
      LoggingSystem.bootstrap { _ in JournalLogHandler(threshold: threshold) }
    } else {
      LoggingSystem.bootstrap { _ in PlainLogHandler(threshold: threshold) }
    }
  }
}
