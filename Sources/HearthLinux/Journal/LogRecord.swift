import HearthCore
import Logging

/// One log call, its metadata divided: fields for the journal, and the rest as a part of the message. All of it is fit to
/// be shown, and bounded: what a server said looks like no other record, and steers no terminal.
package struct LogRecord {
  private static let messageLength = 8192

  var level: Logger.Level
  var message: String
  /// Sorted by name.
  var fields: [(name: String, value: String)] = []

  subscript(name: String) -> String? { fields.first { $0.name == name }?.value }

  /// Capital letters, digits and underscores, as the journal takes them from programs (sd_journal_print(3)).
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
}
