import HearthCore

/// One account's status as a short block for people.
struct StatusBlock {
  let session: SessionStatus
  /// It is nil if the daemon could not read it.
  let outbox: OutboxStats?
  let now: Timestamp
  let paint: Paint
  /// Whether the token's life is drawn too; `hasBlocks` as in `LifeBar`.
  var bar: (width: Int, hasBlocks: Bool)?

  var text: String {
    let reason = session.state.reason.map { " (\($0.shown()))" } ?? ""
    var lines = ["\(paint(.bold, "\(session.account)"))  \(paint(Paint.Colour(session), session.state.name))\(reason)"]
    for (name, value) in rows { lines.append("  \(paint(.faint, name.padded(to: 10)))\(value.shown())") }
    lines.append("  \(session.message.shown())")
    return lines.joined(separator: "\n")
  }

  private var rows: [(String, String)] {
    var rows: [(String, String)] = []
    if let subject = session.subject {
      rows.append(("who", "\(subject.id) at \(subject.issuer)"))
    }
    if let token = session.token {
      if let bar, let life = LifeBar(token, at: now, width: bar.width, hasBlocks: bar.hasBlocks) {
        rows.append(("life", life.text))
      }
      rows.append(("token", describe(token)))
    }
    if let refreshed = describeRefresh() { rows.append(("refresh", refreshed)) }
    if let trouble = describeTrouble() { rows.append(("trouble", trouble)) }
    if let credential = describeCredential() { rows.append(("credential", credential)) }
    if let signIn = session.signIn { rows.append(("sign-in", describe(signIn))) }
    rows.append(("outbox", outbox.map(describe) ?? "cannot be read now: see why with \"hearthctl outbox stats\""))
    if let trouble = outbox?.trouble { rows.append(("disk", trouble)) }
    return rows
  }

  private func describe(_ signIn: SignInProgress) -> String {
    let flow =
      switch signIn.flow {
      case .browser: "in the browser"
      case .device: "with a code on another device"
      case .password: "with user name and password"
      case .clientCredentials: "by the client itself"
      }
    let left = Swift.max(signIn.expiresAt.since(now), .zero)
    return "under way \(flow), \(left.span) left" + (signIn.message.map { ". \($0)" } ?? "")
  }

  private func describe(_ token: SessionStatus.TokenLife) -> String {
    var parts: [String] = []
    let isExpired = token.health(at: now) == .expired
    if let remaining = token.remaining(at: now) {
      if isExpired || remaining <= .zero {
        parts.append("expired" + (remaining < .zero ? " \((.zero - remaining).span) ago" : ""))
      } else {
        parts.append("\(remaining.span) left")
      }
    } else {
      parts.append(isExpired ? "expired" : "does not expire")
    }
    if let refreshAt = token.refreshAt {
      let left = refreshAt.since(now)
      parts.append(left > .zero ? "refreshes in \(left.span)" : "refresh is due")
    }
    if let end = token.refreshExpiresAt {
      parts.append("sign-in needed again \(end.relative(to: now))")
    }
    return parts.joined(separator: ", ")
  }

  private func describeRefresh() -> String? {
    var parts: [String] = []
    if let last = session.history.lastAt, let outcome = session.history.lastOutcome {
      let time = now.since(last) > .zero ? last.relative(to: now) : "just now"
      parts.append("\(outcome == .success ? "succeeded" : outcome.rawValue) \(time)")
    }
    if session.isRefreshing { parts.append("one is under way") }
    return parts.isEmpty ? nil : parts.joined(separator: ", ")
  }

  private func describeTrouble() -> String? {
    let history = session.history
    guard history.failures > 0 || history.lastError != nil else { return nil }
    var text = history.lastError ?? "refreshing fails"
    if history.failures > 0 { text += " (\(history.failures) \(history.failures == 1 ? "failure" : "failures"))" }
    if let next = session.nextAttemptAt {
      text += next.since(now) > .zero ? ", next try \(next.relative(to: now))" : ", next try now"
    }
    return text
  }

  private func describeCredential() -> String? {
    let error = session.credentialError
    if session.isWritePending { return "not on disk yet" + (error.map { ": \($0)" } ?? "") }
    if !session.isReadable, session.state == .authenticated {
      return "cannot be read" + (error.map { ": \($0)" } ?? "")
    }
    return error
  }

  private func describe(_ outbox: OutboxStats) -> String {
    let counts = [
      (outbox.pending, "pending"), (outbox.inFlight, "in flight"), (outbox.waiting, "waiting"), (outbox.held, "held"),
      (outbox.dead, "dead"),
    ]
    var parts = counts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
    if parts.isEmpty { parts.append("empty") }
    if outbox.isPaused { parts.append("paused" + (outbox.pausedReason.map { " (\($0))" } ?? "")) }
    if let oldest = outbox.oldestPendingAt, outbox.pending + outbox.waiting > 0 {
      parts.append("oldest from \(oldest.relative(to: now))")
    }
    return parts.joined(separator: ", ")
  }
}

extension String {
  /// Appends blanks up to `width`; at least one.
  func padded(to width: Int) -> String {
    self + String(repeating: " ", count: max(width - count, 1))
  }
}
