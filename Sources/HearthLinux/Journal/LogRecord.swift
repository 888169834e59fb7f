import HearthCore
import Logging

/// A log record, whose metadata becomes journal fields or part of the message. All text is escaped and limited in
/// length, so that a server cannot fake a record or control a terminal.
struct LogRecord {
  private static let messageLength = 8192

  var level: Logger.Level
  var message: String
  /// Sorted by name.
  var fields: [(name: String, value: String)] = []

  subscript(name: String) -> String? { fields.first { $0.name == name }?.value }

  /// Returns whether the journal accepts the name of a field from an application: up to 64 capital letters, digits and
  /// underscores, of which the first is a letter (sd_journal_print(3)).
  private static func isFieldName(_ name: String) -> Bool {
    guard name.utf8.first?.isASCIILetter == true, name.utf8.count <= 64, name == name.uppercased() else { return false }
    return name.utf8.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || $0 == UInt8(ascii: "_") }
  }
}

extension LogRecord {
  init(_ event: LogEvent, metadata: Logger.Metadata) {
    self.init(level: event.level, message: event.message.description)
    for (name, value) in metadata.sorted(by: { $0.key < $1.key }) {
      if LogRecord.isFieldName(name) {
        fields.append((name, "\(value)".shown()))
      } else {
        message += " \(name)=\(value)"
      }
    }
    if let error = event.error { message += " (\(error))" }
    message = message.shown(limit: Self.messageLength)
  }

  /// The fields to send to the systemd journal, including the event's MESSAGE_ID.
  var journalFields: [(name: String, value: String)] {
    var result: [(name: String, value: String)] = [
      ("MESSAGE", message), ("PRIORITY", String(level.priority)), ("SYSLOG_IDENTIFIER", "hearthd"),
    ]
    // Every record names an event, so that filtering by event does not miss any record.
    let name = self["HEARTH_EVENT"]
    if name == nil { result.append(("HEARTH_EVENT", EventName.daemonNotice.rawValue)) }
    if let id = EventName(rawValue: name ?? EventName.daemonNotice.rawValue)?.messageID {
      result.append(("MESSAGE_ID", id))
    }
    return result + fields
  }

  /// The record as a human-readable line, such as
  /// `2026-11-21T10:00:00.000Z notice   session.changed work: Signed in. (state=authenticated)`
  func line(at time: Timestamp) -> String {
    let level = level.rawValue + String(repeating: " ", count: max(0, 8 - level.rawValue.count))
    let subject = [self["HEARTH_EVENT"], self["HEARTH_ACCOUNT"]].compactMap { $0 }.joined(separator: " ")
    let details = fields.filter { $0.name != "HEARTH_EVENT" && $0.name != "HEARTH_ACCOUNT" }.map { name, value in
      (name.hasPrefix("HEARTH_") ? name.dropFirst("HEARTH_".count) : name[...]).lowercased() + "=\(value)"
    }
    return "\(time) \(level) " + (subject.isEmpty ? "" : "\(subject): ") + message
      + (details.isEmpty ? "" : " (\(details.joined(separator: " ")))") + "\n"
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
