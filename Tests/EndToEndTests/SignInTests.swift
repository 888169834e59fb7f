import Glibc
import HearthClient
import HearthControl
import TestSupport
import Testing

/// The real programs, from `hearthctl login` through the provider's pages and back; a script plays the person.
@Suite("Signing in", .serialized, .mayBlock) struct SignInTests {
  private static let browser =
    #filePath.split(separator: "/").dropLast(3).reduce("") { "\($0)/\($1)" } + "/etc/demo/browser.py"

  private func configuration(_ sandbox: Sandbox, _ lines: String...) -> String {
    Configuration.oidc(sandbox, "scopes = [\"openid\", \"offline_access\"]")
      + lines.map { $0 + "\n" }.joined()
  }

  private func login(
    _ environment: TestEnvironment, _ daemon: Daemon, _ arguments: [String] = [], browser: Bool = true,
    as user: [String: String] = [:], input: String? = nil
  ) throws -> ChildProcess {
    var variables = user
    if browser { variables["BROWSER"] = Self.browser }
    return try environment.spawn(
      "hearthctl", ["login", "work", "--socket", daemon.socket] + arguments, environment: variables,
      user: environment.user, input: input)
  }

  private func status(_ process: ChildProcess) throws -> Int32 {
    guard case .exited(let status) = try process.wait(within: .seconds(60)) else { return -1 }
    return status
  }

  @Test("one command signs in by the browser, and what was written before is delivered under that user")
  func browser() async throws {
    try await TestEnvironment.run { environment in
      let sandbox = try environment.sandbox()
      let daemon = try environment.daemon(configuration(sandbox))
      try daemon.call("outbox.enqueue", daemon.draft("before", to: sandbox.notes))
      let process = try login(environment, daemon)
      #expect(try status(process) == 0)
      #expect(process.output == "Signed in to work as ada.\n")
      #expect(process.errors.contains("Your browser opens"))
      let session = try SessionView(daemon.call("session.get", ["account": "work"]))
      #expect(session.state == "authenticated" && session.subject == "ada")
      try eventually("it is delivered") { try sandbox.written == ["before"] }
    }
  }

  @Test("a reload of what the session need not know disturbs neither its refresh in flight nor a sign-in under way")
  func reloaded() async throws {
    try await TestEnvironment.run { environment in
      let (sandbox, other) = (try environment.sandbox(), try environment.sandbox("other"))
      let before = Configuration.oidc(sandbox, "scopes = [\"openid\"]")
      let daemon = try environment.daemon(before)
      try daemon.signIn(at: sandbox)
      let first = try daemon.token()
      try sandbox.hold("/token")
      let socket = daemon.socket
      async let refresh: JSON = {
        var client = try ControlClient(path: socket)
        return try client.call(RefreshSession.name, ["account": "work"])
      }()
      try sandbox.waitUntilHeld()
      let begun = try daemon.call("session.beginSignIn", ["account": "work", "flow": "browser"])
      let signIn = try daemon.call("session.get", ["account": "work"])["signIn"]
      #expect(signIn?["flow"] == "browser")
      var events = try daemon.events("session", "daemon")

      let origins = before.replacing("\"\(sandbox.url)\"]", with: "\"\(sandbox.url)\", \"\(other.url)\"]")
      let account = origins.replacing("[\"openid\"]", with: "[\"openid\", \"offline_access\"]")
      let texts = [
        origins, origins + "[[accounts.work.delivery]]\nstatus = 404\noutcome = \"retry\"\n", account,
        account + "on_reauth = \"browser\"\nusername = \"ada\"\nlock_on = [\"unreadable\"]\n",
        account + "[log]\nlevel = \"warning\"\n[refresh]\nmargin = \"1m\"\nrequest_timeout = \"40s\"\n",
        account + Configuration.oidc(other, account: "second"), account,
      ]
      for text in texts {
        try daemon.configure(text)
        try daemon.call("daemon.reload")
        #expect(try daemon.token().secret == first.secret)
        try daemon.call("session.getToken", ["account": "work", "url": .string(other.url)])
        let status = try daemon.call("session.get", ["account": "work"])
        #expect(status["state"] == "authenticated" && status["refresh"]?["inFlight"] == true)
        #expect(status["signIn"] == signIn)
      }
      #expect(try sandbox.count("held") == 1, "it was asked once")
      try sandbox.release()
      #expect(try await refresh["state"] == "authenticated")
      var ofWork: [Notification] = []
      repeat { ofWork.append(try events.nextOfAny()) } while ofWork.last?.method != "session.refreshed"
      let changes = ofWork.filter { $0.method == "session.changed" }.compactMap { $0.params["session"] }
      #expect(changes.allSatisfy { $0["account"] != "work" || $0["state"] == "authenticated" }, "\(changes)")

      try Command.run(["/usr/bin/python3", Self.browser, begun["authorizationUrl"]?.string ?? ""])
      let ended = try SessionView(daemon.call("session.awaitSignIn", ["signIn": begun["signIn"] ?? .null]))
      #expect(ended.state == "authenticated" && ended.subject == "ada")
    }
  }

