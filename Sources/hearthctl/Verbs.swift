import ArgumentParser

/// What stands on the command line before options and arguments: the verbs.
enum Verbs {
  /// The verb with what is given to it, read by ArgumentParser.
  static func parse(_ line: some Sequence<String>) throws -> any ParsableCommand {
    // ArgumentParser would complain of the first option behind a verb that it does not know.
    if let unknown = read(line).unknown { throw ValidationError("There is no verb \"\(unknown)\".") }
    return try Hearthctl.parseAsRoot(arranged(Array(line)))
  }

  /// The command with its verbs, as far as they are known: `hearthctl outbox add`.
  static func command(in line: some Sequence<String>) -> String { read(line).known.joined(separator: " ") }

  /// The line with "help" in front, where ArgumentParser looks for it: `help outbox add` for `outbox help add`.
  private static func arranged(_ line: [String]) -> [String] {
    let (known, _, isGroup) = read(line)
    let verbs = known.dropFirst()
    guard isGroup, !verbs.isEmpty, line.dropFirst(verbs.count).first == "help" else { return line }
    return ["help"] + verbs + line.dropFirst(verbs.count + 1)
  }

  /// `isGroup`: what is known has verbs of its own.
  private static func read(
    _ line: some Sequence<String>
  ) -> (known: [String], unknown: String?, isGroup: Bool) {
    var known = ["hearthctl"]
    var verbs = Hearthctl.configuration.subcommands
    for word in line {
      guard !verbs.isEmpty, !word.hasPrefix("-"), word != "help" else { break }
      guard let verb = verbs.first(where: { $0.configuration.commandName == word }) else {
        return (known, word, true)
      }
      known.append(word)
      verbs = verb.configuration.subcommands
    }
    return (known, nil, !verbs.isEmpty)
  }
}
