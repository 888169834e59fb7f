import ArgumentParser

/// What stands on the command line before options and arguments: the verbs.
enum Verbs {
  /// The verb with what is given to it, read by ArgumentParser.
  static func parse(_ line: some Sequence<String>) throws -> any ParsableCommand {
    // ArgumentParser would complain of the first option behind a verb that it does not know.
    // It would also show the whole help for the one of an unknown verb.
    let (_, unknown, verbs) = read(line.filter { $0 != "help" })
    if let unknown { throw ValidationError("There is no verb \"\(unknown)\".\(verbs.suggestion(for: unknown))") }
    return try Hearthctl.parseAsRoot(arranged(Array(line)))
  }

  /// The command with its verbs, as far as they are known: `hearthctl outbox add`.
  static func command(in line: some Sequence<String>) -> String {
    read(line.filter { $0 != "help" }).known.joined(separator: " ")
  }

  /// The line with "help" in front, where ArgumentParser looks for it: `help outbox add` for `outbox help add`.
  private static func arranged(_ line: [String]) -> [String] {
    let (known, _, further) = read(line)
    let verbs = known.dropFirst()
    guard !further.isEmpty, !verbs.isEmpty, line.dropFirst(verbs.count).first == "help" else { return line }
    return ["help"] + verbs + line.dropFirst(verbs.count + 1)
  }

  /// `further`: the verbs that may follow what is known.
  private static func read(
    _ line: some Sequence<String>
  ) -> (known: [String], unknown: String?, further: [String]) {
    var known = ["hearthctl"]
    var verbs = Hearthctl.configuration.subcommands
    for word in line {
      guard !verbs.isEmpty, !word.hasPrefix("-"), word != "help" else { break }
      guard let verb = verbs.first(where: { $0.configuration.commandName == word }) else {
        return (known, word, verbs.compactMap { $0.configuration.commandName })
      }
      known.append(word)
      verbs = verb.configuration.subcommands
    }
    return (known, nil, verbs.compactMap { $0.configuration.commandName })
  }
}

extension [String] {
  /// All of them in a sentence, or the first ones of many.
  var listed: String { prefix(12).joined(separator: ", ") + (count > 12 ? " and \(count - 12) more" : "") }

  /// " Did you mean …?" with the word that is most like this one; empty where none differs in few letters.
  func suggestion(for word: String) -> String {
    let nearest = map { ($0, distance($0, word)) }.min { $0.1 < $1.1 }
    guard let (name, distance) = nearest, distance <= Swift.max(1, Swift.min(name.count, word.count) / 3) else {
      return ""
    }
    return " Did you mean \"\(name)\"?"
  }

  /// How many letters have to be added, removed, changed or swapped with the next (optimal string alignment).
  private func distance(_ one: String, _ other: String) -> Int {
    let (one, other) = (Array<Character>(one), Array<Character>(other.prefix(64)))
    var (before, last) = ([Int](), [Int](0...other.count))
    for (row, letter) in one.enumerated() {
      var line = [row + 1]
      for (column, otherLetter) in other.enumerated() {
        var least = Swift.min(line[column], last[column + 1]) + 1
        least = Swift.min(least, last[column] + (letter == otherLetter ? 0 : 1))
        if row > 0, column > 0, letter == other[column - 1], one[row - 1] == otherLetter {
          least = Swift.min(least, before[column - 1] + 1)
        }
        line.append(least)
      }
      (before, last) = (last, line)
    }
    return last[other.count]
  }
}
