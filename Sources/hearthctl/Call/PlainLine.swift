/// A parser for simple command lines, which consist of a verb, arguments, and long options followed by their values. No
/// option is repeated, except those that the verb can read several times.
///
/// ArgumentParser takes several times as long as the call to the daemon, which matters to scripts that run these
/// commands in loops. It is still used for lines with other spellings, errors or requests for help. Both parsers give
/// the same result for a simple line.
struct PlainLine {
  /// Thrown if a line is invalid or must be parsed by ArgumentParser.
  private struct NotPlain: Error {}

  private var arguments: [String] = []
  private var flags: [String] = []
  private var options: [(name: String, value: String)] = []

  /// Parses a line, or returns `nil` if ArgumentParser must parse it.
  static func call(_ line: ArraySlice<String>) -> (any PlainCall)? {
    let verb = line.dropFirst()
    guard let call = try? read(line.first, verb), (try? call.validate()) != nil else { return nil }
    return call
  }

  private static func read(_ verb: String?, _ words: ArraySlice<String>) throws -> any PlainCall {
    switch verb {
    case "token": try token(words)
    case "status": try status(words)
    case "outbox" where words.first == "add": try outboxAdd(words.dropFirst())
    case "credential": try credential(words.first, words.dropFirst())
    default: throw NotPlain()
    }
  }

  private static func token(_ words: ArraySlice<String>) throws -> TokenCall {
    let line = try PlainLine(
      words, flags: ["--header"], options: ["--account", "--min-valid", "--for", "--headers"], arguments: 0...1)
    return TokenCall(
      account: try line.arguments.first ?? line.value("--account"), minValid: try line.number("--min-valid"),
      header: line.flags.contains("--header"), headers: try line.choice("--headers"),
      url: try line.value("--for"), daemon: try line.daemon)
  }

  private static func status(_ words: ArraySlice<String>) throws -> StatusCall {
    let line = try PlainLine(words, flags: ["--watch", "--log", "--strict"], options: [], arguments: 0...1)
    return StatusCall(
      account: line.arguments.first, watch: line.flags.contains("--watch"), log: line.flags.contains("--log"),
      strict: line.flags.contains("--strict"), daemon: try line.daemon)
  }

  private static func outboxAdd(_ words: ArraySlice<String>) throws -> OutboxAddCall {
    let line = try PlainLine(
      words, flags: ["--unordered"],
      options: [
        "--account", "--data", "--header", "--lane", "--key", "--replace-key", "--not-before", "--expires-at",
        "--expect",
      ],
      arguments: 2...3)
    return OutboxAddCall(
      content: RequestContent(
        line.arguments, account: try line.value("--account"), data: try line.value("--data"),
        header: line.values("--header")), lane: try line.value("--lane"), unordered: line.flags.contains("--unordered"),
      key: try line.value("--key"), replaceKey: try line.value("--replace-key"),
      notBefore: try line.value("--not-before"), expiresAt: try line.value("--expires-at"),
      expect: try line.value("--expect"), daemon: try line.daemon)
  }

  private static func credential(_ verb: String?, _ words: ArraySlice<String>) throws -> any PlainCall {
    switch verb {
    case "git":
      let line = try PlainLine(words, flags: ["--bearer"], options: ["--account", "--username"], arguments: 1...1)
      return CredentialGitCall(
        source: try line.source, username: try line.value("--username"), bearer: line.flags.contains("--bearer"),
        operation: line.arguments[0])
    case "docker":
      let line = try PlainLine(words, flags: [], options: ["--account", "--username"], arguments: 1...1)
      return CredentialDockerCall(
        source: try line.source, username: try line.value("--username") ?? CredentialDockerCall.username,
        operation: line.arguments[0])
    case "kubectl":
      let line = try PlainLine(words, flags: [], options: ["--account", "--for"], arguments: 0...0)
      return CredentialKubectlCall(source: try line.source, url: try line.value("--for"))
    case "google":
      let line = try PlainLine(words, flags: [], options: ["--account", "--for"], arguments: 0...0)
      return CredentialGoogleCall(source: try line.source, url: try line.value("--for") ?? CredentialGoogleCall.url)
    case "goauth":
      let line = try PlainLine(words, flags: [], options: ["--account", "--for"], arguments: 0...1)
      return CredentialGoauthCall(
        source: try line.source, server: try line.value("--for"), url: line.arguments.first)
    case "bazel":
      let line = try PlainLine(words, flags: [], options: ["--account"], arguments: 1...1)
      return CredentialBazelCall(source: try line.source, operation: line.arguments[0])
    case "terraform":
      let line = try PlainLine(words, flags: [], options: ["--account"], arguments: 2...2)
      return CredentialTerraformCall(
        source: try line.source, operation: line.arguments[0], host: line.arguments[1])
    default: throw NotPlain()
    }
  }

  /// Parses a line. `flags` and `options` contain the verb's own options, in addition to those that every verb has.
  /// `count` is the allowed number of arguments.
  private init(
    _ words: ArraySlice<String>, flags: [String], options: [String], arguments count: ClosedRange<Int>
  ) throws {
    var rest = words
    while let word = rest.popFirst() {
      if !Self.isOption(word) {
        arguments.append(word)
      } else if word == "--json" || flags.contains(word) {
        guard !self.flags.contains(word) else { throw NotPlain() }
        self.flags.append(word)
      } else if word == "--socket" || word == "--timeout" || options.contains(word) {
        guard let value = rest.popFirst(), !Self.isOption(value) else { throw NotPlain() }
        self.options.append((word, value))
      } else {
        throw NotPlain()
      }
    }
    guard count.contains(arguments.count) else { throw NotPlain() }
  }

  /// Returns whether the word is an option. A single `-` is an argument that means standard input.
  private static func isOption(_ word: String) -> Bool { word.utf8.first == UInt8(ascii: "-") && word.utf8.count > 1 }

  private func values(_ option: String) -> [String] { options.filter { $0.name == option }.map(\.value) }

  /// Returns the option's value, or `nil` if the option is missing.
  private func value(_ option: String) throws -> String? {
    let values = values(option)
    guard values.count <= 1 else { throw NotPlain() }
    return values.first
  }

  private func number<Number: LosslessStringConvertible>(_ option: String) throws -> Number? {
    guard let value = try value(option) else { return nil }
    guard let number = Number(value) else { throw NotPlain() }
    return number
  }

  private func choice<Choice: RawRepresentable<String>>(_ option: String) throws -> Choice? {
    guard let value = try value(option) else { return nil }
    guard let choice = Choice(rawValue: value) else { throw NotPlain() }
    return choice
  }

  private var source: CredentialChoice {
    get throws { CredentialChoice(account: try value("--account"), daemon: try daemon) }
  }

  private var daemon: DaemonChoice {
    get throws {
      let choice = DaemonChoice(
        socket: try value("--socket"), json: flags.contains("--json"), timeout: try number("--timeout"))
      try choice.validate()
      return choice
    }
  }
}
