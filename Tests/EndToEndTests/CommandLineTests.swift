import HearthControl
import TestSupport
import Testing

@Suite("hearthctl", .serialized, .mayBlock) struct CommandLineTests {
  @Test("says how the session is, with its exit status, through all of its states")
  func states() async throws {
    try await TestEnvironment.session(Configuration.impatient, signsIn: false) { environment, sandbox, daemon in
      func run(_ arguments: String..., input: String? = nil) throws -> TestEnvironment.Run {
        try environment.hearthctl(arguments + ["--socket", daemon.socket], input: input)
      }
      func expect(_ status: Int32, _ words: String, _ run: TestEnvironment.Run) {
        #expect(run.status == status, "\(run)")
        #expect((run.output + run.errors).contains(words), "\(run)")
        #expect(!run.output.contains("\u{1b}"), "no colours but on a terminal")
      }
      try daemon.waitFor("unauthenticated", "neverSignedIn")
      expect(3, "sign-in needed", try run("status", "work"))
      expect(3, "hearthctl login work", try run("token", "work"))

      let grant = try sandbox.grant()
      expect(
        0, "Signed in to work as 2482.",
        try run("login", "work", "--refresh-token-stdin", input: grant.refreshToken + "\n"))
      expect(0, "work  signed in", try run("status"))
      let status = try JSON(parsing: Array(try run("status", "work", "--json").output.utf8))
      #expect(status["state"] == "authenticated")

      let token = try daemon.token().secret
      #expect(try run("token", "work").output == token + "\n")
      #expect(try run("token", "work", "--header").output == "Authorization: Bearer \(token)\n")
      expect(0, "Refreshed", try run("refresh", "work"))
      #expect(try run("token", "work").output != token + "\n")

      expect(0, "Locked", try run("lock", "work"))
      let locked = try run("token", "work")
      expect(4, "hearthctl unlock work", locked)
      #expect(locked.output.isEmpty)
      expect(4, "locked by you", try run("status"))
      expect(0, "Signed in", try run("unlock", "work"))

      try sandbox.revoke()
      expect(3, "hearthctl login work", try run("refresh", "work"))
      expect(3, "refreshTokenRejected", try run("status", "work"))
      expect(3, "hearthctl login work", try run("token", "work"))

      expect(0, "signed out", try run("logout", "work"))
      expect(3, "signed out", try run("status", "work"))
    }
  }

  @Test("a token that has expired and cannot be refreshed is exit status 5")
  func expired() async throws {
    try await TestEnvironment.session(Configuration.impatient, sandbox: ["--token-lifetime", "2"]) {
      environment, sandbox, daemon in
      try sandbox.stop()
      try daemon.waitUntil("the token has expired") { $0.token?.health == "expired" && $0.refresh.failures > 0 }
      #expect(try environment.hearthctl(["status", "work", "--socket", daemon.socket]).status == 5)
      #expect(try environment.hearthctl(["token", "work", "--socket", daemon.socket]).status == 5)
      try sandbox.start()
      try daemon.waitUntil("it is refreshed") { $0.token?.health == "fresh" }
      // Each further token lives as shortly, and is followed by another.
      try eventually("its exit status says so") {
        try environment.hearthctl(["status", "work", "--socket", daemon.socket]).status == 0
      }
    }
  }

