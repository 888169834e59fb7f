import Glibc
import HearthControl
import TestSupport
import Testing

/// The real programs, from `hearthctl login` through the provider's pages and back; a script plays the person.
@Suite("Signing in", .serialized, .mayBlock) struct SignInTests {
  static let browser =
    #filePath.split(separator: "/").dropLast(3).reduce("") { "\($0)/\($1)" } + "/etc/demo/browser.py"

  private static let scopes = "scopes = [\"openid\", \"offline_access\"]\n"

  private func login(
    _ environment: TestEnvironment, _ daemon: Daemon, _ arguments: [String] = [], browser: Bool = true,
    as user: [String: String] = [:], input: String? = nil, terminal: PseudoTerminal? = nil
  ) throws -> ChildProcess {
    var variables = user
    if browser { variables["BROWSER"] = Self.browser }
    return try environment.spawn(
      "hearthctl", ["login", "work", "--socket", daemon.socket] + arguments, environment: variables,
      user: environment.user, input: input, terminal: terminal)
  }

  private func status(_ process: ChildProcess) throws -> Int32 {
    guard case .exited(let status) = try process.wait(within: .seconds(60)) else { return -1 }
    return status
  }

  @Test("one command signs in by the browser, and what was written before is delivered under that user")
  func browser() async throws {
    try await TestEnvironment.session(Self.scopes, signsIn: false) { environment, sandbox, daemon in
      try daemon.call("outbox.enqueue", daemon.draft("before", to: sandbox.notes))
      let process = try login(environment, daemon)
      #expect(try status(process) == 0)
      #expect(process.output == "Signed in to work as ada.\n")
      #expect(process.errors.contains("Opening your browser"))
      let session = try SessionView(daemon.call("session.get", ["account": "work"]))
      #expect(session.state == "authenticated" && session.subject == "ada")
      try eventually("it is delivered") { try sandbox.written == ["before"] }
    }
  }

  /// A browser that another user runs, from when the provider sends it back. It writes that address into a file, and then
  /// what it is shown.
  private static let otherUsersBrowser = """
    import os, sys, urllib.request
    sys.dont_write_bytecode = True
    sys.path.insert(0, os.environ["DEMO"])
    import browser

    class Back(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, request, file, code, message, headers, url):
            if "/callback?" in url:
                os.setgroups([]), os.setgid(1), os.setuid(1)
                print(url, file=shown, flush=True)
            return super().redirect_request(request, file, code, message, headers, url)

    shown = open(os.environ["SHOWN"], "w")
    person = browser.Browser("ada", "password", "allow")
    cookies = urllib.request.HTTPCookieProcessor()
    person.opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), cookies, Back())
    try:
        person.sign_in(sys.argv[1])
    except browser.Trouble as trouble:
        print(trouble, file=shown)

    """

