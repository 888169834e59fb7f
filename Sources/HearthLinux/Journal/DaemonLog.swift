import Glibc
import HearthCore
import Logging

/// The daemon's log, written to the journal if standard error goes there, and to standard error otherwise.
package enum DaemonLog {
  /// Sets the handler of all loggers. Must be called once, before any logger is created.
  package static func bootstrap(threshold: LogThreshold) {
    LoggingSystem.bootstrap { _ in BoundedLogHandler(threshold: threshold, bound: .shared) { write($0) } }
  }

  /// Logs the numbers of dropped records that have not been logged yet. Must be called before the process exits.
  package static func finish() {
    LogBound.shared.flush { write($0.record) }
  }

  private static let isJournal = Journal.isStandardError()

  private static func write(_ record: LogRecord) {
    guard !isJournal else { return Journal.send(record.journalFields) }
    let now = Timestamp(milliseconds: ClockReading.nanoseconds(CLOCK_REALTIME) / 1_000_000)
    writeToStandardError(record.line(at: now))
  }

  /// Writes the text with a single system call, so that lines from different threads do not mix.
  package static func writeToStandardError(_ text: String) {
    let bytes = Array(text.utf8)
    _ = Glibc.write(STDERR_FILENO, bytes, bytes.count)
  }
}
