import HearthControl
import HearthCore
import TestSupport
import Testing

@testable import hearthctl

/// The real program against canned answers.
@Suite(.timeLimit(.minutes(1))) struct VerbTests {
  let folder = TemporaryFolder()

  func run(
    _ arguments: [String], input: String = "", into file: String? = nil,
    answer: @escaping @Sendable (Request) -> FakeDaemon.Answer
  ) async throws -> (Program.Outcome, [Request]) {
    let daemon = FakeDaemon(answer: answer)
    let outcome = try await Program.run(
      arguments, input: input, environment: ["HEARTH_SOCKET": daemon.path], into: file)
    return (outcome, daemon.asked)
  }

  @Test("without a daemon every verb says so in one sentence and exits 6")
  func noDaemon() async throws {
    let verbs = [
      ["status"], ["status", "work"], ["status", "--watch"], ["login", "work"], ["logout", "work"],
      ["token", "work"], ["refresh", "work"], ["lock"], ["unlock"], ["outbox", "add", "work", "POST", "https://x"],
      ["outbox", "list"], ["outbox", "show", "1"], ["outbox", "retry", "1"], ["outbox", "cancel", "1"],
      ["outbox", "pause"], ["outbox", "resume"], ["outbox", "flush"], ["outbox", "stats"],
      ["events"], ["metrics"], ["rpc", "session.list"],
    ]
    let path = folder.file("rpc.sock")
    for verb in verbs {
      let outcome = try await Program.run(verb + ["--json", "--socket", path])
      #expect(outcome.status == 6 && outcome.output == "", "\(verb)")
      #expect(
        outcome.errors
          == "hearthctl: No daemon answers on \(path). Run \"systemctl --user start hearthd\", or \"hearthd\" if you "
          + "do not use systemd.\n")
    }
  }

  @Test("without a way to the socket it says what to set")
  func noPath() async throws {
    let outcome = try await Program.run(["status"])
    #expect(outcome.status == 6 && outcome.errors.contains("XDG_RUNTIME_DIR"))
  }

  @Test(
    "wrong usage exits 64",
    arguments: [
      ["bogus"], ["status", "--bogus"], ["token", "work", "--min-valid", "x"], ["token", "work", "--wait=-1"],
      ["token", "work", "--min-valid", "-1"], ["login", "work", "--device", "--browser"],
      ["request", "work", "GET"], ["request", "work", "POST", "https://x", "--stale-if-error"], ["outbox", "retry"],
      ["outbox", "retry", "1", "--dead", "work"], ["outbox", "add", "work", "POST"],
      ["outbox", "add", "work", "POST", "https://x", "-H", "nonsense"], ["rpc", "m", "[1]"], ["rpc", "m", "{"],
      ["login", "work", "--refresh-token-stdin"], ["status", "--socket", String(repeating: "x", count: 108)],
    ])
  func usage(arguments: [String]) async throws {
    let (outcome, _) = try await run(arguments) { _ in .result(nil) }
    #expect(outcome.status == 64)
    #expect(outcome.output == "")
    #expect(outcome.errors != "")
  }

  @Test(
    "help is given wherever it is asked for",
    arguments: [["outbox", "help", "add"], ["help", "outbox", "add"], ["outbox", "add", "--help"]])
  func help(arguments: [String]) async throws {
    let outcome = try await Program.run(arguments)
    #expect(outcome.status == 0)
    #expect(outcome.output.contains("USAGE: hearthctl outbox add"))
    #expect(try await Program.run(["outbox", "help"]).status == 0)
    #expect(try await Program.run(["status", "help"]).status == 6, "an account may be called so")
  }

  @Test(
    "a verb that there is not is what is complained of, whatever stands behind it",
    arguments: [
      (["bogus", "--socket", "x"], "bogus\".", "hearthctl"), (["bogus"], "bogus\".", "hearthctl"),
      (["outbox", "bogus", "--json"], "bogus\".", "hearthctl outbox"), (["help", "bogus"], "bogus\".", "hearthctl"),
      (["outbox", "help", "bogus"], "bogus\".", "hearthctl outbox"),
      (["stauts"], "stauts\". Did you mean \"status\"?", "hearthctl"),
      (["outbox", "ad"], "ad\". Did you mean \"add\"?", "hearthctl outbox"),
      (["help", "outbox", "ad"], "ad\". Did you mean \"add\"?", "hearthctl outbox"),
    ])
  func unknownVerb(arguments: [String], what: String, command: String) async throws {
    let outcome = try await Program.run(arguments)
    #expect(outcome.status == 64)
    #expect(
      outcome.errors
        == "hearthctl: Unknown command \"\(what)\nSee '\(command) --help' for more information.\n")
  }

  @Test(
    "wrong usage names the command, also where it comes out only while it runs",
    arguments: [
      (["refresh"], "hearthctl refresh"), (["outbox", "retry"], "hearthctl outbox retry"),
      (["login", "work", "--refresh-token-stdin"], "hearthctl login"), (["rpc", "m", "{"], "hearthctl rpc"),
      (["outbox", "add", "work", "POST", "https://x", "-H", "nonsense"], "hearthctl outbox add"),
    ])
  func usageNamesTheCommand(arguments: [String], command: String) async throws {
    let (outcome, _) = try await run(arguments) { _ in .result(nil) }
    #expect(outcome.status == 64)
    #expect(outcome.errors.contains("See '\(command) --help' for more information."))
  }

  @Test("help and version exit 0")
  func help() async throws {
    #expect(try await Program.run(["--version"]).output == "hearthctl \(HearthVersion.text)\n")
    for arguments in [["outbox", "add", "--help"], ["help", "outbox", "add"], []] {
      #expect(try await Program.run(arguments).status == 0)
    }
  }

  private static let family = MetricFamily(
    name: "hearth_refreshes", type: .counter, unit: nil, help: "Refreshes.",
    samples: [MetricSample([MetricLabel("account", "work")], .number(2))])

  @Test(
    "metrics are printed as the daemon writes them, in Prometheus's own format, or as JSON",
    arguments: [
      ([], MetricsText.openMetrics([family])), (["--prometheus"], MetricsText.prometheus([family])),
      (["--json"], MetricsReport([family], as: .json).json.description + "\n"),
    ])
  func metrics(arguments: [String], output: String) async throws {
    let (outcome, asked) = try await run(["metrics"] + arguments) { request in
      let isText = request.params["format"] == "openmetrics"
      return .result(MetricsReport([Self.family], as: isText ? .openMetrics : .json).json)
    }
    #expect(outcome.status == 0 && outcome.output == output && outcome.errors == "")
    #expect(asked.map(\.method) == ["daemon.getMetrics"])
  }

  @Test("what cannot be written fails, and says why")
  func fullDisk() async throws {
    let (outcome, _) = try await run(["token", "work"], into: "/dev/full") { _ in .result(Samples.token) }
    #expect(outcome.status == 1)
    #expect(outcome.errors == "hearthctl: Cannot write the output: No space left on device.\n")
  }

  @Test("login without a name takes the default account, and is wrong usage without any account")
  func loginDefault() async throws {
    let (outcome, asked) = try await run(["login", "--device"]) { request in
      switch request.method {
      case ChooseAccount.name: .result(["account": "work", "reason": "only", "accounts": ["work"]])
      default: .error(RPCError(.flowNotSupported, message: "Not this flow."))
      }
    }
    #expect(outcome.status == 1)
    #expect(asked.contains { $0.method == BeginSignIn.name && $0.params["account"] == "work" })
    let (none, _) = try await run(["login"]) { _ in .result(["account": nil, "reason": nil, "accounts": []]) }
    #expect(none.status == 64)
  }

  @Test("token prints the token alone; with --header as a header")
  func token() async throws {
    let answer: @Sendable (Request) -> FakeDaemon.Answer = { _ in
      .result(Samples.token)
    }
    let (plain, asked) = try await run(["token", "work", "--min-valid", "90"], answer: answer)
    #expect(plain.output == "secret\n")
    #expect(plain.errors == "")
    #expect(plain.status == 0)
    #expect(asked[0].params == ["account": "work", "minValiditySeconds": 90])
    let (header, _) = try await run(["token", "work", "--header"], answer: answer)
    #expect(header.output == "Authorization: Bearer secret\n")
  }

  @Test("an error is one sentence on stderr, nothing on stdout, and its exit status")
  func errors() async throws {
    let (outcome, _) = try await run(["token", "work"]) { _ in
      .error(RPCError(.refreshUnavailable, message: "The provider cannot be reached.", retryAfterSeconds: 5))
    }
    #expect(outcome.status == 5)
    #expect(outcome.output == "")
    #expect(outcome.errors == "hearthctl: The provider cannot be reached.\n")
  }

  @Test("a result that this version does not know is said to be one, and is a failure")
  func unknownResult() async throws {
    var status = Samples.session().json.object ?? [:]
    status["state"] = "unheard-of"
    let answer = JSON.object(status)
    let (outcome, _) = try await run(["status", "work"]) { _ in .result(answer) }
    #expect(outcome.status == 1)
    #expect(
      outcome.errors
        == "hearthctl: Cannot parse the daemon's answer to session.get. Check that hearthd and its client have the "
        + "same version.\n")
  }

  @Test("unlock does not ask where standard input is no terminal")
  func unlockUnasked() async throws {
    let (outcome, asked) = try await run(["unlock", "work"], input: "p\n") { _ in
      .error(RPCError(.passphraseNeeded, message: "A passphrase is needed."))
    }
    #expect(outcome.status == 4)
    #expect(outcome.errors == "hearthctl: A passphrase is needed.\n")
    #expect(asked.count == 1)
  }

  @Test("unlock --passphrase-stdin sends the line on standard input")
  func unlockByInput() async throws {
    let (outcome, asked) = try await run(["unlock", "work", "--passphrase-stdin"], input: "a b \n") { _ in
      .result(["sessions": [Samples.session().json]])
    }
    #expect(outcome.status == 0)
    #expect(outcome.output == "work: Signed in.\n")
    #expect(asked[0].params == ["account": "work", "passphrase": "a b "])
  }

  @Test("events prints a line for each, and says when it fell behind")
  func events() async throws {
    let notifications = [
      Notification(.daemonReloaded, params: ["subscription": "s", "seq": 1]),
      Notification(.eventsClosed, params: ["subscription": "s", "seq": 2, "reason": "lagged"]),
    ]
    let (outcome, asked) = try await run(["events", "work", "--topic", "daemon", "--json"]) { _ in
      .events(Samples.subscription, notifications)
    }
    #expect(outcome.status == 5)
    #expect(
      outcome.output == #"{"method":"daemon.reloaded","params":{"subscription":"s","seq":1}}"# + "\n"
        + #"{"method":"events.closed","params":{"subscription":"s","seq":2,"reason":"lagged"}}"# + "\n")
    #expect(asked[0].params == ["account": "work", "topics": ["daemon"]])
  }

  @Test("events ends when the daemon stops")
  func eventsEnd() async throws {
    let (outcome, _) = try await run(["events"]) { _ in .stream(Samples.subscription, []) }
    #expect(outcome.status == 6)
    #expect(outcome.errors.hasPrefix("hearthctl: The daemon closed the connection. To find out why, run "))
  }

  @Test("rpc calls any method with an object, from standard input too, and prints the result")
  func rpc() async throws {
    let (outcome, asked) = try await run(["rpc", "a.b", "-"], input: #"{"x":1.0}"#) { _ in .result(["y": [1]]) }
    #expect(outcome.output == "{\"y\":[1]}\n")
    #expect(asked[0].method == "a.b")
    #expect(asked[0].params["x"]?.description == "1.0")
  }

  @Test("rpc --json prints the whole error, and exits with its status")
  func rpcError() async throws {
    let error = RPCError(.refreshUnavailable, account: AccountName("work"), message: "Not now.", retryAfterSeconds: 5)
    let (outcome, _) = try await run(["rpc", "session.refresh", #"{"account":"work"}"#, "--json"]) { _ in
      .error(error)
    }
    #expect(outcome.status == 5)
    #expect(outcome.output == error.json.description + "\n")
    #expect(outcome.errors == "hearthctl: Not now.\n")
  }

  @Test("logout says what the session says, and that the provider was not told")
  func logout() async throws {
    var status = Samples.signedOut.json.object ?? [:]
    status["revoked"] = false
    let answer = JSON.object(status)
    let (outcome, asked) = try await run(["logout", "work", "--discard-outbox"]) { request in
      .result(request.method == "session.get" ? Samples.session().json : answer)
    }
    #expect(outcome.status == 0)
    #expect(asked.last?.params == ["account": "work", "revoke": true, "outbox": "discard"])
    #expect(outcome.output == Samples.signedOut.message + "\n")
    #expect(
      outcome.errors
        == "The provider did not confirm that it revoked the grant. Revoke the client's access on the provider's "
        + "website.\n")
    let (again, _) = try await run(["logout", "home"]) { _ in .result(answer) }
    #expect(again.output == "home was already signed out.\n")
    #expect(again.errors == "")
    let (waiting, _) = try await run(["logout", "work", "--no-revoke"]) { request in
      switch request.method {
      case "session.get": .result(Samples.session().json)
      case "outbox.getStats": .result(Samples.stats(pending: 1, waiting: 1).json)
      default: .result(answer)
      }
    }
    #expect(waiting.errors.hasPrefix("2 undelivered outbox items remain. Hearth sends an item only after "))
  }

  @Test("logout says that a grant is revoked later, and where the session at the provider ends")
  func logoutEverywhere() async throws {
    var status = Samples.signedOut.json.object ?? [:]
    status["revoked"] = false
    status["revokesLater"] = true
    status["endSessionUrl"] = "https://id.example.com/logout"
    let answer = JSON.object(status)
    let (outcome, asked) = try await run(["logout", "work", "--everywhere", "--no-browser"]) { request in
      .result(request.method == "session.get" ? Samples.session().json : answer)
    }
    #expect(outcome.status == 0)
    #expect(
      asked.last { $0.method == "session.signOut" }?.params == [
        "account": "work", "revoke": true, "outbox": "keep", "everywhere": true,
      ])
    #expect(outcome.errors.contains("It keeps trying for up to seven days."))
    #expect(outcome.errors.contains("\n\n  https://id.example.com/logout\n"))
    status["endSessionUrl"] = nil
    status["endSessionError"] = "The provider names no such page."
    let missing = JSON.object(status)
    let (none, _) = try await run(["logout", "work", "--everywhere"]) { _ in .result(missing) }
    #expect(none.status == 0 && none.errors == "The provider names no such page.\n")
  }

  @Test("lock and refresh say what the session says")
  func messages() async throws {
    let (lock, _) = try await run(["lock"]) { _ in .result(["sessions": [Samples.locked.json]]) }
    #expect(lock.status == 0 && lock.output == "work: Locked. Run \"hearthctl unlock work\".\n")
    let (unseen, _) = try await run(["lock"]) { _ in .result(["sessions": [Samples.signedOut.json]]) }
    #expect(
      unseen.output == "home: Locked until the next sign-in. Sign in required. Run \"hearthctl login home\".\n",
      "its status does not show the lock")
    let (refresh, _) = try await run(["refresh", "work"]) { _ in .result(Samples.session().json) }
    #expect(refresh.output == "Refreshed. The new token is valid for 51 min.\n")
  }

  @Test("doctor tells what it looked at, and exits with what is worst")
  func doctor() async throws {
    let state = folder.path
    let daemon = FakeDaemon { request in
      switch request.method {
      case GetInfo.name:
        .result(
          DaemonInfo(
            pid: 7, startedAt: .now - .seconds(120), paths: [("configuration", nil), ("state", state)],
            warnings: ["There is no room."]
          ).json)
      case ListSessions.name: .result(["sessions": [Samples.session().json, Samples.locked.json]])
      case DiagnoseSession.name:
        .result(
          Diagnoses([
            Diagnosis(.providerName, .ok, "It is found."),
            Diagnosis(.providerConnection, .problem, "It cannot be reached."),
            Diagnosis(.clock, .warning, "It is off."),
          ]).json(at: Samples.start))
      default: .result(Samples.stats(dead: 2).json)
      }
    }
    let outcome = try await Program.run(
      ["doctor", "--socket", daemon.path],
      environment: ["HEARTH_STATE_DIR": "/elsewhere", "HEARTH_CONFIG": "/elsewhere", "HOME": folder.path])
    withExtendedLifetime(daemon) {}
    #expect(outcome.status == 4)
    #expect(
      outcome.output.hasPrefix(
        """
        problem  provider.connection: work: It cannot be reached.
        problem  session: work: Locked. Run "hearthctl unlock work".
        warning  configuration: The daemon runs without a configuration
        warning  daemon: There is no room.
        warning  clock: work: It is off.
        warning  outbox: work: 2 dead and 0 held items. Run "hearthctl outbox list work --state dead".
        ok       version, state, socket, provider.name
        For help, see
        """))
    #expect(
      outcome.output.hasSuffix(
        "For help, see \"The session is locked\", \"The provider says no\", \"The clock is wrong\", "
          + "\"Nothing is delivered\" in \"hearthctl docs troubleshooting\".\n"))
    let hungUp = FakeDaemon { _ in .hangUp }
    let cut = try await Program.run(["doctor", "--socket", hungUp.path], environment: ["HOME": folder.path])
    withExtendedLifetime(hungUp) {}
    #expect(cut.status == 5)
    #expect(cut.output.contains("before answering. To find out why, run \"systemctl --user status hearthd\""))
    let without = try await Program.run(
      ["doctor", "--json"], environment: ["HEARTH_SOCKET": folder.file("none"), "HOME": folder.path])
    #expect(without.status == 6)
    #expect(try JSON(parsing: without.output)["checks"]?.array?.isEmpty == false)
  }

  @Test("doctor checks each path once, even if the daemon hangs up in the middle")
  func doctorMidway() async throws {
    let state = folder.path
    let (outcome, _) = try await run(["doctor", "--json"]) { request in
      guard request.method == GetInfo.name else { return .hangUp }
      return .result(
        DaemonInfo(pid: 7, startedAt: .now, paths: [("configuration", nil), ("state", state)], warnings: []).json)
    }
    let checks = try #require(try JSON(parsing: outcome.output)["checks"]?.array)
    #expect(checks.map { $0["check"]?.string } == ["version", "configuration", "state", "socket", "daemon"])
    #expect(outcome.status == 5)
  }
}
