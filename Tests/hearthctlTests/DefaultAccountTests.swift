import HearthControl
import HearthCore
import TestSupport
import Testing

@testable import hearthctl

/// Which account a command is for that names none.
@Suite(.timeLimit(.minutes(1))) struct DefaultAccountTests {
  private static let accounts: JSON = ["home", "work"]
  private static let locked = RPCError(.locked, message: "Locked.")

  /// A daemon with the accounts `home` and `work`, whose configuration says this. `locked`: an account that is.
  private func run(
    _ line: [String], input: String = "", environment: [String: String] = [:],
    choice: JSON = ["account": nil, "reason": nil, "accounts": accounts], locked: String? = nil
  ) async throws -> (Program.Outcome, asked: [Request]) {
    let daemon = FakeDaemon { request in
      switch request.method {
      case ChooseAccount.name: return .result(choice)
      case ListSessions.name:
        return .result(["sessions": [Samples.session("home").json, Samples.session("work").json]])
      case GetSession.name: return .result(Samples.session(request.params["account"]?.string ?? "").json)
      case GetToken.name where request.params["account"]?.string == locked: return .error(Self.locked)
      case GetToken.name:
        var token = Samples.token.object ?? [:]
        token["accessToken"] = .string("token-of-\(request.params["account"]?.string ?? "")")
        return .result(.object(token))
      case Enqueue.name: return .result(["id": "1", "state": "pending", "duplicate": false])
      default: return .hangUp
      }
    }
    let outcome = try await Program.run(
      line, input: input, environment: ["HEARTH_SOCKET": daemon.path].merging(environment) { $1 })
    return (outcome, daemon.asked)
  }

  private static func rule(_ account: String, directory: String? = nil, url: String? = nil) -> JSON {
    var choice: JSONObject = ["account": .string(account), "reason": "rule", "accounts": accounts]
    if let directory { choice["directory"] = .string(directory) }
    if let url { choice["url"] = .string(url) }
    return .object(choice)
  }

  @Test(
    "one that is named costs no further call: as an argument, as an option, or by the environment",
    arguments: [["token", "work"], ["token", "--account", "work"], ["token"]])
  func named(line: [String]) async throws {
    let environment = ["HEARTH_ACCOUNT": line.count > 1 ? "home" : "work"]
    let (outcome, asked) = try await run(line, environment: environment)
    #expect(outcome.output == "token-of-work\n")
    #expect(asked.map(\.method) == [GetToken.name])
  }

  @Test("else the configuration says which, for the working directory and the URL")
  func chosen() async throws {
    let (outcome, asked) = try await run(["token", "--for", "https://x.example/a"], choice: Self.rule("work"))
    #expect(outcome.output == "token-of-work\n")
    #expect(asked[0].params["url"] == "https://x.example/a")
    #expect(asked[0].params["directories"]?.array?.first?.string?.hasPrefix("/") == true)
    let bare = try await run(["token", "work", "--for", "x.example/a"]).asked
    #expect(bare.map(\.params["url"]) == ["https://x.example/a"], "a server without a scheme is one with https")
    let added = try await run(
      ["outbox", "add", "post", "https://x.example/b", "--data", "d"], choice: Self.rule("work"))
    #expect(added.asked[0].params["url"] == "https://x.example/b")
    #expect(added.asked[1].params["account"] == "work" && added.asked[1].params["method"] == "POST")
  }

  @Test(
    "the verbs about the outbox are for the account that is selected; for all with --all, or if nothing selects one",
    arguments: ["list", "stats", "flush", "pause", "resume"])
  func outbox(verb: String) async throws {
    #expect(try await run(["outbox", verb], choice: Self.rule("work")).asked.last?.params["account"] == "work")
    let environment = ["HEARTH_ACCOUNT": "home"]
    #expect(try await run(["outbox", verb], environment: environment).asked.last?.params["account"] == "home")
    #expect(try await run(["outbox", verb, "home"], choice: Self.rule("work")).asked.last?.params["account"] == "home")
    let only: JSON = ["account": "work", "reason": "only", "accounts": ["work"]]
    let all: [([String], JSON)] = [(["--all"], Self.rule("work")), ([], only)]
    for (line, choice) in all {
      let asked = try await run(["outbox", verb] + line, choice: choice).asked
      #expect(asked.last?.method.hasPrefix("outbox.") == true && asked.last?.params["account"] == nil)
    }
    #expect(try await run(["outbox", verb, "home", "--all"]).0.status == 64)
  }

  @Test("a working directory that was come to by a link has both names")
  func links() async throws {
    let folder = TemporaryFolder()
    func directories(_ shown: String) async throws -> JSON? {
      try await run(["token"], environment: ["PWD": shown], choice: Self.rule("work")).asked[0].params["directories"]
    }
    let own = try #require(try await directories("")?.array)
    #expect(own.count == 1)
    let link = folder.file("link")
    try Files.link(link, to: own[0].string ?? "")
    #expect(try await directories(link) == .array(own + [.string(link)]))
    #expect(try await directories("/nowhere") == .array(own), "one that is another is not believed")
  }

  @Test("of several accounts none is taken by chance: 64, and which there are")
  func ambiguous() async throws {
    for line in [["token"], ["which"], ["request", "GET", "https://x.example"], ["exec", "--", "true"]] {
      let outcome = try await run(line).0
      #expect(outcome.status == 64, "\(line)")
      #expect(
        outcome.errors.hasPrefix(
          "hearthctl: There are several accounts: home, work. Name one of them, set HEARTH_ACCOUNT"))
    }
    let none = try await run(["token"], choice: ["account": nil, "reason": nil, "accounts": []]).0
    #expect(none.status == 64 && none.errors.contains("hearthctl account add"))
  }

  @Test("which says which account it is, and why")
  func which() async throws {
    func line(_ choice: JSON, _ environment: [String: String] = [:]) async throws -> String {
      try await run(["which"], environment: environment, choice: choice).0.output
    }
    #expect(
      try await line(Self.rule("work", directory: "/w", url: "https://x.example"))
        == "work: selected by a [[use]] rule for directory /w and url https://x.example.\n")
    #expect(
      try await line(["account": "home", "reason": "default", "accounts": Self.accounts])
        == "home: selected by default_account.\n")
    #expect(
      try await line(["account": "home", "reason": "only", "accounts": ["home"]])
        == "home: selected as the only account.\n")
    #expect(try await line(nil, ["HEARTH_ACCOUNT": "home"]) == "home: selected by HEARTH_ACCOUNT.\n")
    let json = try await run(["which", "--json"], choice: Self.rule("work")).0
    #expect(try JSON(parsing: Array(json.output.utf8))["account"] == "work")
  }

  @Test("helpers ask the chosen account first, and nobody else while it is locked, for it has the server")
  func helpers() async throws {
    let asked = "protocol=https\nhost=git.example.com\npath=acme/notes.git\n\n"
    let git = ["credential", "git", "get"]
    let (chosen, calls) = try await run(git, input: asked, choice: Self.rule("work"))
    #expect(chosen.output == "username=oauth2\npassword=token-of-work\n")
    #expect(calls[1].params["url"] == "https://git.example.com/acme/notes.git", "with the path that git asks for")
    let locked = try await run(git, input: asked, choice: Self.rule("work"), locked: "work").0
    #expect((locked.output, locked.status) == ("quit=1\n", 4))
    #expect(try await run(git, input: asked, locked: "home").0.output.contains("token-of-work"), "none is chosen")
    let docker = ["credential", "docker", "get"]
    let called = try await run(docker, input: "x.example.com", choice: Self.rule("work")).asked
    #expect(called.map(\.method) == [ChooseAccount.name, GetToken.name], "as few calls as hearthctl token makes")
    #expect(
      try await run(docker, input: "x.example.com", environment: ["HEARTH_ACCOUNT": "work"]).0.output
        .contains("token-of-work"))
    #expect(try await run(docker, input: "x.example.com", choice: Self.rule("work"), locked: "work").0.status == 4)
  }

  @Test("an account that there is not is told with the one that is meant, and with those that there are")
  func hint() async throws {
    let daemon = FakeDaemon { request in
      request.method == ListSessions.name
        ? .result(["sessions": [Samples.session("home").json, Samples.session("work").json]])
        : .error(.unknownAccount(request.params["account"]?.string ?? ""))
    }
    for (name, hint) in [("wrok", " Did you mean \"work\"?"), ("office", "")] {
      let outcome = try await Program.run(["token", name], environment: ["HEARTH_SOCKET": daemon.path])
      #expect(outcome.status == 1)
      #expect(
        outcome.errors
          == "hearthctl: There is no account \"\(name)\" in the configuration.\(hint) Configured accounts: "
          + "home, work.\n")
    }
  }
}