  @Test(
    "another user's browser is not taken at its word: page and terminal say why, and the terminal takes its address",
    .enabled(if: getuid() == 0, "Only root can start another user's browser."))
  func browserOfOtherUser() async throws {
    try await TestEnvironment.session(Self.scopes, signsIn: false) { environment, _, daemon in
      let (browser, shown) = (environment.folder + "/other.py", environment.folder + "/shown")
      try Files.write(Self.otherUsersBrowser, to: browser)
      let demo = String(Self.browser.dropLast("/browser.py".count))
      let terminal = PseudoTerminal()
      let process = try login(
        environment, daemon, ["--browser"], browser: false,
        as: ["BROWSER": "/usr/bin/python3 \(browser)", "DEMO": demo, "SHOWN": shown], terminal: terminal)
      try eventually("it asks for the address") { process.errors.hasSuffix("Paste the page's address here:\n\n") }
      let why = "The response from the browser was ignored, because another user's program sent it. "
      #expect(process.errors.contains(why))
      let page = try eventually("the page is shown") { Files.text(shown).wholeMatch(of: /(http\S+)\n(.+\n)/)?.output }
      #expect(page.2.contains("answers 403: ") && page.2.contains("Continue in the terminal \(why)"))
      let session = try daemon.call("session.get", ["account": "work"])
      #expect(session["signIn"]?["message"]?.string?.hasPrefix(why) == true && session["state"] == "unauthenticated")
      terminal.type(String(page.1))
      #expect(try status(process) == 0)
      #expect(process.output == "Signed in to work as ada.\n")
      for text in [process.errors, String(page.2)] { #expect(!text.contains("code=") && !text.contains("&state")) }
    }
  }

  @Test("a person who says no is told so in terminal and browser, and the session stays")
  func denied() async throws {
    try await TestEnvironment.session(Self.scopes) { environment, _, daemon in
      let before = try daemon.call("session.get", ["account": "work"])["token"]?["fingerprint"]
      let process = try login(environment, daemon, as: ["BROWSER_DECISION": "deny"])
      #expect(try status(process) == 1)
      #expect(process.errors.contains("The provider denied access"))
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
    try await TestEnvironment.session(Self.scopes) { environment, sandbox, daemon in
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
    try await TestEnvironment.session(Self.scopes + line + "\n", signsIn: false) { environment, sandbox, daemon in
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
      let daemon = try environment.daemon(Configuration.oidc(sandbox) + Self.scopes)
      let lost = try login(environment, daemon)
      #expect(try status(lost) != 0 && lost.errors.contains("\(path) redirects too many times"), "\(lost.errors)")
      let doctor = try environment.hearthctl(["doctor", "--socket", daemon.socket])
      #expect(doctor.output.contains("\(path) redirects too many times"), "\(doctor.output)")
      try sandbox.clearFaults()
      fault = ["path": .string(path), "status": 308, "redirect": .string(path + "#here"), "times": 1]
      try sandbox.fault(fault)
      #expect(try status(login(environment, daemon)) == 0)
    }
  }

  @Test("a device's code is shown, and the sign-in ends when the person has typed it in")
  func device() async throws {
    try await TestEnvironment.session(Self.scopes, sandbox: ["--device-interval", "1"], signsIn: false) {
      environment, sandbox, daemon in
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
    try await TestEnvironment.session(Self.scopes, signsIn: false) { environment, _, daemon in
      let process = try login(environment, daemon, ["--no-browser"])
      try eventually("it waits") { try daemon.call("session.get", ["account": "work"])["signIn"]?["flow"] == "browser" }
      process.signal(SIGINT)
      #expect(try status(process) == 130)
      #expect(process.errors.contains("cancelled"))
      #expect(try daemon.call("session.get", ["account": "work"])["signIn"]?.isNull == true)
    }
  }

  @Test("another user who signs in gets nothing of what waits, and is told that it does")
  func otherUser() async throws {
    try await TestEnvironment.session(Self.scopes) { environment, sandbox, daemon in
      try daemon.call("outbox.pause", ["account": "work"])
      try daemon.call("outbox.enqueue", daemon.draft("of 2482", to: sandbox.notes))
      let process = try login(environment, daemon)
      #expect(try status(process) == 0)
      #expect(process.errors.contains("1 outbox item is held"))
      try daemon.call("outbox.resume", ["account": "work"])
      #expect(try sandbox.written.isEmpty)
    }
  }

  @Test("while locked, signing in is refused unless the credential is to be replaced")
  func locked() async throws {
    try await TestEnvironment.session(Self.scopes) { environment, _, daemon in
      try daemon.call("session.lock", ["account": "work"])
      #expect(try status(login(environment, daemon)) == 4)
      #expect(try status(login(environment, daemon, ["--replace"])) == 0)
    }
  }

  @Test(
    "a lock ends a sign-in that waits for the person at once, with what helps; with a session and without",
    arguments: [true, false])
  func lockedMeanwhile(_ isSignedIn: Bool) async throws {
    try await TestEnvironment.session(Self.scopes, signsIn: false) { environment, sandbox, daemon in
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
    try await TestEnvironment.session(Self.scopes, signsIn: false) { environment, sandbox, daemon in
      try sandbox.fault(["mistake": "otherAudience"])
      #expect(try status(login(environment, daemon)) == 1)
      try eventually("it is revoked") { try sandbox.count("revocations") > 0 }
    }
  }

  @Test("on SIGTERM a code that was sent is redeemed to its end, and the session is there after the start")
  func redemptionWhileStopping() async throws {
    try await TestEnvironment.session(Self.scopes, signsIn: false) { environment, sandbox, daemon in
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
    try await TestEnvironment.session(Self.scopes, signsIn: false) { environment, sandbox, daemon in
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
        on: environment, configuration: Configuration.oidc(sandbox) + Self.scopes + "on_reauth = \"browser\"\n")
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
