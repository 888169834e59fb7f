import ArgumentParser

/// What stands on the command line before options and arguments: the verbs.
enum Verbs {
  /// What stands where a verb belongs and is none.
  static func unknown(in line: some Sequence<String>) -> String? { read(line).unknown }

  /// The command with its verbs, as far as they are known: `hearthctl outbox add`.
  static func command(in line: some Sequence<String>) -> String { read(line).known.joined(separator: " ") }

  private static func read(_ line: some Sequence<String>) -> (known: [String], unknown: String?) {
    var known = ["hearthctl"]
    var verbs = Hearthctl.configuration.subcommands
    for word in line {
      guard !verbs.isEmpty, !word.hasPrefix("-"), word != "help" else { break }
      guard let verb = verbs.first(where: { $0.configuration.commandName == word }) else { return (known, word) }
      known.append(word)
      verbs = verb.configuration.subcommands
    }
    return (known, nil)
  }
}
