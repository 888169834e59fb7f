import Glibc
import HearthControl
import HearthCore
import TestSupport
import Testing

/// The real program with a terminal for its standard input.
@Suite(.timeLimit(.minutes(1))) struct TerminalTests {
  private struct Outcome: Sendable {
    let status: Int32
    /// What the terminal showed of what was typed.
    let echoed: String
    let errors: String
    /// It edits lines and echoes again.
    let isAsBefore: Bool
  }

  /// Types each answer when its prompt has appeared, and `isReady`.
  private func run(
    _ arguments: [String], _ daemon: FakeDaemon, environment: [String: String] = [:],
    typing answers: [(prompt: String, typed: String)], after isReady: @escaping @Sendable () -> Bool = { true }
  ) async throws -> Outcome {
    let environment = environment.merging(["HEARTH_SOCKET": daemon.path]) { $1 }
    return try await onThread {
      let terminal = PseudoTerminal()
      let folder = TemporaryFolder()
      let process = try ChildProcess(
        "hearthctl", arguments, environment: environment, input: .file(terminal.path),
        outputFolder: folder.path)
      for (expected, typed) in answers {
        try eventually("hearthctl asks \(expected)") {
          process.errors.hasSuffix(expected) && isReady()
        }
        terminal.type(typed)
      }
      let status = try process.waitForExit()
      return Outcome(
        status: status, echoed: terminal.shown, errors: process.errors, isAsBefore: terminal.has(ECHO, ICANON))
    }
  }

  /// Of these accounts each needs its passphrase, which it was given when one was sent.
  private func daemon(_ sessions: [SessionStatus]) -> FakeDaemon {
    FakeDaemon { request in
      let account = request.params["account"]?.string
      let chosen = sessions.filter { account == nil || $0.account.description == account }
      switch (request.method, request.params["passphrase"]) {
      case (UnlockSessions.name, nil) where account != nil:
        return .error(RPCError(.passphraseNeeded, message: "A passphrase is needed."))
      case (UnlockSessions.name, "wrong"):
        return .error(RPCError(.wrongPassphrase, message: "The passphrase is wrong."))
      case (GetSession.name, _): return .result(chosen[0].json)
      case (UnlockSessions.name, .some), (ListSessions.name, _):
        return .result(["sessions": .array(chosen.map { Samples.session("\($0.account)").json })])
      default: return .result(["sessions": .array(chosen.map(\.json))])
      }
    }
  }

  private func sent(_ daemon: FakeDaemon) -> [String] {
    daemon.asked.compactMap { request in
      request.params["passphrase"]?.string.map { "\(request.params["account"]?.string ?? "all"): \($0)" }
    }
  }

  @Test("unlock asks for the passphrase on a terminal, without echo, and sends it")
  func asksWithoutEcho() async throws {
    let daemon = daemon([Samples.locked])
    let outcome = try await run(
      ["unlock", "work"], daemon, typing: [(prompt: "Passphrase for work: ", typed: "open sesame")])
    #expect(outcome.status == 0)
    #expect(outcome.isAsBefore, "the echo was left off")
    #expect(!outcome.echoed.contains("sesame"))
    #expect(sent(daemon) == ["work: open sesame"])
  }

  @Test("Ctrl-C at a prompt ends with 130, and the terminal is as before")
  func interrupted() async throws {
    let daemon = daemon([Samples.locked])
    let socket = daemon.path
    try await onThread {
      let (terminal, folder) = (PseudoTerminal(), TemporaryFolder())
      let process = try ChildProcess(
        "hearthctl", ["unlock", "work"], environment: ["HEARTH_SOCKET": socket], input: .file(terminal.path),
        outputFolder: folder.path)
      try eventually("hearthctl asks") { process.errors.hasSuffix("Passphrase for work: ") }
      process.signal(SIGINT)
      #expect(try process.wait() == .exited(130))
      #expect(terminal.has(ECHO, ICANON))
    }
    #expect(sent(daemon).isEmpty)
  }

  @Test("input typed after q in top is left to the shell")
  func typedAhead() async throws {
    let daemon = FakeDaemon { request in
      switch request.method {
      case Subscribe.name: .result(Samples.subscription)
      case ListSessions.name: .result(["sessions": [Samples.session().json]])
      default: .result(Samples.stats().json)
      }
    }
    let socket = daemon.path
    try await onThread {
      let (terminal, folder) = (PseudoTerminal(), TemporaryFolder())
      let process = try ChildProcess(
        "hearthctl", ["top"], environment: ["HEARTH_SOCKET": socket, "TERM": "xterm"], input: .file(terminal.path),
        output: terminal.path, outputFolder: folder.path)
      try eventually("top is there") { terminal.shown.contains("q quit") }
      terminal.type("qecho later")
      try eventually("top has ended") { !terminal.shown.isEmpty && process.status == .exited(0) }
      let shell = open(terminal.path, O_RDONLY | O_NOCTTY | O_NONBLOCK)
      defer { close(shell) }
      var bytes = [UInt8](repeating: 0, count: 64)
      let count = read(shell, &bytes, bytes.count)
      #expect(String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self) == "echo later\n")
    }
  }

  @Test("a first passphrase is said to be one, and asked for twice", arguments: ["open sesame", "open sesam"])
  func first(again: String) async throws {
    let daemon = daemon([Samples.signedOut])
    let outcome = try await run(
      ["unlock", "home"], daemon,
      typing: [
        (prompt: "New passphrase for home: ", typed: "open sesame"), (prompt: "Repeat the passphrase: ", typed: again),
      ])
    #expect(outcome.errors.hasPrefix("home has no passphrase yet"))
    if again == "open sesame" {
      #expect(outcome.status == 0)
      #expect(sent(daemon) == ["home: open sesame"])
    } else {
      #expect(outcome.status == 1)
      #expect(outcome.errors.contains("The passphrases do not match, so no passphrase was set."))
      #expect(sent(daemon).isEmpty)
    }
  }

  @Test("unlock without an account asks for each that needs it, and a wrong answer keeps none of the others locked")
  func all() async throws {
    let other = Samples.session("other", state: .locked(.explicit(.user)), health: nil)
    let daemon = daemon([Samples.locked, other])
    let outcome = try await run(
      ["unlock"], daemon,
      typing: [(prompt: "Passphrase for work: ", typed: "wrong"), (prompt: "Passphrase for other: ", typed: "sesame")])
    #expect(outcome.status == 4)
    #expect(outcome.errors.contains("hearthctl: work: The passphrase is wrong.\n"))
    #expect(sent(daemon) == ["work: wrong", "other: sesame"])
  }

  @Test("account add offers to sign in, and does so where the person wants that", arguments: ["", "n"])
  func offersSignIn(answer: String) async throws {
    let folder = TemporaryFolder()
    let configuration = folder.file("config.toml")
    let daemon = FakeDaemon { request in
      switch request.method {
      case GetInfo.name:
        let paths: [DaemonInfo.Path] = [("configuration", configuration)]
        return .result(DaemonInfo(pid: 1, startedAt: Timestamp(seconds: 1), paths: paths).json)
      case BeginSignIn.name: return .error(RPCError(.flowNotSupported, message: "Not this flow."))
      default: return .result(Samples.session("work").json)
      }
    }
    let outcome = try await run(
      ["account", "add", "work", "--provider", "github", "--no-check"], daemon,
      typing: [
        (prompt: "Client ID registered with your provider: ", typed: "c"),
        (prompt: "Client secret (leave empty if there is none): ", typed: "s3cr3t"),
        (prompt: "Sign in now? [Y/n] ", typed: answer),
      ])
    #expect(outcome.status == (answer == "n" ? 0 : 1))
    #expect(daemon.asked.contains { $0.method == BeginSignIn.name } == (answer != "n"))
    #expect(daemon.asked.contains { $0.method == ReloadConfiguration.name })
    let secret = folder.file("work.secret")
    #expect(
      Files.text(configuration).hasPrefix(
        "[accounts.work]\nprovider = \"github\"\nclient_id = \"c\"\nclient_secret_file = \"\(secret)\"\n"))
    #expect(Files.text(secret) == "s3cr3t\n" && !outcome.echoed.contains("s3cr3t"))
  }

  /// A daemon with a browser sign-in that never ends. It goes away when it gets the address that the browser ended at, or
  /// refuses that address.
  private func browserDaemon(refusing first: String? = nil) -> FakeDaemon {
    FakeDaemon { request in
      switch request.method {
      case BeginSignIn.name:
        return .result(["signIn": "s1", "authorizationUrl": "https://id.example.com/a", "expiresAt": nil])
      case AwaitSignIn.name: return .silence
      case CompleteSignIn.name:
        let isWrong = first != nil && request.params["address"]?.string == first
        return isWrong ? .error(.invalidParams("It is not this sign-in's address.")) : .hangUp
      default: return .result(nil)
      }
    }
  }

  private func addresses(_ daemon: FakeDaemon) -> [String] {
    daemon.asked.filter { $0.method == CompleteSignIn.name }.compactMap { $0.params["address"]?.string }
  }

  /// What the program says when it takes the address.
  private static let asksAddress = "paste that page's address here:\n\n"

  @Test("an address that is longer than a terminal's line is taken whole", arguments: [4094, 4095, 4096, 5903, 60_000])
  func longAddress(length: Int) async throws {
    let daemon = browserDaemon()
    let start = "http://127.0.0.1:8080/callback?state=s&code="
    let address = start + String(repeating: "c", count: length - start.utf8.count)
    let outcome = try await run(
      ["login", "work", "--no-browser"], daemon, typing: [(prompt: Self.asksAddress, typed: address)])
    #expect(addresses(daemon) == [address])
    #expect(outcome.isAsBefore)
  }

  @Test("a passphrase that is longer than a terminal's line is taken whole")
  func longPassphrase() async throws {
    let daemon = daemon([Samples.locked])
    let passphrase = String(repeating: "open sesame ", count: 500)
    let outcome = try await run(
      ["unlock", "work"], daemon, typing: [(prompt: "Passphrase for work: ", typed: passphrase)])
    #expect(outcome.status == 0 && outcome.isAsBefore)
    #expect(sent(daemon) == ["work: \(passphrase)"])
  }

  @Test("what is typed can be corrected: the last letter, the last word, the whole line")
  func corrected() async throws {
    let daemon = daemon([Samples.locked])
    let typed = "nonsense\u{15}open sesämö\u{7F}\u{7F}\u{7F}ame street \u{17}"
    _ = try await run(["unlock", "work"], daemon, typing: [(prompt: "Passphrase for work: ", typed: typed)])
    #expect(sent(daemon) == ["work: open sesame "])
  }

  @Test("an address that is refused is said to be, and the next one is taken")
  func refusedAddress() async throws {
    let daemon = browserDaemon(refusing: "http://wrong")
    let outcome = try await run(
      ["login", "work", "--no-browser"], daemon,
      typing: [
        (prompt: Self.asksAddress, typed: "http://wrong"), (prompt: "this sign-in's address.\n", typed: "http://right"),
      ])
    #expect(addresses(daemon) == ["http://wrong", "http://right"])
    #expect(outcome.isAsBefore)
  }

  @Test("a line that the terminal has cut is sent nowhere, and said to be cut", arguments: [4094, 4095, 5903])
  func cutBody(length: Int) async throws {
    let daemon = FakeDaemon { _ in .error(.invalidParams("It came whole.")) }
    let outcome = try await run(
      ["rpc", "outbox.get", "-"], daemon,
      typing: [(prompt: "", typed: "{\"id\":\"" + String(repeating: "c", count: length - 9) + "\"}\n\u{4}")])
    let isCut = length > 4094
    #expect(outcome.errors.contains(isCut ? "only 4095 bytes per line" : "It came whole."))
    #expect(daemon.asked.isEmpty == isCut)
  }

  @Test(
    "a browser that cannot be opened after all is said so, and the pasted address is taken",
    arguments: [
      ["BROWSER": "/bin/false"], ["BROWSER": "/nowhere:/bin/false"], ["DISPLAY": ":0"],
    ])
  func openerFails(variables: [String: String]) async throws {
    let folder = TemporaryFolder()
    let daemon = browserDaemon()
    let opener = folder.file("xdg-open")
    try Files.write("#!/bin/sh\nexit 3\n", to: opener)
    chmod(opener, 0o700)
    let outcome = try await run(
      ["login", "work", "--browser"], daemon, environment: variables.merging(["PATH": folder.path]) { $1 },
      typing: [(prompt: Self.asksAddress, typed: "http://127.0.0.1/callback?code=c")])
    let why = variables["DISPLAY"] == nil ? "/bin/false exited with status 1" : "xdg-open exited with status 3"
    #expect(outcome.errors.contains("Opening your browser to sign in to work."))
    #expect(outcome.errors.contains("Could not open a browser: \(why). Open this address in a browser"))
    #expect(addresses(daemon) == ["http://127.0.0.1/callback?code=c"])
    #expect(outcome.isAsBefore)
  }

  @Test("an answer of the browser that was not used is said so, and the pasted address is taken")
  func untrustedAnswer() async throws {
    var waiting = Samples.signedOut
    waiting.signIn = SignInProgress(flow: .browser, expiresAt: Samples.start, message: "It was not used.")
    let change = Notification(.sessionChanged, params: ["session": waiting.json])
    let daemon = FakeDaemon { request in
      switch request.method {
      case Subscribe.name:
        let subscription = Subscription(id: "1", seq: 0, sessions: [], outbox: OutboxStats())
        return .events(subscription.json(at: Samples.start), [change, change])
      case BeginSignIn.name:
        return .result(["signIn": "s1", "authorizationUrl": "https://id.example.com/a", "expiresAt": nil])
      case GetSession.name: return .error(.invalidParams("It is not said."))
      case CompleteSignIn.name: return .hangUp
      default: return .silence
      }
    }
    let outcome = try await run(
      ["login", "work", "--browser"], daemon, environment: ["BROWSER": "/bin/true"],
      typing: [
        (
          prompt: "It was not used.\n\nPaste the page's address here:\n\n",
          typed: "http://127.0.0.1/callback?code=c"
        )
      ])
    #expect(addresses(daemon) == ["http://127.0.0.1/callback?code=c"])
    #expect(outcome.errors.ranges(of: "It was not used.").count == 1, "it is said once")
    #expect(outcome.isAsBefore)
  }

  @Test("the next browser of BROWSER is tried after one that fails, and an address may be pasted beside it")
  func nextOpener() async throws {
    let folder = TemporaryFolder()
    let daemon = browserDaemon()
    let shown = folder.file("shown")
    let opener = folder.file("open")
    try Files.write("#!/bin/sh\necho \"$1\" > \(shown)\n", to: opener)
    chmod(opener, 0o700)
    let outcome = try await run(
      ["login", "work", "--browser"], daemon, environment: ["BROWSER": "/bin/false:\(opener)"],
      typing: [(prompt: "  https://id.example.com/a\n\n", typed: "http://127.0.0.1/callback?code=c")],
      after: { Files.text(shown) == "https://id.example.com/a\n" })
    #expect(!outcome.errors.contains("Could not open a browser"))
    #expect(addresses(daemon) == ["http://127.0.0.1/callback?code=c"])
  }
}
