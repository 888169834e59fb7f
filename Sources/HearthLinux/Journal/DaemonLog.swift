import CSystemd
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
    LogBound.shared.flush(write)
  }

  /// Whether standard error is connected to the journal (systemd.exec(5), `$JOURNAL_STREAM`).
  package static let isJournal =
    getenv("JOURNAL_STREAM").map {
      isJournal(STDERR_FILENO, stream: String(cString: $0))
    } ?? false

  /// `stream` contains the device and inode numbers of the journal's stream, such as `8:12345`.
  static func isJournal(_ descriptor: Int32, stream: String) -> Bool {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return false }
    return stream == "\(status.st_dev):\(status.st_ino)"
  }

  private static func write(_ record: LogRecord) {
    guard !isJournal else { return send(record.journalFields) }
    let now = Timestamp(milliseconds: ClockReading.nanoseconds(CLOCK_REALTIME) / 1_000_000)
    writeToStandardError(record.line(at: now))
  }

  /// Sends one record and ignores failures (sd_journal_sendv(3)).
  private static func send(_ fields: [(name: String, value: String)]) {
    var bytes: [UInt8] = []
    let ends = fields.map { field in
      bytes.append(contentsOf: "\(field.name)=\(field.value)".utf8)
      return bytes.count
    }
    bytes.withUnsafeMutableBytes { buffer in
      var start = 0
      let vectors = ends.map { end in
        defer { start = end }
        return iovec(iov_base: buffer.baseAddress?.advanced(by: start), iov_len: end - start)
      }
      sd_journal_sendv(vectors, Int32(vectors.count))
    }
  }

  /// Writes the text with a single system call, so that lines from different threads do not mix.
  package static func writeToStandardError(_ text: String) {
    let bytes = Array(text.utf8)
    _ = Glibc.write(STDERR_FILENO, bytes, bytes.count)
  }
}
