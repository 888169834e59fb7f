import HearthCore
package import Logging

/// Sends log records to the systemd journal: upper-case metadata as fields, and the MESSAGE_ID of HEARTH_EVENT.
package struct JournalLogHandler: ThresholdLogHandler {
  package typealias Sink = @Sendable ([(name: String, value: String)]) -> Void

  package var metadata: Logger.Metadata = [:]
  package var metadataProvider: Logger.MetadataProvider?
  package var ownLevel: Logger.Level?
  package let threshold: LogThreshold
  package let bound: LogBound
  private let sink: Sink

  package init(threshold: LogThreshold, bound: LogBound = LogBound(), sink: @escaping Sink = Journal.send) {
    self.threshold = threshold
    self.bound = bound
    self.sink = sink
  }

  package func write(_ record: LogRecord) {
    var fields: [(name: String, value: String)] = [
      ("MESSAGE", record.message), ("PRIORITY", String(record.level.priority)), ("SYSLOG_IDENTIFIER", "hearthd"),
    ]
    // Every record names its event, so that a filter for events misses none.
    let name = record["HEARTH_EVENT"]
    if name == nil { fields.append(("HEARTH_EVENT", EventName.daemonNotice.rawValue)) }
    if let id = EventName(rawValue: name ?? EventName.daemonNotice.rawValue)?.messageID {
      fields.append(("MESSAGE_ID", id))
    }
    sink(fields + record.fields)
  }
}

extension Logger.Level {
  /// The syslog priority (RFC 5424, section 6.2.1).
  fileprivate var priority: Int {
    switch self {
    case .trace, .debug: 7
    case .info: 6
    case .notice: 5
    case .warning: 4
    case .error: 3
    case .critical: 2
    }
  }
}
