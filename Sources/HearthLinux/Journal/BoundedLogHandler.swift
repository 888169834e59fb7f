package import Logging
import Synchronization

/// Writes records at or above the configured level, within a rate limit. Each logger can override the level.
struct BoundedLogHandler: LogHandler {
  var metadata: Logger.Metadata = [:]
  var metadataProvider: Logger.MetadataProvider?
  private var ownLevel: Logger.Level?
  private let threshold: LogThreshold
  private let bound: LogBound
  private let write: @Sendable (LogRecord) -> Void

  init(threshold: LogThreshold, bound: LogBound = LogBound(), write: @escaping @Sendable (LogRecord) -> Void) {
    self.threshold = threshold
    self.bound = bound
    self.write = write
  }

  var logLevel: Logger.Level {
    get { ownLevel ?? threshold.level }
    set { ownLevel = newValue }
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  /// The event's metadata overrides the logger's, which overrides the provider's.
  func log(event: LogEvent) {
    let metadata = (metadataProvider?.get() ?? [:])
      .merging(metadata) { _, own in own }
      .merging(event.metadata ?? [:]) { _, given in given }
    let record = LogRecord(event, metadata: metadata)
    if bound.admits(record, report: write) { write(record) }
  }
}

/// The lowest level that is logged. All loggers of the process share this object, so a reload can change the level.
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
