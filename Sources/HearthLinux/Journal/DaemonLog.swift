import Glibc
import HearthCore
import Logging

/// The daemon's log: the journal if standard error is the journal, else lines on standard error.
package enum DaemonLog {
  /// Sets the handler of every logger that is created from now on. Must be called once, before the first logger is
  /// created.
  package static func bootstrap(threshold: LogThreshold) {
    LoggingSystem.bootstrap { _ in BoundedLogHandler(threshold: threshold, bound: .shared) { write($0) } }
  }

  /// Reports what was left out of the log but not reported yet, before the process ends.
  package static func finish() {
    LogBound.shared.flush { write($0.record) }
  }

  private static let isJournal = Journal.isStandardError()

  private static func write(_ record: LogRecord) {
    guard !isJournal else { return Journal.send(record.journalFields) }
    let now = Timestamp(milliseconds: ClockReading.nanoseconds(CLOCK_REALTIME) / 1_000_000)
    writeToStandardError(record.line(at: now))
  }

  /// Writes the text in one call, so that lines of several threads do not mix.
  package static func writeToStandardError(_ text: String) {
    let bytes = Array(text.utf8)
    _ = Glibc.write(STDERR_FILENO, bytes, bytes.count)
  }
}
