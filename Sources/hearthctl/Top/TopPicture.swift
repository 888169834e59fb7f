import HearthCore

/// The live picture for a terminal of this size: the accounts, the latest events, and the keys.
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
    // A third is for events, and more if the accounts need less.
    let shown = max(min(model.accounts.count, (room - room / 3) / Self.linesOfAccount), 1)
    let first = max((model.selection ?? 0) - shown + 1, 0)
    var middle = model.accounts.isEmpty ? ["There are no accounts in the configuration."] : []
    for index in model.accounts.indices.dropFirst(first).prefix(shown) {
      middle += lines(of: model.accounts[index], isChosen: index == model.selection)
    }
    let left = max(room - middle.count - 2, 0)
    if left > 0, !model.events.isEmpty {
      middle += ["", paint(.bold, "What happened")] + model.events.suffix(left).map { cut($0.shown()) }
    }
    middle = Array(middle.prefix(room))
    middle += Array(repeating: "", count: room - middle.count)
    return (top + middle + bottom).prefix(rows).joined(separator: "\n")
  }

  private var header: [String] {
    let count = model.accounts.count
    let watched = now.since(model.startedAt)
    let since = watched < .seconds(3600) ? "since this began \(watched.span) ago" : "over the last hour"
    let title = "hearthctl top"
    let line = "\(count) \(count == 1 ? "account" : "accounts"); counts what happened \(since)"
    return ["\(paint(.bold, title))  \(paint(.faint, cutting(line, to: columns - title.count - 2)))", ""]
  }

  private var footer: [String] {
    let gap = "  "
    var keys = ""
    // The key for quitting comes first.
    for key in TopKey.help {
      let key = hasBlocks ? key : key.replacing("↑↓", with: "jk")
      let longer = keys.isEmpty ? key : keys + gap + key
      guard longer.count <= columns else { break }
      keys = longer
    }
    return [cut(model.message.shown()), paint(.faint, keys)]
  }

  // MARK: - An account

  private func lines(of account: TopAccount, isChosen: Bool) -> [String] {
    [life(of: account, isChosen: isChosen), figures(of: account)]
  }

  /// The account, its state and the token's life bar, as wide as the terminal.
  private func life(of account: TopAccount, isChosen: Bool) -> String {
    let session = account.session
    let widths = isNarrow ? (name: 11, state: 15, left: 11) : (name: 17, state: 22, left: 15)
    let width = columns - 3 - widths.name - widths.state - widths.left
    var left = ""
    var bar = ""
    if let token = session.token {
      left = token.remaining(at: now).map { $0 > .zero ? "\($0.span) left" : "expired" } ?? "does not expire"
      if width > 0 { bar = LifeBar(token, at: now, width: width, hasBlocks: hasBlocks)?.text ?? "" }
    }
    let name = cutting("\(session.account)", to: widths.name - 1).padded(to: widths.name)
    let state = cutting(session.words, to: widths.state - 1).padded(to: widths.state)
    let marker = isChosen ? "> " : "  "
    return marker + paint(.bold, name) + paint(Paint.Colour(session), state) + bar.padded(to: max(width, 0) + 1)
      + cutting(left, to: widths.left)
  }

  /// The counts with their names; the less important ones come last and are left out on a narrow terminal.
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
      let spark = Sparkline(values: hour.parts(max(room, 1), at: now), hasBlocks: hasBlocks).text
      return isNarrow ? "\(name) \(number)  " : "\(name) \(room > 0 ? spark : "") \(number)".padded(to: share)
    }
    return "  " + paint(.faint, cutting(parts.joined().trimmingBlanksAtEnd(), to: columns - 2))
  }

  /// Whether there is no room for life bars and sparklines.
  private var isNarrow: Bool { columns < 70 }

  private func cut(_ line: String) -> String { cutting(line, to: columns) }

  private func cutting(_ text: String, to width: Int) -> String { text.cut(to: width, hasBlocks: hasBlocks) }
}
