import HearthControl

/// One account's status as a short block for people.
struct StatusBlock {
  let session: SessionStatusReport
  /// Nil where the daemon did not tell.
  let outbox: OutboxStatsReport?
  let now: Moment
  let paint: Paint

  var text: String {
    let reason = session.reason.map { " (\($0))" } ?? ""
    var lines = ["\(paint(.bold, session.account))  \(paint(colour, session.state))\(reason)"]
    for (name, value) in rows { lines.append("  \(paint(.faint, name.padded(to: 10)))\(value.onOneLine)") }
    lines.append("  \(session.message.onOneLine)")
    return lines.joined(separator: "\n")
  }

  private var colour: Paint.Colour {
    switch ExitStatus(session) {
    case .done: session.refresh.failures > 0 || session.action != nil ? .yellow : .green
    case .later, .locked: .yellow
    case .signInNeeded, .failed, .noDaemon, .usage: .red
    }
  }

  private var rows: [(String, String)] {
    var rows: [(String, String)] = []
    if let subject = session.subject {
      rows.append(("who", session.issuer.map { "\(subject) at \($0)" } ?? subject))
    }
    if let token = session.token { rows.append(("token", describe(token))) }
    if let refreshed = describeRefresh() { rows.append(("refresh", refreshed)) }
    if let trouble = describeTrouble() { rows.append(("trouble", trouble)) }
    if let credential = describeCredential() { rows.append(("credential", credential)) }
    if let signIn = session.signIn {
      let end = signIn.expiresAt.flatMap { Moment($0) }.map { ", ends \($0.relative(to: now))" } ?? ""
      rows.append(("sign-in", "by \(signIn.flow), under way\(end)"))
    }
    if let outbox { rows.append(("outbox", describe(outbox))) }
    return rows
  }

  private func describe(_ token: SessionStatusReport.Token) -> String {
    var parts: [String] = []
    if let remaining = token.remainingSeconds {
      if token.health == "expired" || remaining <= 0 {
        parts.append("expired" + (remaining < 0 ? " \(Moment.span(-remaining)) ago" : ""))
      } else {
        parts.append("\(Moment.span(remaining)) left")
      }
    } else {
      parts.append(token.health == "expired" ? "expired" : "does not expire")
    }
    if let refreshAt = token.refreshAt.flatMap({ Moment($0) }) {
      let left = refreshAt.seconds - now.seconds
      parts.append(left > 0 ? "refreshes in \(Moment.span(left))" : "refresh is due")
    }
    if let end = token.refreshExpiresAt.flatMap({ Moment($0) }) {
      parts.append("sign-in needed again \(end.relative(to: now))")
    }
    return parts.joined(separator: ", ")
  }

  private func describeRefresh() -> String? {
    var parts: [String] = []
    if let last = session.refresh.lastAt.flatMap({ Moment($0) }) {
      let result = session.refresh.lastResult
      parts.append("last \(last.relative(to: now))" + (result == nil || result == "success" ? "" : ": \(result!)"))
    }
    if session.refresh.inFlight { parts.append("one is under way") }
    return parts.isEmpty ? nil : parts.joined(separator: ", ")
  }

  private func describeTrouble() -> String? {
    let refresh = session.refresh
    guard refresh.failures > 0 || refresh.lastError != nil else { return nil }
    var text = refresh.lastError ?? "refreshing fails"
    if refresh.failures > 0 { text += " (\(refresh.failures) \(refresh.failures == 1 ? "failure" : "failures"))" }
    if let next = refresh.nextAttemptAt.flatMap({ Moment($0) }) {
      text += next.seconds > now.seconds ? ", next try \(next.relative(to: now))" : ", next try now"
    }
    return text
  }

  private func describeCredential() -> String? {
    if session.credential.pendingWrite {
      return "not on disk yet" + (session.credential.error.map { ": \($0)" } ?? "")
    }
    if !session.credential.readable, session.state == "authenticated" {
      return "cannot be read" + (session.credential.error.map { ": \($0)" } ?? "")
    }
    return session.credential.error
  }

  private func describe(_ outbox: OutboxStatsReport) -> String {
    let counts = [
      (outbox.pending, "pending"), (outbox.inFlight, "in flight"), (outbox.waiting, "waiting"), (outbox.held, "held"),
      (outbox.dead, "dead"),
    ]
    var parts = counts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
    if parts.isEmpty { parts.append("empty") }
    if outbox.paused { parts.append("paused" + (outbox.pausedReason.map { " (\($0))" } ?? "")) }
    if let oldest = outbox.oldestPendingAt.flatMap({ Moment($0) }), outbox.pending + outbox.waiting > 0 {
      parts.append("oldest from \(oldest.relative(to: now))")
    }
    return parts.joined(separator: ", ")
  }
}

extension String {
  /// With blanks after it up to `width`; at least one.
  func padded(to width: Int) -> String {
    self + String(repeating: " ", count: max(width - count, 1))
  }
}
