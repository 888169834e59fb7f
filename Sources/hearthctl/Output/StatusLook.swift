import HearthControl
import HearthCore

/// A snapshot of the sessions, to print as text or JSON. It also determines the exit status.
struct StatusLook {
  /// The sessions and their outbox counts. The counts are `nil` if the daemon could not read the outbox.
  let sessions: [(session: SessionStatus, outbox: OutboxStats?)]
  /// The waiting items with an error that were found, at most one for each account.
  var waiting: [AccountName: OutboxItem] = [:]
  /// Problems in the daemon's environment, such as an invalid configuration.
  let warnings: [String]
  /// The newest lines of the journal, or `nil` if the user did not ask for them.
  let log: [String]?
  /// The daemon's original JSON with the sessions.
  let told: JSON

  var status: ExitStatus { ExitStatus.worst(sessions.map { ExitStatus($0.session) }) }

  /// A problem that needs attention although all sessions are usable, or `nil` if there is no problem.
  var complaint: String? {
    let items = sessions.compactMap { session, outbox -> String? in
      guard let outbox else { return "The outbox of \(session.account) cannot be read." }
      guard let next = outbox.next(session.account), outbox.dead + outbox.held > 0 else { return outbox.trouble }
      return "\(session.account) has \(outbox.dead) dead and \(outbox.held) held items. Run \"\(next)\"."
    }
    return (warnings + items).first
  }

  /// The daemon's JSON with each session's outbox, the warnings and the journal lines added.
  var json: JSON {
    var whole = told.object ?? [:]
    if let list = whole["sessions"]?.array {
      whole["sessions"] = .array(zip(list, sessions).map { .object(Self.adding($1.outbox, to: $0)) })
    } else {
      whole = Self.adding(sessions.first?.outbox, to: told)
    }
    whole["warnings"] = .array(warnings.map { .string($0) })
    if let log { whole["log"] = .array(log.map { .string($0) }) }
    return .object(whole)
  }

  private static func adding(_ outbox: OutboxStats?, to session: JSON) -> JSONObject {
    var session = session.object ?? [:]
    session["outbox"] = outbox?.json ?? .null
    return session
  }

  /// Formats the snapshot. `hasBlocks` is whether to draw life bars with block characters, or `nil` to omit the bars.
  func text(at now: Timestamp, columns: Int, paint: Paint, hasBlocks: Bool?) -> String {
    var blocks = summary.map { [$0.hanging(0, within: columns)] } ?? []
    blocks += sessions.map { session, outbox in
      StatusBlock(
        session: session, outbox: outbox, waiting: waiting[session.account], now: now, paint: paint, columns: columns,
        hasBlocks: hasBlocks
      ).text
    }
    if sessions.isEmpty {
      let advice = "There are no accounts in the configuration. Add one with \"hearthctl account add\"."
      blocks.append(advice.hanging(0, within: columns))
    }
    let title = "Warning: "
    blocks += warnings.map { paint(.bold, title) + $0.shown().hanging(title.count, within: columns) }
    if let log {
      let lines = log.isEmpty ? ["  No matching journal entries were found."] : log.map { "  " + $0.shown() }
      blocks.append(([paint(.bold, "Log")] + lines.map { $0.hanging(4, within: columns) }).joined(separator: "\n"))
    }
    return blocks.joined(separator: "\n\n")
  }

  /// The number of accounts in each state, or `nil` if there are fewer than two accounts.
  private var summary: String? {
    guard sessions.count > 1 else { return nil }
    let words = sessions.map(\.session.words)
    let kinds = words.reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
    let counts = kinds.map { kind in "\(words.count { $0 == kind }) \(kind)" }
    return "\(sessions.count) accounts: \(counts.joined(separator: ", "))"
  }
}
