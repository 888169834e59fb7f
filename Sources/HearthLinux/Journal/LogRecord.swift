import HearthCore
import Logging

/// One log call, with its metadata split into fields for the journal and a rest that becomes part of the message. All
/// of it is safe to show and bounded: text from a server cannot imitate another record or control a terminal.
struct LogRecord {
  private static let messageLength = 8192

  var level: Logger.Level
  var message: String
  /// The fields are sorted by name.
  var fields: [(name: String, value: String)] = []

  subscript(name: String) -> String? { fields.first { $0.name == name }?.value }

  /// Whether the journal accepts this field name from programs: capital letters, digits and underscores
  /// (sd_journal_print(3)).
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

  /// The record for the systemd journal, with the MESSAGE_ID of its HEARTH_EVENT.
  var journalFields: [(name: String, value: String)] {
    var result: [(name: String, value: String)] = [
      ("MESSAGE", message), ("PRIORITY", String(level.priority)), ("SYSLOG_IDENTIFIER", "hearthd"),
    ]
    // Every record names its event, so that a filter for events misses none.
    let name = self["HEARTH_EVENT"]
    if name == nil { result.append(("HEARTH_EVENT", EventName.daemonNotice.rawValue)) }
    if let id = EventName(rawValue: name ?? EventName.daemonNotice.rawValue)?.messageID {
      result.append(("MESSAGE_ID", id))
    }
    return result + fields
  }

  /// The record as a line for people:
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
