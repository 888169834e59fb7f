import HearthControl

/// One notification in one line for people.
struct EventLine {
  let text: String

  init(_ notification: Notification) {
    let params = notification.params
    var parts = [params["time"]?.string ?? "", notification.method.padded(to: 18)]
    if let session = params["session"].flatMap({ SessionStatusReport(json: $0) }) {
      parts.append("\(session.account): \(session.state)\(session.reason.map { " (\($0))" } ?? "")")
      parts.append(session.message)
    } else if let item = params["item"].flatMap({ OutboxItemReport(json: $0) }) {
      parts.append("\(item.account): \(item.method) \(item.url)")
      let reason = [item.reason, item.lastStatus.map { "\($0)" }].compactMap { $0 }.joined(separator: ", ")
      parts.append("\(item.id) \(item.state)\(reason.isEmpty ? "" : " (\(reason))")")
    } else {
      for member in params.members where !["subscription", "seq", "time"].contains(member.key) {
        guard !member.value.isNull else { continue }
        parts.append(
          member.key == "account"
            ? "\(member.value.string ?? "")" : "\(member.key) \(member.value.string ?? member.value.description)")
      }
    }
    text = parts.filter { !$0.isEmpty }.joined(separator: "  ").onOneLine.trimmingBlanksAtEnd()
  }
}
