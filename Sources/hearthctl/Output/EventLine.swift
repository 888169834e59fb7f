import HearthControl
import HearthCore

/// A notification as one line for people.
struct EventLine {
  let text: String

  /// `time` replaces the notification's own time, if given.
  init(_ notification: Notification, time: String? = nil) {
    var parts = [time ?? notification.time ?? "", notification.method.padded(to: 18)]
    if let session = notification.session {
      parts.append("\(session.account): \(session.state.name)\(session.state.reason.map { " (\($0))" } ?? "")")
      parts.append(session.message)
    } else if let item = notification.item {
      parts.append("\(item.account): \(item.method) \(item.url)")
      let reason = [item.reason?.rawValue, item.lastStatus.map { "\($0)" }].compactMap { $0 }.joined(separator: ", ")
      parts.append("\(item.id) \(item.state.rawValue)\(reason.isEmpty ? "" : " (\(reason))")")
    } else {
      parts += notification.details.map { $0.name == "account" ? $0.value : "\($0.name) \($0.value)" }
    }
    text = parts.filter { !$0.isEmpty }.joined(separator: "  ").shown().trimmingBlanksAtEnd()
  }
}
