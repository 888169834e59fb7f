import HearthCore

/// One account's status as a short block of text.
struct StatusBlock {
  let session: SessionStatus
  /// The outbox counts, or `nil` if the daemon could not read the outbox.
  let outbox: OutboxStats?
  /// A waiting item whose last attempt failed.
  var waiting: OutboxItem?
  let now: Timestamp
  let paint: Paint
  var columns = Int.max
  /// Whether to draw the life bar with block characters instead of ASCII, or `nil` to omit the bar.
  var hasBlocks: Bool?

  private static let indent = 12
  private static let widestBar = 40

  var text: String {
    let reason = session.reasonInBrackets.map { "(\($0))" }
    let room = columns - "\(session.account)  \(session.words) ".count
    let gap = reason.map { $0.count > room ? "\n  " : " " } ?? ""
    var lines = [
      "\(paint(.bold, "\(session.account)"))  \(paint(Paint.Colour(session), session.words))\(gap)"
        + paint(.faint, reason ?? "")
    ]
    if session.state != .authenticated || session.message != "Signed in." {
      lines.append("  " + session.message.shown().hanging(2, within: columns))
    }
    for (name, value) in rows {
      let label = "  " + name.padded(to: Self.indent - 2)
      lines.append(paint(.faint, label) + value.shown().hanging(Self.indent, within: columns))
    }
    return lines.joined(separator: "\n")
  }

  private var rows: [(String, String)] {
    var rows: [(String, String)] = []
    if let subject = session.subject {
      rows.append(("who", "\(subject.id) at \(subject.issuer)"))
    }
    if let token = session.token {
      let width = max(min(Self.widestBar, columns - Self.indent), 1)
      if let hasBlocks, let bar = token.bar(at: now, width: width, hasBlocks: hasBlocks) { rows.append(("life", bar)) }
      rows.append(("token", describe(token)))
    }
    if let renewed = describeRefresh() { rows.append(renewed) }
    if let trouble = describeTrouble() { rows.append(("trouble", trouble)) }
    if let credential = describeCredential() { rows.append(("credential", credential)) }
    if let signIn = session.signIn { rows.append(("sign-in", describe(signIn))) }
    rows.append(
      ("outbox", outbox.map(describe) ?? "cannot be read. Run \"hearthctl outbox stats\" to see why."))
    if let error = waiting?.shortError {
      let isPaused = outbox?.isPaused == true && outbox?.pausedReason != OutboxStats.pausedOffline
      rows.append(("delivery", error + nextTry(isPaused ? nil : waiting?.nextAttemptAt)))
    }
    if let trouble = outbox?.trouble { rows.append(("disk", trouble)) }
    return rows
  }

  private func describe(_ signIn: SignInProgress) -> String {
    let flow =
      switch signIn.flow {
      case .browser: "in the browser"
      case .device: "with a code on another device"
      case .password: "with a user name and a password"
      case .clientCredentials: "with the client's credentials"
      }
    let left = Swift.max(signIn.expiresAt.since(now), .zero)
    return "in progress \(flow), \(left.span) left" + (signIn.message.map { ". \($0)" } ?? "")
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

  /// Returns a label and a description of the last refresh or sign-in.
  private func describeRefresh() -> (String, String)? {
    let underWay = "a refresh is in progress"
    guard let last = session.history.lastAt, let outcome = session.history.lastOutcome else {
      return session.isRefreshing ? ("refresh", underWay) : nil
    }
    let time = now.since(last) > .zero ? last.relative(to: now) : "just now"
    let more = session.isRefreshing ? ", \(underWay)" : ""
    switch outcome {
    case .success where session.state != .authenticated: return nil
    // After an unlock, the daemon does not report whether the token is from a sign-in or a refresh, so name neither.
    case .success where last < session.since: return ("new token", time + more)
    case .success: return (last == session.since ? "signed in" : "refreshed", time + more)
    case .unavailable: return ("refresh", "failed \(time)\(more)")
    case .rejected: return ("refresh", "rejected \(time)\(more)")
    case .misconfigured: return ("refresh", "failed \(time) (configuration error)\(more)")
    }
  }

  private func describeTrouble() -> String? {
    let history = session.history
    guard history.failures > 0 || history.lastError != nil else { return nil }
    var text = history.lastError ?? "The last refresh failed."
    if history.failures > 0 { text += " (\(history.failures) \(history.failures == 1 ? "failure" : "failures"))" }
    text += nextTry(session.nextAttemptAt)
    // If the session has an action, the session's message already contains the command.
    return session.action == nil ? text + session.next.run : text
  }

  private func nextTry(_ time: Timestamp?) -> String {
    time.map { $0.since(now) > .zero ? ", next try \($0.relative(to: now))" : ", next try now" } ?? ""
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
    if outbox.isPaused { parts.append(paused(outbox.pausedReason)) }
    if let oldest = outbox.oldestPendingAt, outbox.pending + outbox.waiting > 0 {
      parts.append("oldest from \(oldest.relative(to: now))")
    }
    return parts.joined(separator: ", ") + outbox.next(session.account).run
  }

  private func paused(_ reason: String?) -> String {
    switch reason {
    case OutboxStats.pausedByUser: return "paused by you"
    case OutboxStats.pausedOffline: return "paused while offline"
    case "refreshUnavailable": return "paused until there is a valid token"
    case nil, .some:
      switch session.state {
      case .locked: return "paused while locked"
      case .unauthenticated, .reauthRequired: return "paused until you sign in"
      case .hydrating, .authenticated: return "paused"
      }
    }
  }
}

extension SessionStatus {
  /// The reason to show in brackets, or `nil` if the words already express it.
  fileprivate var reasonInBrackets: String? {
    switch state {
    case .reauthRequired, .locked(.accessFailure): state.reason
    case .hydrating, .locked(.explicit), .unauthenticated, .authenticated: nil
    }
  }
}

extension OutboxStats {
  static let pausedByUser = "user"
  fileprivate static let pausedOffline = "offline"

  /// Returns the command for the next step, or `nil` if the user has nothing to do.
  func next(_ account: AccountName) -> String? {
    if dead > 0 { return "hearthctl outbox list \(account) --state dead" }
    if held > 0 { return "hearthctl outbox list \(account) --state held" }
    return pausedReason == Self.pausedByUser ? "hearthctl outbox resume \(account)" : nil
  }
}

extension OutboxItem {
  /// A short form of the last error, without a final period.
  var shortError: String? {
    guard let lastError else { return nil }
    if isUnreached, lastStatus == nil { return "No connection to \(lastError)" }
    return lastError.hasSuffix(".") ? String(lastError.dropLast()) : lastError
  }

  /// Whether every attempt so far failed before it reached the API. `attempts` does not include such attempts.
  var isUnreached: Bool { state == .waiting && attempts == 0 && lastError != nil }
}

extension String? {
  /// A sentence with the command, to append to other text.
  fileprivate var run: String { map { ". Run \"\($0)\"." } ?? "" }
}

extension String {
  /// Pads the text to `width` with spaces. Adds at least one space.
  func padded(to width: Int) -> String {
    self + String(repeating: " ", count: max(width - count, 1))
  }
}
