import HearthCore

/// The screen of `hearthctl top` for a terminal of this size. Shows the accounts, the latest events and the keys.
struct TopPicture {
  let model: TopModel
  let now: Timestamp
  let columns: Int
  let rows: Int
  let paint: Paint
  let hasBlocks: Bool

  private static let linesOfAccount = 2

  var text: String {
    let (top, bottom) = (header, footer)
    let room = max(rows - top.count - bottom.count, 0)
    // Reserve a third of the screen for events, and more if the accounts need less.
    let shown = max(min(model.accounts.count, (room - room / 3) / Self.linesOfAccount), 1)
    let first = max((model.selection ?? 0) - shown + 1, 0)
    var middle = model.accounts.isEmpty ? ["There are no accounts in the configuration."] : []
    for index in model.accounts.indices.dropFirst(first).prefix(shown) {
      middle += lines(of: model.accounts[index], isChosen: index == model.selection)
    }
    let left = max(room - middle.count - 2, 0)
    if left > 0, !model.events.isEmpty {
      middle += ["", paint(.bold, "Recent events")] + lastEvents(left)
    }
    middle = Array(middle.prefix(room))
    middle += Array(repeating: "", count: room - middle.count)
    return (top + middle + bottom).prefix(rows).joined(separator: "\n")
  }

  private var header: [String] {
    let count = model.accounts.count
    let watched = now.since(model.startedAt)
    let since = watched < .seconds(3600) ? "since top started \(watched.span) ago" : "over the last hour"
    let title = "hearthctl top"
    let accounts = "\(count) \(count == 1 ? "account" : "accounts")"
    let room = columns - title.count - 2
    let line = "\(accounts); counts \(since)"
    return ["\(paint(.bold, title))  \(paint(.faint, cutting(line.count > room ? accounts : line, to: room)))", ""]
  }

  /// Returns the newest events that fit in `room` lines.
  private func lastEvents(_ room: Int) -> [String] {
    var lines: [String] = []
    for event in model.events.reversed() {
      let own = broken(isNarrow ? event.short : event.text, indent: 2)
      guard lines.isEmpty || own.count + lines.count <= room else { break }
      lines = own + lines
    }
    return Array(lines.prefix(room))
  }

  private var footer: [String] {
    let gap = "  "
    var lines: [String] = []
    // The key for quitting comes first, so that it is always shown.
    for key in TopKey.help {
      let key = hasBlocks ? key : key.replacing("↑↓", with: "jk")
      if let last = lines.last, last.count + gap.count + key.count <= columns {
        lines[lines.count - 1] += gap + key
      } else {
        lines.append(key)
      }
    }
    // The keys get at most a quarter of the screen.
    return broken(model.message.shown()) + lines.prefix(max(rows / 4, 1)).map { paint(.faint, cut($0)) }
  }

  // MARK: - An account

  /// Returns two lines for an account. A command that the user has to run follows the state or, if there is no room,
  /// replaces the figures.
  private func lines(of account: TopAccount, isChosen: Bool) -> [String] {
    let command = command(for: account.session)
    let fits = command.map { $0.count <= columns - 2 - widths.name - widths.state } ?? false
    return [
      life(of: account.session, isChosen: isChosen, command: fits ? command : nil),
      command.flatMap { fits ? nil : "  " + paint(.bold, cutting($0, to: columns - 2)) } ?? figures(of: account),
    ]
  }

  private func command(for session: SessionStatus) -> String? {
    switch session.action {
    case .signIn, .unlock, .fixConfiguration: session.next
    case .wait, nil: nil
    }
  }

  private var widths: (name: Int, state: Int, left: Int) { isNarrow ? (11, 15, 11) : (17, 22, 15) }

  /// Returns a line with the account's name and state, followed by `command` or else by the life bar and the time left.
  private func life(of session: SessionStatus, isChosen: Bool, command: String?) -> String {
    let width = columns - 3 - widths.name - widths.state - widths.left
    let name = cutting("\(session.account)", to: widths.name - 1).padded(to: widths.name)
    let state = cutting(session.words, to: widths.state - 1).padded(to: widths.state)
    let start = (isChosen ? "> " : "  ") + paint(.bold, name) + paint(Paint.Colour(session), state)
    if let command { return start + paint(.bold, command) }
    var left = ""
    var bar = ""
    if let token = session.token {
      left = token.remaining(at: now).map { $0 > .zero ? "\($0.span) left" : "expired" } ?? "does not expire"
      if left.count > widths.left { left = left.replacing(" left", with: "") }
      if width > 0 { bar = token.bar(at: now, width: width, hasBlocks: hasBlocks) ?? "" }
    }
    return start + bar.padded(to: max(width, 0) + 1) + cutting(left, to: widths.left)
  }

  /// Returns a line of counts with their history. On a narrow terminal, omits the history and the counts that do not
  /// fit.
  private func figures(of account: TopAccount) -> String {
    var figures = [
      ("refreshed", account.refreshes, account.refreshes.sum), ("failed", account.failures, account.failures.sum),
      (account.outbox.isPaused ? "paused" : "queued", account.queued, account.depth),
      ("sent", account.sent, account.sent.sum),
    ]
    func width(_ figure: (name: String, hour: LastHour, number: Int)) -> Int {
      figure.name.count + "\(figure.number)".count + 3
    }
    if isNarrow {
      while figures.reduce(0, { $0 + width($1) }) > columns, figures.count > 1 { figures.removeLast() }
    }
    let share = (columns - 2) / figures.count
    let parts = figures.map { name, hour, figure in
      let number = "\(figure)"
      let room = isNarrow ? 0 : max(min(share - name.count - number.count - 4, 60), 0)
      let spark = LastHour.sparkline(hour.parts(max(room, 1), at: now), hasBlocks: hasBlocks)
      return isNarrow ? "\(name) \(number)  " : "\(name) \(room > 0 ? spark : "") \(number)".padded(to: share)
    }
    return "  " + paint(.faint, cutting(parts.joined().trimmingBlanksAtEnd(), to: columns - 2))
  }

  /// Whether there is no room for life bars and sparklines.
  private var isNarrow: Bool { columns < 70 }

  private func cut(_ line: String) -> String { cutting(line, to: columns) }

  private func broken(_ line: String, indent: Int = 0) -> [String] {
    line.hanging(indent, within: columns).split(separator: "\n", omittingEmptySubsequences: false)
      .map { cut(String($0)) }
  }

  private func cutting(_ text: String, to width: Int) -> String { text.cut(to: width, hasBlocks: hasBlocks) }
}