  @Test("a person who says no is told so in terminal and browser, and the session stays")
  func denied() async throws {
    try await TestEnvironment.run { environment in
      let sandbox = try environment.sandbox()
      let daemon = try environment.daemon(configuration(sandbox))
      try daemon.signIn(at: sandbox)
      let before = try daemon.call("session.get", ["account": "work"])["token"]?["fingerprint"]
      let process = try login(environment, daemon, as: ["BROWSER_DECISION": "deny"])
      #expect(try status(process) == 1)
      #expect(process.errors.contains("access was denied"))
      let after = try daemon.call("session.get", ["account": "work"])
      #expect(after["token"]?["fingerprint"] == before && after["signIn"]?.isNull == true)
    }
  }

  @Test(
    "a bad reply of the provider is refused in a sentence, and the session stays",
    arguments: [
      "wrongNonce", "noNonce", "algNone", "unknownKey", "wrongSignature", "otherAudience", "otherIssuer",
      "expiredIDToken", "wrongAtHash", "wrongIss", "noIss", "noCode", "replayedCode", "otherParty", "twoAudiences",
    ])
  func badReplies(_ mistake: String) async throws {
    try await TestEnvironment.run { environment in
      let sandbox = try environment.sandbox()
      let daemon = try environment.daemon(configuration(sandbox))
      try daemon.signIn(at: sandbox)
      let before = try daemon.call("session.get", ["account": "work"])["token"]?["fingerprint"]
      try sandbox.fault(["mistake": .string(mistake)])
      let process = try login(environment, daemon)
      #expect(try status(process) == 1)
      #expect(process.errors.contains("hearthctl: ") && !process.errors.contains("eyJ"))
      #expect(try daemon.call("session.get", ["account": "work"])["token"]?["fingerprint"] == before)
    }
  }

