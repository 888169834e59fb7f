import ArgumentParser

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
  static func verb(_ line: ArraySlice<String>) -> (any ParsableCommand)? {
    guard var verb = try? read(line.first, line.dropFirst()), (try? verb.validate()) != nil else { return nil }
    return verb
  }

  // A property of a verb that is not set here cannot be read.

  private static func read(_ verb: String?, _ words: ArraySlice<String>) throws -> any ParsableCommand {
    switch verb {
    case "token": try token(words)
    case "status": try status(words)
    case "outbox" where words.first == "add": try outboxAdd(words.dropFirst())
    case "credential": try credential(words.first, words.dropFirst())
    default: throw NotPlain()
    }
  }

  private static func token(_ words: ArraySlice<String>) throws -> TokenVerb {
    let line = try PlainLine(
      words, flags: ["--header"], options: ["--account", "--min-valid", "--for", "--headers"], arguments: 0...1)
    var verb = TokenVerb()
    verb.daemonOptions = try line.daemonOptions
    verb.choice = DefaultedAccount()
    (verb.choice.account, verb.choice.option) = (line.arguments.first, try line.accountOption)
    (verb.minValid, verb.wait) = (try line.number("--min-valid"), nil)
    (verb.header, verb.headers) = (line.flags.contains("--header"), try line.choice("--headers"))
    verb.url = try line.value("--for")
    return verb
  }

  private static func status(_ words: ArraySlice<String>) throws -> StatusVerb {
    let line = try PlainLine(words, flags: ["--watch", "--log", "--strict"], options: [], arguments: 0...1)
    var verb = StatusVerb()
    verb.daemonOptions = try line.daemonOptions
    verb.choice = AccountChoice()
    verb.choice.account = line.arguments.first
    (verb.watch, verb.log) = (line.flags.contains("--watch"), line.flags.contains("--log"))
    verb.strict = line.flags.contains("--strict")
    return verb
  }

  private static func outboxAdd(_ words: ArraySlice<String>) throws -> OutboxAddVerb {
    let line = try PlainLine(
      words, flags: ["--unordered"],
      options: [
        "--account", "--data", "--header", "--lane", "--key", "--replace-key", "--not-before", "--expires-at",
        "--expect",
      ],
      arguments: 2...3)
    var verb = OutboxAddVerb()
    verb.daemonOptions = try line.daemonOptions
    verb.request = RequestOptions()
    (verb.request.account, verb.request.method) = (line.arguments[0], line.arguments[1])
    verb.request.url = line.arguments.dropFirst(2).first
    verb.request.option = try line.accountOption
    (verb.request.data, verb.request.header) = (try line.value("--data"), line.values("--header"))
    (verb.lane, verb.unordered) = (try line.value("--lane"), line.flags.contains("--unordered"))
    (verb.key, verb.replaceKey) = (try line.value("--key"), try line.value("--replace-key"))
    (verb.notBefore, verb.expiresAt) = (try line.value("--not-before"), try line.value("--expires-at"))
    verb.expect = try line.value("--expect")
    return verb
  }

  private static func credential(_ name: String?, _ words: ArraySlice<String>) throws -> any ParsableCommand {
    switch name {
    case "git":
      let line = try PlainLine(words, flags: ["--bearer"], options: ["--account", "--username"], arguments: 1...1)
      var verb = CredentialGitVerb()
      (verb.source, verb.operation) = (try line.source, line.arguments[0])
      (verb.username, verb.bearer) = (try line.value("--username"), line.flags.contains("--bearer"))
      return verb
    case "docker":
      let line = try PlainLine(words, options: ["--account", "--username"], arguments: 1...1)
      var verb = CredentialDockerVerb()
      (verb.source, verb.operation) = (try line.source, line.arguments[0])
      verb.username = try line.value("--username") ?? CredentialDockerVerb.username
      return verb
    case "kubectl":
      let line = try PlainLine(words, options: ["--account", "--for"], arguments: 0...0)
      var verb = CredentialKubectlVerb()
      (verb.source, verb.url) = (try line.source, try line.value("--for"))
      return verb
    case "google":
      let line = try PlainLine(words, options: ["--account", "--for"], arguments: 0...0)
      var verb = CredentialGoogleVerb()
      (verb.source, verb.url) = (try line.source, try line.value("--for") ?? CredentialGoogleVerb.url)
      return verb
    case "goauth":
      let line = try PlainLine(words, options: ["--account", "--for"], arguments: 0...1)
      var verb = CredentialGoauthVerb()
      (verb.source, verb.server, verb.url) = (try line.source, try line.value("--for"), line.arguments.first)
      return verb
    case "bazel":
      let line = try PlainLine(words, options: ["--account"], arguments: 1...1)
      var verb = CredentialBazelVerb()
      (verb.source, verb.operation) = (try line.source, line.arguments[0])
      return verb
    case "terraform":
      let line = try PlainLine(words, options: ["--account"], arguments: 2...2)
      var verb = CredentialTerraformVerb()
      (verb.source, verb.operation, verb.host) = (try line.source, line.arguments[0], line.arguments[1])
      return verb
    default: throw NotPlain()
    }
  }

  /// Parses a line. `flags` and `options` contain the verb's own options, in addition to those that every verb has.
  /// `count` is the allowed number of arguments.
  private init(
    _ words: ArraySlice<String>, flags: [String] = [], options: [String], arguments count: ClosedRange<Int>
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

  private var accountOption: AccountOption {
    get throws {
      var option = AccountOption()
      option.account = try value("--account")
      return option
    }
  }

  private var source: CredentialSource {
    get throws { CredentialSource(account: try value("--account"), try daemonOptions) }
  }

  private var daemonOptions: DaemonOptions {
    get throws {
      let options = DaemonOptions.plain(
        socket: try value("--socket"), json: flags.contains("--json"), timeout: try number("--timeout"))
      try options.validate()
      return options
    }
  }
}
