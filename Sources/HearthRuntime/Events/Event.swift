import HearthControl
package import HearthCore
import Logging

/// Everything that is published to subscribers, in the journal or both.
package enum Event: Sendable {
  case started(version: String)
  case stopping(version: String)
  case reloaded(version: String)
  /// The configuration cannot be used; the sentence says why.
  case configurationRefused(String)
  /// With the status after it.
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
