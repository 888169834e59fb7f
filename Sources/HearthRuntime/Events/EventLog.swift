import HearthCore
package import Logging

/// Writes events to the log. Where stderr is the journal, the upper-case metadata become fields of the record.
package struct EventLog: Sendable {
  private let logger: Logger

  package init(logger: Logger) {
    self.logger = logger
  }

  package func record(_ event: Event) {
    for record in event.publication.records {
      var metadata: Logger.Metadata = ["HEARTH_EVENT": "\(record.name.rawValue)"]
      if let account = record.account { metadata["HEARTH_ACCOUNT"] = "\(account)" }
      for (name, value) in record.fields {
        if let value { metadata[name] = "\(value)" }
      }
      logger.log(level: record.level, "\(record.message)", metadata: metadata)
    }
  }
}
