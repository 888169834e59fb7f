package import Logging

/// A log handler whose level is the configured one, which a reload may change, unless it is given a level of its own.
package protocol ThresholdLogHandler: LogHandler {
  var ownLevel: Logger.Level? { get set }
  var threshold: LogThreshold { get }
}

extension ThresholdLogHandler {
  package var logLevel: Logger.Level {
    get { ownLevel ?? threshold.level }
    set { ownLevel = newValue }
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
