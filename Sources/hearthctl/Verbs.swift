import ArgumentParser
import HearthCore

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
}