  @Test("token --wait waits for an unlock, and no longer than it may; what the provider does not give is said")
  func waits() async throws {
    try await TestEnvironment.session(Configuration.impatient) { environment, _, daemon in
      try daemon.call("session.lock")
      let waiting = try environment.spawn("hearthctl", ["token", "--wait", "work", "--socket", daemon.socket])
      let locked = "hearthctl: Locked. Run \"hearthctl unlock work\"."
      try eventually("it says what it waits for") { waiting.errors == locked + " Waiting.\n" }
      let late = try environment.hearthctl(["token", "work", "--wait=0", "--socket", daemon.socket])
      #expect(late.status == 4 && late.output.isEmpty && late.errors == locked + "\n", "\(late)")
      try daemon.call("session.unlock")
      #expect(try waiting.waitForExit() == 0)
      #expect(try waiting.output == daemon.token().secret + "\n")
      let long = try environment.hearthctl(["token", "work", "--min-valid", "86400", "--socket", daemon.socket])
      #expect(try long.status == 0 && long.output == daemon.token().secret + "\n")
      #expect(
        long.errors.hasSuffix(
          ", not 86400 s, because the provider's tokens do not last long enough to guarantee that.\n"), "\(long)")
    }
  }

  @Test("retry asks the provider at once, though the next try is far away")
  func retry() async throws {
    try await TestEnvironment.session("[refresh]\nbackoff_initial = \"1h\"\nbackoff_max = \"1h\"\n") {
      environment, sandbox, daemon in
      let retry = ["retry", "work", "--socket", daemon.socket]
      try sandbox.stop()
      #expect(try environment.hearthctl(retry).status == 5)
      try daemon.waitUntil("the next try is far away") { $0.refresh.failures > 0 }
      try sandbox.start()
      #expect(try environment.hearthctl(retry).status == 0)
      try daemon.waitUntil("all is well") { $0.refresh.failures == 0 }
      try daemon.call("session.lock")
      #expect(try environment.hearthctl(retry).status == 4)
    }
  }

  @Test("a configuration that is refused is told by reload, status and doctor, until it is fixed")
  func refusedConfiguration() async throws {
    try await TestEnvironment.session { environment, sandbox, daemon in
      func run(_ line: String...) throws -> TestEnvironment.Run {
        try environment.hearthctl(line + ["--socket", daemon.socket])
      }
      try daemon.configure(Configuration.oidc(sandbox) + "silly = 1\n")
      let sentence = "\(daemon.configurationPath):6: unknown key \"silly\" in [accounts.work]"
      let reload = try run("reload")
      #expect(reload.status == 1 && reload.errors.contains(sentence))
      let warning = "the previous one stays in use. Reason: \(sentence). Fix it and run \"hearthctl reload\".\n"
      let status = try run("status")
      #expect(status.status == 0 && status.output.hasSuffix(warning), "\(status)")
      let json = try run("status", "work", "--json")
      #expect(try JSON(parsing: Array(json.output.utf8))["state"] == "authenticated")
      #expect(json.errors.hasSuffix(warning), "\(json)")
      #expect(try run("doctor").output.contains(sentence))
      try daemon.configure(Configuration.oidc(sandbox))
      #expect(try run("status").output.contains(sentence), "the daemon has not read it yet")
      #expect(try run("reload").status == 0)
      for line in ["status", "doctor"] { #expect(try !run(line).output.contains("silly")) }
    }
  }

  @Test("the commands that the sandbox prints can be typed, and the password is right")
  func sandboxGuide() async throws {
    try await TestEnvironment.run { environment in
      let process = try environment.spawn("hearth-sandbox", ["--password", "open sesame"])
      try eventually("the sandbox says how to try it") { process.errors.hasSuffix("account remove sandbox --yes\n") }
      #expect(process.errors.hasPrefix("Sign in with any user name and the password \"open sesame\"."))
      let daemon = try environment.daemon("")
      let address = try #require(
        process.output.split(separator: " ").last.flatMap {
          Int($0.trimmingPrefix("http://127.0.0.1:").filter(\.isNumber))
        })
      for line in process.errors.split(separator: "\n").dropFirst() {
        let words = line.replacing("'a note'", with: "note").split(separator: " ").map(String.init)
        #expect(words.first == "hearthctl")
        guard words[1] != "login" else {
          let grant = try HTTP.send("POST", port: address, "/__grant", ["subject": "2482"]).body
          try daemon.call(
            "session.import", ["account": "sandbox", "refreshToken": grant["refresh_token"] ?? .null])
          continue
        }
        let run = try environment.hearthctl(
          Array(words.dropFirst()),
          environment: ["HEARTH_SOCKET": daemon.socket, "HEARTH_CONFIG": daemon.configurationPath])
        #expect(run.status == 0, "\(line): \(run)")
      }
    }
  }

  @Test("works the outbox")
  func outbox() async throws {
    try await TestEnvironment.session(Configuration.impatient) { environment, sandbox, daemon in
      func run(_ arguments: String..., input: String? = nil) throws -> String {
        let run = try environment.hearthctl(arguments + ["--socket", daemon.socket], input: input)
        #expect(run.status == 0, "\(arguments): \(run)")
        return run.output
      }
      _ = try run("outbox", "pause")
      let id = try run("outbox", "add", "work", "POST", sandbox.notes, "--data", "a note", "-H", "X-Kind: note")
        .filter { !$0.isWhitespace }
      let other = try run(
        "outbox", "add", "work", "PUT", sandbox.notes, "--data", "-", "--key", "k", input: "from input"
      )
      .filter { !$0.isWhitespace }
      #expect(try run("outbox", "list").contains(id))
      #expect(try run("outbox", "show", id).contains("pending"))
      _ = try run("outbox", "cancel", other)
      _ = try run("outbox", "resume")
      _ = try run("outbox", "flush")
      #expect(try sandbox.written == ["a note"])
      #expect(try run("outbox", "stats").contains("delivered"))
      #expect(try JSON(parsing: Array(run("outbox", "stats", "--json").utf8))["delivered"] == 1)
    }
  }

  @Test("says where there is no daemon (6), what is wrong usage (64), and what the daemon refuses (1)")
  func failures() async throws {
    try await TestEnvironment.run { environment in
      let daemon = try environment.daemon("")
      func status(_ arguments: String...) throws -> Int32 { try environment.hearthctl(arguments).status }
      #expect(try status("status", "--socket", environment.folder + "/nothing") == 6)
      #expect(try status("status", "--flavour") == 64)
      #expect(try status("dance") == 64)
      #expect(try status("status", "nobody", "--socket", daemon.socket) == 1)
      #expect(try status("token", "nobody", "--socket", daemon.socket) == 1)
      #expect(try status("rpc", "no.such", "--socket", daemon.socket) == 1)
      #expect(try status("rpc", "daemon.getInfo", "--socket", daemon.socket) == 0)
      try daemon.crash()
      #expect(try status("status", "--socket", daemon.socket) == 6)
    }
  }

  @Test("events are printed as they come, as JSON one a line")
  func events() async throws {
    try await TestEnvironment.session(signsIn: false) { environment, sandbox, daemon in
      let watching = try environment.spawn("hearthctl", ["events", "--json", "--socket", daemon.socket])
      try daemon.signIn(at: sandbox)
      try eventually("the sign-in is printed") {
        // It may have subscribed after the sign-in.
        if watching.output.isEmpty { try daemon.refresh() }
        return watching.output.contains("session.")
      }
      for line in watching.output.split(separator: "\n") {
        #expect(throws: Never.self) { try JSON(parsing: Array(line.utf8)) }
      }
    }
  }
}
