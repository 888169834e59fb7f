package import Logging

/// A log handler whose level is the configured one, which a reload may change, unless it is given a level of its own; and
/// whose records are bounded.
package protocol ThresholdLogHandler: LogHandler {
  var ownLevel: Logger.Level? { get set }
  var threshold: LogThreshold { get }
  var bound: LogBound { get }
  /// Writes a record that is within the bound.
  func write(_ record: LogRecord)
}

extension ThresholdLogHandler {
  package var logLevel: Logger.Level {
    get { ownLevel ?? threshold.level }
    set { ownLevel = newValue }
  }

  package func log(event: LogEvent) {
    let record = LogRecord(event, metadata: allMetadata(with: event))
    guard bound.admits(record, report: { write($0.record) }) else { return }
    write(record)
  }

  package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  /// The event's metadata over the logger's over the provider's.
  func allMetadata(with event: LogEvent) -> Logger.Metadata {
    (metadataProvider?.get() ?? [:])
      .merging(metadata) { _, own in own }
      .merging(event.metadata ?? [:]) { _, given in given }
  }
}
