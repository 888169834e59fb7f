import HearthControl
package import HearthCore
package import Logging

/// Everything that is published to subscribers, in the journal or both.
package enum Event: Sendable {
  case started(version: String)
  case stopping(version: String)
  case reloaded(version: String)
  /// The configuration cannot be used; the sentence says why.
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
  /// It is nil if the event goes to the journal alone.
  var notification: EventNotification?
  /// Subscribers are sent the session's status even if it looks as before, since another grant has replaced the one
  /// before.
  var sendsStatus = false
}

/// One record of the journal (contract, section 7).
struct JournalRecord {
  /// Values that are nil are left out.
  typealias Fields = KeyValuePairs<String, String?>

  let name: EventName
  let level: Logger.Level
  let message: String
  var account: AccountName?
  var fields: Fields = [:]
}

/// What subscribers are sent (contract, section 5), before it is numbered and addressed.
struct EventNotification {
  let name: EventName
  let topic: EventTopic
  /// It is nil if the event is about no account. Every subscriber of the topic is sent it then.
  var account: AccountName?
  /// They are written as JSON if there is a subscriber to send them to.
  var params: any WireValue = Empty()
}

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
