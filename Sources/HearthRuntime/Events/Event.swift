import HearthControl
package import HearthCore
package import Logging

/// An event that Hearth publishes to subscribers, to the journal, or to both.
package enum Event: Sendable {
  case started, stopping, reloaded
  /// The configuration is invalid. The associated sentence explains why.
  case configurationRefused(String)
  /// A session event, with the session's status after it.
  case session(SessionEvent, SessionStatus)
  case outbox(OutboxEvent)
}

extension Event {
  var publication: Publication {
    switch self {
    case .started:
      Self.daemon(.daemonStarted, .info, "Hearth \(HearthVersion.text) is ready.", Self.version)
    case .stopping: Self.daemon(.daemonStopping, .info, "Hearth is stopping.", Self.version)
    case .reloaded:
      Self.daemon(
        .daemonReloaded, .info, "The configuration was reloaded.", Self.version,
        notification: EventNotification(name: .daemonReloaded, topic: .daemon))
    case .configurationRefused(let message): Self.daemon(.daemonConfigurationRefused, .error, message)
    case .session(let event, let status): event.publication(status)
    case .outbox(let event): event.publication
    }
  }

  private static let version: JournalRecord.Fields = ["HEARTH_VERSION": HearthVersion.text]

  private static func daemon(
    _ name: EventName, _ level: Logger.Level, _ message: String, _ fields: JournalRecord.Fields = [:],
    notification: EventNotification? = nil
  ) -> Publication {
    Publication(
      records: [JournalRecord(name: name, level: level, message: message, fields: fields)], notification: notification)
  }
}

/// The records and the notification that are published for an event.
struct Publication {
  var records: [JournalRecord] = []
  /// The notification for subscribers, or `nil` if the event has none of its own.
  var notification: EventNotification?
  /// Whether to notify subscribers of the session's status even if it looks unchanged, for example after a sign-in that
  /// replaced the grant.
  var sendsStatus = false
}

struct JournalRecord {
  /// The fields of a record. Fields whose value is `nil` are omitted.
  typealias Fields = KeyValuePairs<String, String?>

  let name: EventName
  let level: Logger.Level
  let message: String
  var account: AccountName?
  var fields: Fields = [:]
}

/// A notification for subscribers, without its sequence number and subscription.
struct EventNotification {
  let name: EventName
  let topic: EventTopic
  /// The account, or `nil` if the event is not about an account and goes to all subscribers of the topic.
  var account: AccountName?
  /// The parameters. They are encoded only if there are subscribers.
  var params: any WireValue = Empty()
}

extension Logger {
  /// Writes an event to the log. If stderr is connected to the journal, metadata with upper-case keys is stored in
  /// journal fields.
  package func record(_ event: Event) {
    for record in event.publication.records {
      var metadata: Logger.Metadata = ["HEARTH_EVENT": "\(record.name.rawValue)"]
      if let account = record.account { metadata["HEARTH_ACCOUNT"] = "\(account)" }
      for (name, value) in record.fields {
        if let value { metadata[name] = "\(value)" }
      }
      log(level: record.level, "\(record.message)", metadata: metadata)
    }
  }
}
