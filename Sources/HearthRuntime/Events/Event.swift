import HearthControl
package import HearthCore
package import Logging

/// Everything that Hearth publishes to subscribers, in the journal or both.
package enum Event: Sendable {
  case started(version: String)
  case stopping(version: String)
  case reloaded(version: String)
  /// The configuration cannot be used, for this reason (a sentence).
  case configurationRefused(String)
  /// An event of a session, with the status after it.
  case session(SessionEvent, SessionStatus)
  case outbox(OutboxEvent)
}

extension Event {
  var publication: Publication {
    switch self {
    case .started(let version):
      Self.daemon(.daemonStarted, .info, "Hearth \(version) is ready.", ["HEARTH_VERSION": version])
    case .stopping(let version):
      Self.daemon(.daemonStopping, .info, "Hearth is stopping.", ["HEARTH_VERSION": version])
    case .reloaded(let version):
      Self.daemon(
        .daemonReloaded, .info, "The configuration was read again.", ["HEARTH_VERSION": version],
        notification: EventNotification(name: .daemonReloaded, topic: .daemon))
    case .configurationRefused(let message): Self.daemon(.daemonConfigurationRefused, .error, message)
    case .session(let event, let status): event.publication(status)
    case .outbox(let event): event.publication
    }
  }

  private static func daemon(
    _ name: EventName, _ level: Logger.Level, _ message: String, _ fields: JournalRecord.Fields = [:],
    notification: EventNotification? = nil
  ) -> Publication {
    Publication(
      records: [JournalRecord(name: name, level: level, message: message, fields: fields)], notification: notification)
  }
}

/// How an event is published.
struct Publication {
  var records: [JournalRecord] = []
  /// The notification, or `nil` if the event only goes to the journal.
  var notification: EventNotification?
  /// Whether subscribers receive the session's status even if it looks the same, because another grant is in use.
  var sendsStatus = false
}

/// One record of the journal (contract, section 7).
struct JournalRecord {
  /// The fields of a record. Values that are `nil` are left out.
  typealias Fields = KeyValuePairs<String, String?>

  let name: EventName
  let level: Logger.Level
  let message: String
  var account: AccountName?
  var fields: Fields = [:]
}

/// The notification to subscribers (contract, section 5), before it has a number and an address.
struct EventNotification {
  let name: EventName
  let topic: EventTopic
  /// The account, or `nil` if the event is about none. Then every subscriber of the topic receives it.
  var account: AccountName?
  /// The parameters, encoded only if there is a subscriber to receive them.
  var params: any WireValue = Empty()
}

/// Writes events to the log. If stderr is the journal, upper-case metadata become fields of the record.
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
