import Glibc
package import HearthCore
package import Logging

/// Writes log records as lines for people:
/// `2026-11-21T10:00:00.000Z notice   session.changed work: Signed in. (state=authenticated)`
package struct PlainLogHandler: ThresholdLogHandler {
  package var metadata: Logger.Metadata = [:]
  package var metadataProvider: Logger.MetadataProvider?
  package var ownLevel: Logger.Level?
  package let threshold: LogThreshold
  package let bound: LogBound
  private let now: @Sendable () -> Timestamp
  private let sink: @Sendable (String) -> Void

  package init(
    threshold: LogThreshold, bound: LogBound = LogBound(),
    now: @escaping @Sendable () -> Timestamp = PlainLogHandler.wallClock,
    write: @escaping @Sendable (String) -> Void = PlainLogHandler.writeToStandardError
  ) {
    self.threshold = threshold
    self.bound = bound
    self.now = now
    sink = write
  }

  package func write(_ record: LogRecord) {
    let level = record.level.rawValue.padding(toWidth: 8)
    let subject = [record["HEARTH_EVENT"], record["HEARTH_ACCOUNT"]].compactMap { $0 }.joined(separator: " ")
    let details = record.fields.compactMap { field in
      field.name == "HEARTH_EVENT" || field.name == "HEARTH_ACCOUNT"
        ? nil : "\(PlainLogHandler.shortName(field.name))=\(field.value)"
    }
    let line =
      "\(now()) \(level) " + (subject.isEmpty ? "" : "\(subject): ") + record.message
      + (details.isEmpty ? "" : " (\(details.joined(separator: " ")))")
    sink(line + "\n")
  }

  private static func shortName(_ field: String) -> String {
    (field.hasPrefix("HEARTH_") ? field.dropFirst("HEARTH_".count) : field[...]).lowercased()
  }

  package static func wallClock() -> Timestamp {
    Timestamp(milliseconds: ClockReading.nanoseconds(CLOCK_REALTIME) / 1_000_000)
  }

  /// In one call, so that lines of several threads do not mix.
  package static func writeToStandardError(_ line: String) {
    let bytes = Array(line.utf8)
    _ = Glibc.write(STDERR_FILENO, bytes, bytes.count)
  }
}

extension String {
  fileprivate func padding(toWidth width: Int) -> String {
    self + String(repeating: " ", count: Swift.max(0, width - count))
  }
}
