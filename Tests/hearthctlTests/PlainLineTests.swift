import ArgumentParser
import HearthCore
import Testing

@testable import hearthctl

/// ArgumentParser is the measure: what is read without it must be what it reads.
@Suite struct PlainLineTests {
  private static func plain(_ line: [String]) -> String? { PlainLine.verb(line[...]).map { "\($0)" } }

  private static func parsed(_ line: [String]) throws -> String { "\(try Hearthctl.verb(in: line))" }

  @Test(
    "the calls that scripts make are plain, and read as ArgumentParser reads them",
    arguments: [
      "token", "token --account work", "token work", "token work --header", "token --min-valid 600 work --json",
      "token work --socket /s --timeout 2.5",
      "token help", "status", "status work", "status --json work", "status --watch --timeout 1e1", "status help",
      "outbox add POST https://x", "outbox add POST https://x --account work", "outbox add help PUT https://x",
      "outbox add work POST https://x", "outbox add work POST https://x --data -", "outbox add help add token",
      "outbox add --data @file --header A:1 --header @- work PUT https://x --lane l --key k --replace-key r",
      "outbox add work GET https://x --unordered --not-before t --expires-at u --expect json --json --socket s",
      "credential git get", "credential git --username me --bearer get --account work", "credential git help",
      "credential docker list --username me", "credential docker get --json", "credential kubectl",
      "credential kubectl --account work --socket /s", "credential google --for https://x --account work",
      "credential google", "credential kubectl --for https://x --account work", "token work --for https://x --header",
      "token work --headers json", "credential goauth", "credential goauth https://x/y --account work --for https://x",
      "credential bazel get --account work", "credential terraform get x.example.com --socket /s",
    ])
  func plainCalls(line: String) throws {
    let words = line.split(separator: " ").map(String.init)
    let call = try #require(Self.plain(words))
    #expect(try call == Self.parsed(words))
  }

  @Test(
    "whatever is spelled otherwise is left to ArgumentParser",
    arguments: [
      "", "token work --wait", "token --wait=5", "token --help", "token -h", "token work --min-valid=5",
      "token work --min-valid -1",
      "token work --min-valid x", "token work --min-valid", "token work home", "token -- work", "token work --bogus",
      "token work --json --json", "token work --timeout 1 --timeout 2", "token work --timeout nan",
      "token work --socket --json", "--json token work", "help token", "status a b", "outbox", "outbox help add",
      "outbox list", "outbox add work POST", "outbox add work POST https://x -d -",
      "outbox add work POST https://x --unordered --lane l", "outbox add work POST https://x --header @- --data -",
      "refresh work", "--version", "bogus", "credential", "credential git", "credential help git",
      "credential docker get --bearer", "credential kubectl get", "token work --headers yaml",
      "token work --headers json --header", "token work --headers json --json", "credential goauth a b",
      "credential bazel", "credential terraform get",
    ])
  func others(line: String) {
    #expect(Self.plain(line.split(separator: " ").map(String.init)) == nil)
  }

  @Test(
    "--wait takes a time where one is given with it, or is a flag",
    arguments: [
      ("token --wait work", 300), ("token work --wait --json", 300), ("token work --wait=5 --json", 5),
      ("token --wait 7 work", 7), ("token work", nil),
    ])
  func wait(line: String, seconds: Int?) throws {
    let verb = try #require(try Hearthctl.verb(in: line.split(separator: " ").map(String.init)) as? TokenVerb)
    #expect(verb.choice.account == "work" && verb.wait == seconds)
  }

  @Test("of lines made by chance none is read otherwise than ArgumentParser reads it", arguments: 1...4)
  func generated(seed: UInt64) throws {
    let options = [
      ("--socket", "/s"), ("--timeout", "1.5"), ("--min-valid", "+60"), ("--data", "-"), ("--header", "A: 1"),
      ("--lane", "l=1"), ("--key", ""), ("--replace-key", "é"), ("--not-before", "t"), ("--expires-at", "@"),
      ("--expect", "json"), ("--account", "home"), ("--username", "me"),
    ]
    let words =
      [
        "--json", "--header", "--watch", "--bearer", "--unordered", "work", "help", "-", "", "0x1", "1_0", " 5", "--",
        "-5", "−1",
      ]
      + ["--json=1", "-d", "--data=x", "-Hx", "--no-json", "-\u{301}", "add", "inf", "@f", "-h", "--help", "--sock"]
      + options.map(\.0)
    let verbs = [(["token"], 1), (["status"], 1), (["outbox", "add"], 3), (["credential", "git"], 1)]
    var generator = SeededGenerator(seed: seed)
    var count = 0
    for _ in 0..<500 {
      let (verb, arguments) = verbs.randomElement(using: &generator)!
      var parts = Array(repeating: ["work"], count: arguments)
      for _ in 0..<Int.random(in: 0...3, using: &generator) {
        let (option, value) = options.randomElement(using: &generator)!
        parts.append([option, Bool.random(using: &generator) ? value : words.randomElement(using: &generator)!])
      }
      if Bool.random(using: &generator) { parts.append([words.randomElement(using: &generator)!]) }
      let line = verb + parts.shuffled(using: &generator).joined()
      guard let call = Self.plain(line) else { continue }
      count += 1
      #expect(try call == Self.parsed(line), "\(line)")
    }
    #expect(count > 50, "enough of them are plain")
  }
}
