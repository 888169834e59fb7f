import ArgumentParser
import Testing

@testable import hearthctl

@Suite struct ExampleTests {
  @Test("the help of each verb has examples, and each of them can be typed", arguments: Self.verbs(of: Hearthctl.self))
  func examples(verb: Verb) throws {
    let discussion = try #require(verb.help.firstRange(of: "For example:"), "it has none")
    let lines = verb.help[discussion.upperBound...].replacing("\\\n", with: " ").split(separator: "\n")
    #expect(!lines.isEmpty)
    for line in lines {
      let words = Self.words(of: line)
      let command = try #require(words.firstIndex(of: "hearthctl"), "\(line)")
      let arguments = words[(command + 1)...].prefix { $0 != "|" && $0 != "#" }
      #expect(arguments.starts(with: verb.path), "\(line)")
      #expect(throws: Never.self, "\(line)") { try Hearthctl.verb(in: Array(arguments)) }
    }
  }

  struct Verb: CustomTestStringConvertible, Sendable {
    let path: [String]
    let help: String

    var testDescription: String { path.joined(separator: " ") }
  }

  /// Without those that only have others below them.
  private static func verbs(of command: any ParsableCommand.Type, path: [String] = []) -> [Verb] {
    let below = command.configuration.subcommands
    guard !below.isEmpty else { return [Verb(path: path, help: command.configuration.discussion)] }
    return below.flatMap { verbs(of: $0, path: path + [$0.configuration.commandName ?? ""]) }
  }

  /// As a shell splits a line that has single quotes alone.
  private static func words(of line: Substring) -> [String] {
    line.split(separator: "'", omittingEmptySubsequences: false).enumerated().flatMap { index, part in
      index % 2 == 1 ? [String(part)] : part.split(separator: " ").map(String.init)
    }
  }
}
