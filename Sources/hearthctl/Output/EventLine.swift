import HearthControl
import HearthCore

/// A notification formatted as one line of text.
struct EventLine {
  let text: String
  /// The most important parts, for narrow terminals.
  let short: String

  /// The maximum length of a displayed error in characters. An API's answer can be long.
  private static let longestError = 200

  /// Formats a notification. If given, `time` replaces the notification's own time.
  init(_ notification: Notification, time: String? = nil) {
    let time = time ?? notification.time ?? ""
    let name = notification.method.padded(to: 18)
    if let session = notification.session {
      let state = "\(session.state.name)\(session.state.reason.map { " (\($0))" } ?? "")"
      text = Self.line([time, name, "\(session.account): \(state)", session.message])
      short = Self.line([time, "\(session.account): \(session.message)"])
    } else if let item = notification.item {
      let request = "\(item.account): \(item.method) \(item.url)"
      let error = item.shortError?.cut(to: Self.longestError) ?? item.lastStatus.map { "\($0)" }
      let reason = [item.reason?.rawValue, error].compactMap { $0 }.joined(separator: ", ")
      let state = "\(item.state.rawValue)\(reason.isEmpty ? "" : " (\(reason))")"
      text = Self.line([time, name, request, "\(item.id) \(state)"])
      short = Self.line([time, request, state])
    } else {
      let details = notification.details.map { $0.name == "account" ? $0.value : "\($0.name) \($0.value)" }
      text = Self.line([time, name] + details)
      short = Self.line([time, notification.method] + details)
    }
  }

  private static func line(_ parts: [String]) -> String {
    parts.filter { !$0.isEmpty }.joined(separator: "  ").shown().trimmingBlanksAtEnd()
  }
}
