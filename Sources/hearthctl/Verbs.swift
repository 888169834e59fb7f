import ArgumentParser
import HearthCore

/// The verbs on the command line, before options and arguments.
enum Verbs {
  /// Parses the verb and its arguments with ArgumentParser.
  static func parse(_ line: some Sequence<String>) throws -> any ParsableCommand {
    // For an unknown verb, ArgumentParser would complain about the first option after it, or show the whole help.
    let (_, unknown, verbs) = read(line.filter { $0 != "help" })
    if let unknown { throw ValidationError("There is no verb \"\(unknown)\".\(verbs.suggestion(for: unknown))") }
    return try Hearthctl.parseAsRoot(arranged(Array(line)))
  }

  /// The known part of the command: `hearthctl outbox add`.
  static func command(in line: some Sequence<String>) -> String {
    read(line.filter { $0 != "help" }).known.joined(separator: " ")
  }

  /// The line with "help" in front, where ArgumentParser expects it: `help outbox add` for `outbox help add`.
  private static func arranged(_ line: [String]) -> [String] {
    let (known, _, further) = read(line)
    let verbs = known.dropFirst()
    guard !further.isEmpty, !verbs.isEmpty, line.dropFirst(verbs.count).first == "help" else { return line }
    return ["help"] + verbs + line.dropFirst(verbs.count + 1)
  }

  /// `further` are the verbs that may follow the known ones.
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
  /// The names in a sentence; only the first ones if there are many.
  var listed: String { prefix(12).joined(separator: ", ") + (count > 12 ? " and \(count - 12) more" : "") }
}
