import ArgumentParser
import HearthControl
import HearthCore

struct Hearthctl: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "hearthctl",
    abstract: "Show and control the sessions that hearthd manages.",
    discussion: """
      Exit status: 0 done, 1 failed (stderr says why), 3 sign-in needed, 4 locked, 5 temporary failure (retry \
      later), 6 no daemon on the socket, 64 usage error, 130 cancelled with Ctrl-C.
      """,
    version: "hearthctl \(HearthVersion.text)",
    subcommands: [
      StatusVerb.self, LoginVerb.self, LogoutVerb.self, TokenVerb.self, RefreshVerb.self, RetryVerb.self,
      LockVerb.self, UnlockVerb.self, ProtectVerb.self,
      AccountVerb.self, SinkVerb.self, OutboxVerb.self, RequestVerb.self, ExecVerb.self, WhichVerb.self,
      CredentialVerb.self, HelperVerb.self,
      TopVerb.self, EventsVerb.self, MetricsVerb.self, DoctorVerb.self, DocsVerb.self, ReloadVerb.self, RPCVerb.self,
    ])
}

extension Hearthctl {
  /// Parses the verb and its arguments with ArgumentParser.
  static func verb(in line: some Sequence<String>) throws -> any ParsableCommand {
    // Report an unknown verb here, because ArgumentParser's message would not name the verb.
    let (_, unknown, verbs) = read(line.filter { $0 != "help" })
    if let unknown { throw ValidationError("Unknown command \"\(unknown)\".\(verbs.suggestion(for: unknown))") }
    return try parseAsRoot(arranged(Array(line)))
  }

  /// Returns the known part of the command, such as `hearthctl outbox add`.
  static func command(in line: some Sequence<String>) -> String {
    read(line.filter { $0 != "help" }).known.joined(separator: " ")
  }

  /// Moves "help" to the front, where ArgumentParser expects it. For example, `outbox help add` becomes `help outbox
  /// add`.
  private static func arranged(_ line: [String]) -> [String] {
    let (known, _, further) = read(line)
    let verbs = known.dropFirst()
    guard !further.isEmpty, !verbs.isEmpty, line.dropFirst(verbs.count).first == "help" else { return line }
    return ["help"] + verbs + line.dropFirst(verbs.count + 1)
  }

  /// Reads the verbs at the start of the line. `unknown` is the word after them if it should be a verb but is not one.
  /// `further` contains the verbs that could follow.
  private static func read(
    _ line: some Sequence<String>
  ) -> (known: [String], unknown: String?, further: [String]) {
    var known = ["hearthctl"]
    var verbs = configuration.subcommands
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
  /// The first twelve names, separated by commas, and the number of the remaining names, if any.
  var listed: String { prefix(12).joined(separator: ", ") + (count > 12 ? " and \(count - 12) more" : "") }
}