  @Test(
    "an ID token that is right in another form signs in, and goes on",
    arguments: [
      ("numericSubject", ""), ("twoAudiences", #"token_parameters = { audience = "https://api.example.com" }"#),
    ])
  func otherForms(_ mistake: String, _ line: String) async throws {
    try await TestEnvironment.run { environment in
      let sandbox = try environment.sandbox()
      let daemon = try environment.daemon(configuration(sandbox, line))
      try sandbox.fault(["mistake": .string(mistake)])
      let process = try login(environment, daemon, as: ["BROWSER_USER": "35"])
      #expect(try status(process) == 0 && process.output == "Signed in to work as 35.\n", "\(process.errors)")
      try daemon.refresh()
      let session = try SessionView(daemon.call("session.get", ["account": "work"]))
      #expect(session.state == "authenticated" && session.subject == "35")
    }
  }

  @Test("a discovery document that is redirected is found, and one that is so in a circle is told, by the doctor, too")
  func redirectedDiscovery() async throws {
    try await TestEnvironment.run { environment in
      let sandbox = try environment.sandbox()
      let path = "/.well-known/openid-configuration"
      var fault: JSON = ["path": .string(path), "status": 308, "redirect": .string(path)]
      try sandbox.fault(fault)
      let daemon = try environment.daemon(configuration(sandbox))
      let lost = try login(environment, daemon)
      #expect(try status(lost) != 0 && lost.errors.contains("\(path) redirects again and again"), "\(lost.errors)")
      let doctor = try environment.hearthctl(["doctor", "--socket", daemon.socket])
      #expect(doctor.output.contains("\(path) redirects again and again"), "\(doctor.output)")
      try sandbox.clearFaults()
      fault = ["path": .string(path), "status": 308, "redirect": .string(path + "#here"), "times": 1]
      try sandbox.fault(fault)
      #expect(try status(login(environment, daemon)) == 0)
    }
  }

  @Test("a device's code is shown, and the sign-in ends when the person has typed it in")
  func device() async throws {
    try await TestEnvironment.run { environment in
      let sandbox = try environment.sandbox("sandbox", "--device-interval", "1")
      let daemon = try environment.daemon(configuration(sandbox))
      let process = try login(environment, daemon, ["--device", "--json"], browser: false)
      let begun = try eventually("the code is shown") { () -> JSON? in
        try? JSON(parsing: Array((process.output.split(separator: "\n").first ?? "").utf8))
      }
      let code = try #require(begun["userCode"]?.string)
      #expect(begun["verificationUri"]?.string?.hasPrefix(sandbox.url) == true)
      #expect(try daemon.call("session.get", ["account": "work"])["signIn"]?["flow"] == "device")
      _ = try sandbox.call("POST", "/__decide", ["userCode": .string(code), "subject": "2482"])
      #expect(try status(process) == 0)
      #expect(try SessionView(daemon.call("session.get", ["account": "work"])).subject == "2482")
    }
  }

  @Test("an interruption gives the sign-in up at the daemon")
  func interrupted() async throws {
    try await TestEnvironment.run { environment in
      let sandbox = try environment.sandbox()
      let daemon = try environment.daemon(configuration(sandbox))
      let process = try login(environment, daemon, ["--no-browser"])
      try eventually("it waits") { try daemon.call("session.get", ["account": "work"])["signIn"]?["flow"] == "browser" }
      process.signal(SIGINT)
      #expect(try status(process) == 130)
      #expect(process.errors.contains("given up"))
      #expect(try daemon.call("session.get", ["account": "work"])["signIn"]?.isNull == true)
    }
  }

  @Test("another user who signs in gets nothing of what waits, and is told that it does")
  func otherUser() async throws {
    try await TestEnvironment.run { environment in
      let sandbox = try environment.sandbox()
      let daemon = try environment.daemon(configuration(sandbox))
      try daemon.signIn(at: sandbox)
      try daemon.call("outbox.pause", ["account": "work"])
      try daemon.call("outbox.enqueue", daemon.draft("of 2482", to: sandbox.notes))
      let process = try login(environment, daemon)
      #expect(try status(process) == 0)
      #expect(process.errors.contains("1 item of the outbox is held"))
      try daemon.call("outbox.resume", ["account": "work"])
      #expect(try sandbox.written.isEmpty)
    }
  }

  @Test("while locked, signing in is refused unless the credential is to be replaced")
  func locked() async throws {
    try await TestEnvironment.run { environment in
      let sandbox = try environment.sandbox()
      let daemon = try environment.daemon(configuration(sandbox))
      try daemon.signIn(at: sandbox)
      try daemon.call("session.lock", ["account": "work"])
      #expect(try status(login(environment, daemon)) == 4)
      #expect(try status(login(environment, daemon, ["--replace"])) == 0)
    }
  }

  @Test(
    "a lock ends a sign-in that waits for the person at once, with what helps; with a session and without",
    arguments: [true, false])
  func lockedMeanwhile(_ isSignedIn: Bool) async throws {
    try await TestEnvironment.run { environment in
      let sandbox = try environment.sandbox()
      let daemon = try environment.daemon(configuration(sandbox))
      if isSignedIn { try daemon.signIn(at: sandbox) }
      let process = try login(environment, daemon, ["--no-browser"])
      try eventually("it waits") { try daemon.call("session.get", ["account": "work"])["signIn"]?["flow"] == "browser" }
      try daemon.call("session.lock", ["account": "work"])
      #expect(try status(process) == 4)
      #expect(process.errors.hasSuffix("hearthctl: Locked. Run \"hearthctl unlock work\".\n"))
    }
  }

  @Test("a grant whose ID token is refused is revoked at the provider")
  func revokesRefused() async throws {
    try await TestEnvironment.run { environment in
      let sandbox = try environment.sandbox()
      let daemon = try environment.daemon(configuration(sandbox))
      try sandbox.fault(["mistake": "otherAudience"])
      #expect(try status(login(environment, daemon)) == 1)
      try eventually("it is revoked") { try sandbox.count("revocations") > 0 }
    }
  }

  @Test("on SIGTERM a code that was sent is redeemed to its end, and the session is there after the start")
  func redemptionWhileStopping() async throws {
    try await TestEnvironment.run { environment in
      let sandbox = try environment.sandbox()
      let daemon = try environment.daemon(configuration(sandbox))
      try sandbox.hold("/token")
      let process = try login(environment, daemon)
      try sandbox.waitUntilHeld()
      try daemon.beginStopping()
      try sandbox.release()
      #expect(try daemon.process?.wait() == .exited(0))
      #expect(try status(process) == 0, "whoever waits for it is told")
      #expect(process.output == "Signed in to work as ada.\n")
      try daemon.start()
      #expect(try daemon.waitFor("authenticated").subject == "ada")
    }
  }

  @Test("a backend of one's own takes user name and password, from standard input")
  func password() async throws {
    try await TestEnvironment.run { environment in
      let sandbox = try environment.sandbox()
      let daemon = try environment.daemon(
        """
        [accounts.work]
        type = "json"
        refresh_url = "\(sandbox.url)/auth/refresh"
        login_url = "\(sandbox.url)/auth/login"
        subject = "ada"
        api_origins = ["\(sandbox.url)"]

        """)
      let wrong = try login(environment, daemon, ["--password", "--username", "ada"], input: "wrong\n")
      #expect(try status(wrong) == 1)
      let right = try login(environment, daemon, ["--username", "ada"], browser: false, input: "password\n")
      #expect(try status(right) == 0)
      #expect(try SessionView(daemon.call("session.get", ["account": "work"])).state == "authenticated")
    }
  }

  @Test("nothing of a sign-in's secrets is in the log, and no one who guesses is let in")
  func secrets() async throws {
    try await TestEnvironment.run { environment in
      let sandbox = try environment.sandbox()
      let daemon = try environment.daemon(configuration(sandbox))
      let begun = try daemon.call("session.beginSignIn", ["account": "work", "flow": "browser"])
      #expect(try daemon.refusal(of: "session.awaitSignIn", ["signIn": "guess"]).code == 1204)
      let foreign = try daemon.refusal(
        of: "session.completeSignIn", ["signIn": begun["signIn"] ?? .null, "address": "http://127.0.0.1/?code=x"])
      #expect(foreign.code == 1201)
      _ = try daemon.call("session.cancelSignIn", ["signIn": begun["signIn"] ?? .null])
      #expect(try status(login(environment, daemon)) == 0)
      for token in try sandbox.tokens {
        for (path, text) in environment.output where !path.contains("sandbox") {
          #expect(!text.contains(token), "\(path)")
        }
      }
    }
  }

  @Test("a session that ends opens the browser where its account wants that, each time it ends, and not at a start")
  func reauth() async throws {
    try await TestEnvironment.run { environment in
      let sandbox = try environment.sandbox()
      let daemon = try Daemon(
        on: environment, name: "daemon", configuration: configuration(sandbox, "on_reauth = \"browser\""))
      daemon.variables["BROWSER"] = Self.browser
      try daemon.start()
      try daemon.signIn(at: sandbox)
      for _ in 1...2 {
        let before = try daemon.status().token?.fingerprint
        _ = try sandbox.call("POST", "/__revoke", [:])
        #expect(try daemon.refusal(of: "session.refresh", ["account": "work"]).code == 1002)
        try daemon.waitUntil("the person has signed in again") {
          $0.state == "authenticated" && $0.token?.fingerprint != before
        }
      }
      // A browser that does nothing: the end stays, and is an old one at the next start.
      try daemon.stop()
      daemon.variables["BROWSER"] = "true"
      try daemon.start()
      try daemon.waitFor("authenticated")
      _ = try sandbox.call("POST", "/__revoke", [:])
      #expect(try daemon.refusal(of: "session.refresh", ["account": "work"]).code == 1002)
      try daemon.waitUntil("the browser is opened") { $0.json["signIn"]?["flow"] == "browser" }
      try daemon.stop()
      daemon.variables["BROWSER"] = Self.browser
      try daemon.start()
      try daemon.waitFor("reauthRequired", "refreshTokenRejected")
      #expect(try daemon.status().json["signIn"]?.isNull == true)
    }
  }
}
