import HearthCore

/// The live picture for a terminal of this size: the accounts, what happened last, and the keys.
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
    // A third is for what happened, more where the accounts need less.
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
    let watched = now.since(model.startedAt).span
    let line = "\(count) \(count == 1 ? "account" : "accounts"), watched for \(watched); figures are of the last hour"
    return ["\(paint(.bold, "hearthctl top"))  \(paint(.faint, cutting(line, to: columns - 15)))", ""]
  }

  private var footer: [String] {
    let keys = hasBlocks ? TopKey.help : TopKey.help.replacing("↑↓", with: "jk")
    return [cut(model.message.shown()), paint(.faint, cut(keys))]
  }

  // MARK: - An account

  private func lines(of account: TopAccount, isChosen: Bool) -> [String] {
    [life(of: account, isChosen: isChosen), figures(of: account)]
  }

  /// Who, how, and the token's life: as wide as the terminal.
  private func life(of account: TopAccount, isChosen: Bool) -> String {
    let session = account.session
    let width = columns - 52
    var left = ""
    var bar = ""
    if let token = session.token, width > 0 {
      left = token.remaining(at: now).map { $0 > .zero ? "\($0.span) left" : "expired" } ?? "does not expire"
      bar = LifeBar(token, at: now, width: width, hasBlocks: hasBlocks)?.text ?? ""
    }
    let name = cutting("\(session.account)", to: 16).padded(to: 17)
    let state = cutting(session.state.name, to: 16).padded(to: 17)
    let marker = isChosen ? "> " : "  "
    return marker + paint(.bold, name) + paint(Paint.Colour(session), state) + bar.padded(to: max(width, 0) + 1)
      + cutting(left, to: 15)
  }

  private func figures(of account: TopAccount) -> String {
    let figures = [
      ("refreshed", account.refreshes, account.refreshes.sum), ("failed", account.failures, account.failures.sum),
      (account.outbox.isPaused ? "paused" : "queued", account.queued, account.depth),
      ("sent", account.sent, account.sent.sum),
    ]
    let width = (columns - 2) / figures.count
    let parts = figures.map { name, hour, figure in
      let number = "\(figure)"
      let room = max(min(width - name.count - number.count - 4, 60), 0)
      let spark = Sparkline(values: hour.parts(max(room, 1), at: now), hasBlocks: hasBlocks).text
      return "\(name) \(room > 0 ? spark : "") \(number)".padded(to: width)
    }
    return "  " + paint(.faint, cutting(parts.joined(), to: columns - 2).trimmingBlanksAtEnd())
  }

  private func cut(_ line: String) -> String { cutting(line, to: columns) }

  private func cutting(_ text: String, to width: Int) -> String {
    text.count <= width ? text : String(text.prefix(max(width - 1, 0))) + (hasBlocks ? "…" : "~")
  }
}
