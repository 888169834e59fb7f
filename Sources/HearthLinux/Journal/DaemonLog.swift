import Logging

/// Where the daemon's log goes: the journal where standard error is the journal, else lines on standard error.
package enum DaemonLog {
  /// Sets the handlers of every logger made from now on. Once a process, before the first logger.
  package static func bootstrap(threshold: LogThreshold) {
    if Journal.isStandardError() {
      LoggingSystem.bootstrap { _ in JournalLogHandler(threshold: threshold, bound: .shared) }
    } else {
      LoggingSystem.bootstrap { _ in PlainLogHandler(threshold: threshold, bound: .shared) }
    }
  }

  /// Reports what was left out of the log and not told of yet, before the process ends.
  package static func finish() {
    let threshold = LogThreshold(.info)
    let handler: any ThresholdLogHandler =
      Journal.isStandardError() ? JournalLogHandler(threshold: threshold) : PlainLogHandler(threshold: threshold)
    LogBound.shared.flush { handler.write($0.record) }
  }
}
