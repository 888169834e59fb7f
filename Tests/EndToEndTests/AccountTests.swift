import Glibc
import HearthControl
import TestSupport
import Testing

/// The real programs, from an empty home to a session and back.
@Suite("hearthctl account", .serialized, .mayBlock) struct AccountTests {
  private struct Scene {
    let environment: TestEnvironment
    let sandbox: Sandbox
    let daemon: Daemon

    func hearthctl(_ line: [String], input: String? = nil) throws -> TestEnvironment.Run {
      try environment.hearthctl(
        line, environment: ["HEARTH_SOCKET": daemon.socket, "HEARTH_CONFIG": daemon.configurationPath], input: input)
    }

    func add(_ name: String = "work", _ more: String...) throws -> TestEnvironment.Run {
      try hearthctl(
        ["account", "add", name, "--issuer", sandbox.url, "--client-id", "hearth", "--scope", "openid offline_access"]
          + ["--api-origin", sandbox.url] + more)
    }

    var text: String { Files.text(daemon.configurationPath) }
  }

  private static let old = """
    # Mine.
    [refresh]
    margin = "1m"    # not five

    """

  private func play(runs: Bool = true, _ body: (Scene) throws -> Void) async throws {
    try await TestEnvironment.run { environment in
      let sandbox = try environment.sandbox()
      let daemon = try Daemon(on: environment, configuration: Self.old)
      if runs { try daemon.start() }
      try body(Scene(environment: environment, sandbox: sandbox, daemon: daemon))
    }
  }

  @Test("an account that is added is served at once, and its provider is tried")
  func add() async throws {
    try await play { scene in
      let run = try scene.add()
      #expect(run.status == 0 && run.errors == "")
      #expect(run.output.contains("Added work to \(scene.daemon.configurationPath); the previous file is saved as "))
      #expect(run.output.contains("The daemon has loaded the account.\n"))
      #expect(
        run.output.contains(
          "Discovery at \(scene.sandbox.url)/.well-known/openid-configuration works. Token endpoint: "
            + "\(scene.sandbox.url)/token. Sign-in: in a browser or with a code on another device.\n"))
      #expect(run.output.hasSuffix("Next: hearthctl login work\n"), "nobody is asked without a terminal")
      #expect(
        scene.text == Self.old + """

          [accounts.work]
          type = "oidc"
          issuer = "\(scene.sandbox.url)"
          client_id = "hearth"
          scopes = ["openid", "offline_access"]
          api_origins = ["\(scene.sandbox.url)"]

          """)
      #expect(Files.text(scene.daemon.configurationPath + ".bak") == Self.old)
      try scene.daemon.waitFor("unauthenticated", "neverSignedIn")
    }
  }

  @Test("an API is added, a key is given another value, one is removed, and the daemon knows it at once")
  func change() async throws {
    try await play { scene in
      #expect(try scene.add().status == 0)
      let other = "https://api.example.com"
      let draft: JSONObject = ["account": "work", "method": "POST", "url": .string(other + "/a")]
      let refusal = try scene.daemon.refusal(of: "outbox.enqueue", draft)
      let line = try #require(refusal.message.split(separator: "\"").dropFirst().first)
      #expect(line == "hearthctl account set work --add api_origins \(other)", "the refusal names the command")
      let run = try scene.hearthctl(line.split(separator: " ").dropFirst().map(String.init))
      #expect(run.status == 0 && run.output.hasSuffix("The daemon has loaded the change.\n"), "\(run.errors)")
      #expect(scene.text.contains("api_origins = [\"\(other)\", \"\(scene.sandbox.url)\"]\n"))
      try scene.daemon.call("outbox.enqueue", draft)

      #expect(try scene.hearthctl(["account", "set", "work", "scopes", "openid", "email"]).status == 0)
      #expect(scene.text.contains("scopes = [\"openid\", \"email\"]\n"))
      #expect(try scene.hearthctl(["account", "set", "work", "redirect_port", "8123"]).status == 0)
      #expect(scene.text.contains("redirect_port = 8123\n"))
      #expect(try scene.hearthctl(["account", "unset", "work", "scopes", "redirect_port"]).status == 0)
      #expect(!scene.text.contains("scopes") && !scene.text.contains("redirect_port"))
    }
  }

  @Test(
    "a change that cannot be used is told, and nothing is written",
    arguments: [
      (["set", "work", "issuer", "nonsense"], "\"issuer\""), (["set", "work", "colour", "red"], "\"colour\""),
      (["set", "work", "issuer", "a", "b"], "takes one value"), (["set", "work", "a.b", "c"], "is not a key"),
      (["set", "work", "--add", "issuer", "a"], "is not a list"), (["unset", "work", "issuer"], "\"issuer\""),
      (["unset", "work", "scope"], "\"scope\" is not set for work"),
      (["set", "wrok", "scopes", "a"], "There is no account wrok"),
    ])
  func refusedChange(_ line: [String], _ reason: String) async throws {
    try await play(runs: false) { scene in
      #expect(try scene.add().status == 0)
      let text = scene.text
      let run = try scene.hearthctl(["account"] + line)
      #expect(run.status != 0 && run.output == "" && run.errors.contains(reason), "\(run.errors)")
      #expect(scene.text == text)
    }
  }

  @Test("an account that is there already is refused, and nothing is changed")
  func twice() async throws {
    try await play { scene in
      #expect(try scene.add().status == 0)
      let text = scene.text
      let run = try scene.add()
      #expect(run.status == 64 && run.errors.contains("already contains the account work."))
      #expect(scene.text == text)
    }
  }

  @Test(
    "a combination that cannot be used is told with its key, and nothing is written",
    arguments: [
      (["--type", "json", "--issuer", "https://x.example"], "\"issuer\" in [accounts.work] does not apply"),
      (["--provider", "google", "--client-id", "c", "--client-auth", "basic"], "lacks \"client_secret_file\""),
      (["--provider", "auth0"], "--issuer (such as https://example.eu.auth0.com/) and --client-id"),
      (["--provider", "gogle", "--client-id", "c"], "There is no provider \"gogle\". Did you mean \"google\"? The "),
      (["--client-id", "c"], "Choose a provider with --provider"),
      (["--issuer", "http://id.example.com", "--client-id", "c"], "http is allowed only for loopback addresses"),
      (["--issuer", "https://x.example", "--client-id", "a\u{1B}b"], "U+001B"),
      (["--issuer", "https://x.example", "--client-id", "c", "--token-parameter", "a"], "NAME=VALUE"),
    ])
  func refused(_ options: [String], _ reason: String) async throws {
    try await play(runs: false) { scene in
      let run = try scene.hearthctl(["account", "add", "work"] + options)
      #expect(run.status == 64 && run.output == "")
      #expect(run.errors.contains(reason), "\(run.errors)")
      #expect(!run.errors.contains(".toml."), "the draft is nobody's business: \(run.errors)")
      #expect(scene.text == Self.old && !Files.exists(scene.daemon.configurationPath + ".bak"))
    }
  }

  @Test("a configuration that cannot be used already is to be fixed first")
  func broken() async throws {
    try await play(runs: false) { scene in
      try scene.daemon.configure("[refresh]\nmargin = 5\n")
      let run = try scene.add()
      #expect(
        run.status == 1 && run.errors.contains("Fix the error in the configuration first")
          && run.errors.contains(":2: \"margin\""))
    }
  }

  @Test("without a daemon an account is written, listed and removed all the same")
  func withoutDaemon() async throws {
    try await play(runs: false) { scene in
      let run = try scene.add("work", "--json")
      let json = try JSON(parsing: Array(run.output.utf8))
      #expect(run.status == 0 && json["reloaded"] == false && json["next"] == "hearthctl login work")
      #expect(json["endpoints"]?["tokenEndpoint"] == .string(scene.sandbox.url + "/token"))
      let list = try scene.hearthctl(["account", "list"])
      #expect(list.output.contains("work     -         oidc  \(scene.sandbox.url)\n"))
      let refused = try scene.hearthctl(["account", "remove", "work"])
      #expect(refused.status == 6 && refused.errors.contains("--keep-credential"))
      #expect(try scene.hearthctl(["account", "remove", "work", "--keep-credential"]).status == 0)
      #expect(scene.text == Self.old)
    }
  }

  @Test("of a provider that cannot be reached nothing is written, unless that was asked for")
  func unreachable() async throws {
    try await play { scene in
      try scene.sandbox.stop()
      let run = try scene.add()
      #expect(run.status == 5 && run.output == "" && run.errors.contains("--no-check"))
      #expect(run.errors.contains("Cannot check the provider: Discovery failed: no connection to "))
      let named = try scene.hearthctl(
        ["account", "add", "other", "--type", "json", "--refresh-url", scene.sandbox.url + "/refresh"])
      #expect(named.status == 5 && named.errors.contains("No connection to "), "without discovery likewise")
      #expect(scene.text == Self.old)
      #expect(try scene.add("work", "--no-check").status == 0)
      try scene.daemon.waitFor("unauthenticated", "neverSignedIn")
    }
  }

  @Test("an issuer is written as it calls itself: with its final slash, its scheme, and without its document's address")
  func issuerAsItIs() async throws {
    try await play { scene in
      let url = scene.sandbox.url
      for (name, issuer) in [("slash", url + "/"), ("document", url + "/.well-known/openid-configuration")] {
        let run = try scene.hearthctl(["account", "add", name, "--issuer", issuer, "--client-id", "hearth"])
        #expect(run.status == 0 && run.errors == "")
        #expect(run.output.contains("The provider spells its issuer \(url), so the account uses") == (name == "slash"))
        #expect(scene.text.contains("[accounts.\(name)]\ntype = \"oidc\"\nissuer = \"\(url)\"\n"))
      }
      let host = try scene.hearthctl(
        ["account", "add", "host", "--issuer", "id.example.com", "--client-id", "hearth", "--no-check"])
      #expect(host.status == 0 && scene.text.contains("issuer = \"https://id.example.com\"\n"))
    }
  }

  @Test("an issuer that calls itself something else is refused, and nothing is written")
  func otherIssuer() async throws {
    try await play(runs: false) { scene in
      let url = scene.sandbox.url.replacing("127.0.0.1", with: "localhost")
      let run = try scene.hearthctl(["account", "add", "work", "--issuer", url, "--client-id", "hearth"])
      #expect(run.status == 1 && run.errors.contains("names \(scene.sandbox.url)"), "\(run.errors)")
      #expect(scene.text == Self.old)
    }
  }

  @Test("a mail address finds its provider, which is said and written; the name is the domain's or --name")
  func address() async throws {
    try await play { scene in
      let host = scene.sandbox.url.dropFirst("http://".count)
      let run = try scene.hearthctl(["account", "add", "ada@\(host)", "--client-id", "hearth", "--name", "mine"])
      #expect(run.status == 0 && run.errors == "The issuer of \(host) is \(scene.sandbox.url).\n", "\(run.errors)")
      #expect(
        scene.text.contains(
          "[accounts.mine]\ntype = \"oidc\"\nissuer = \"\(scene.sandbox.url)\"\nclient_id = \"hearth\"\n"
            + "authorization_parameters = { login_hint = \"ada@\(host)\" }\n"))
      let again = try scene.hearthctl(["account", "add", "ada@\(host)", "--client-id", "hearth"])
      #expect(again.status == 0 && scene.text.contains("[accounts.127]\n"))
      let named = try scene.hearthctl(
        ["account", "add", "ada@gmail.example", "--provider", "google", "--client-id", "c", "--no-check"])
      #expect(
        named.status == 0 && named.errors == "" && scene.text.contains("[accounts.gmail]\nprovider = \"google\"\n"))
      try scene.sandbox.fault(["path": "/.well-known/webfinger", "status": 404])
      let text = scene.text
      let unknown = try scene.hearthctl(["account", "add", "ada@\(host)", "--client-id", "hearth", "--name", "third"])
      #expect(unknown.status == 1 && unknown.errors.contains("does not publish its provider"))
      #expect(unknown.errors.contains("--issuer") && scene.text == text)
    }
  }

  @Test("without a client it is said which option is missing")
  func withoutClient() async throws {
    try await play(runs: false) { scene in
      let run = try scene.hearthctl(["account", "add", "work", "--issuer", scene.sandbox.url])
      #expect(run.status == 64 && run.errors.contains("Add --client-id ID") && scene.text == Self.old)
    }
  }

  @Test("scopes that are added to none keep the one that is asked for anyway")
  func addScope() async throws {
    try await play { scene in
      let run = try scene.hearthctl(["account", "add", "work", "--issuer", scene.sandbox.url, "--client-id", "hearth"])
      #expect(run.status == 0)
      #expect(try scene.hearthctl(["account", "set", "work", "--add", "scopes", "offline_access"]).status == 0)
      #expect(scene.text.contains("scopes = [\"offline_access\", \"openid\"]\n"))
    }
  }

  @Test("an editor gets a copy, and what it leaves takes the file's place once it can be used")
  func edit() async throws {
    try await play { scene in
      #expect(try scene.add().status == 0)
      let before = scene.text
      func edit(_ script: String) throws -> TestEnvironment.Run {
        try scene.environment.hearthctl(
          ["account", "edit"],
          environment: [
            "HEARTH_SOCKET": scene.daemon.socket, "HEARTH_CONFIG": scene.daemon.configurationPath,
            "VISUAL": "sed -i '\(script)'", "EDITOR": "false",
          ])
      }
      let same = try edit("s/a/a/")
      #expect(same.status == 0 && same.output == "Nothing was changed in \(scene.daemon.configurationPath).\n")
      let run = try edit("s/hearth\"/other\"/")
      #expect(run.status == 0 && run.output.hasSuffix("The daemon has loaded the change.\n"), "\(run.errors)")
      #expect(scene.text == before.replacing("\"hearth\"", with: "\"other\""))
      #expect(Files.text(scene.daemon.configurationPath + ".bak") == before)

      let aborted = try edit("s/a/b/;$q3")
      #expect(aborted.status == 1)
      #expect(
        aborted.errors.contains("exited with status 3. Nothing was changed. Your draft is in "), "\(aborted.errors)")

      let text = scene.text
      let refused = try edit("s/issuer/isuer/")
      let line =
        (text.split(separator: "\n", omittingEmptySubsequences: false).firstIndex { $0.hasPrefix("issuer") } ?? 0) + 1
      #expect(
        refused.status == 1 && refused.errors.contains("\(scene.daemon.configurationPath):\(line): "),
        "\(refused.errors)")
      let written = try #require(refused.errors.firstMatch(of: /Your draft is in (\S+\.toml)\./)?.output.1)
      #expect(Files.text(String(written)).contains("isuer = ") && scene.text == text)
    }
  }

  @Test("a secret that is typed in lies in a file of its own, and nowhere else")
  func secret() async throws {
    try await play { scene in
      let line = ["account", "add", "robot", "--type", "client-credentials", "--client-id", "robot"]
      let run = try scene.hearthctl(
        line + ["--token-endpoint", scene.sandbox.url + "/token", "--client-secret-stdin"], input: "s3cr3t\n")
      let file = scene.daemon.folder + "/robot.secret"
      #expect(run.status == 0 && run.output.contains("The client's secret is in \(file).\n"))
      #expect(Files.text(file) == "s3cr3t\n" && Files.mode(file) == 0o600)
      #expect(!scene.text.contains("s3cr3t") && scene.text.contains("client_secret_file = \"\(file)\"\n"))
      #expect(run.output.hasSuffix("Next: hearthctl token robot\n"))
      try scene.daemon.waitFor("authenticated", account: "robot")
      let bad = try scene.hearthctl(
        ["account", "add", "other", "--provider", "google", "--type", "json", "--client-secret-stdin"], input: "x\n")
      #expect(bad.status == 64 && !Files.exists(scene.daemon.folder + "/other.secret"))
    }
  }

  @Test("what is removed is signed out and revoked first, and what waits is told of")
  func remove() async throws {
    try await play { scene in
      #expect(try scene.add().status == 0)
      try scene.daemon.signIn(at: scene.sandbox)
      try scene.daemon.call("outbox.pause", ["account": "work"])
      let item = try scene.daemon.call("outbox.enqueue", scene.daemon.draft("later", to: scene.sandbox.notes))
      let rule = "\n[[use]]\naccount = \"work\"\ndirectory = \"~/work\"\n"
      let text = "default_account = \"work\"\n\(scene.text)\(rule)"
      try Files.write(text, to: scene.daemon.configurationPath)
      let asked = try scene.hearthctl(["account", "remove", "work"])
      #expect(asked.status == 64)
      let last = text.split(separator: "\n", omittingEmptySubsequences: false).count - 3
      #expect(
        asked.errors.contains(
          "work is signed in and has 1 item in its outbox. You will be signed out. The rules in lines 1, \(last) of "
            + "\(scene.daemon.configurationPath) that select work will also be removed. Use --yes to confirm."))
      #expect(scene.text == text)
      let run = try scene.hearthctl(["account", "remove", "work", "--yes"])
      #expect(run.status == 0 && run.output.contains("Signed out, and revoked the grant.\n"))
      #expect(run.output.contains("1 undelivered item remains in the outbox."))
      #expect(scene.text == Self.old)
      #expect(try scene.daemon.refusal(of: "session.get", ["account": "work"]).code == 1005)
      // What was said of the item is true.
      try scene.daemon.call("outbox.resume")
      let id = item["id"] ?? .null
      let left = try scene.daemon.call("outbox.get", ["id": id])
      #expect(left["state"] == "held" && left["reason"] == "originNotConfigured")
      #expect(try scene.add().status == 0)
      try scene.daemon.signIn(at: scene.sandbox)
      try scene.daemon.call("outbox.resume", ["account": "work"])
      try eventually("it is delivered") { try scene.sandbox.written == ["later"] }
    }
  }

  @Test("a credential that is kept is found again by an account of the same name")
  func keep() async throws {
    try await play { scene in
      #expect(try scene.add().status == 0)
      try scene.daemon.signIn(at: scene.sandbox)
      #expect(try scene.hearthctl(["account", "remove", "work", "--keep-credential", "--yes"]).status == 0)
      #expect(try scene.add().status == 0)
      try scene.daemon.waitFor("authenticated")
      let list = try scene.hearthctl(["account", "list", "--json"])
      let json = try JSON(parsing: Array(list.output.utf8))
      #expect(
        json["accounts"] == [
          [
            "account": "work", "type": "oidc", "provider": nil, "issuer": .string(scene.sandbox.url),
            "protection": "none",
            "state": "authenticated",
          ]
        ])
    }
  }

  @Test("the first file is made where the daemon looks for it, for its owner alone")
  func firstFile() async throws {
    try await TestEnvironment.run { environment in
      let line = ["account", "add", "mail", "--provider", "github", "--client-id", "c", "--socket", "/nowhere"]
      let run = try environment.hearthctl(line + ["--no-check"])
      let file = environment.folder + "/.config/hearth/config.toml"
      #expect(run.status == 0 && run.output.contains("Added mail to \(file).\nNo daemon is running. Run "))
      let apis = #"["https://api.github.com", "https://github.com"]"#
      #expect(
        Files.text(file) == "[accounts.mail]\nprovider = \"github\"\nclient_id = \"c\"\napi_origins = \(apis)\n")
      #expect(run.output.contains("sends the account's token only to https://api.github.com, https://github.com."))
      #expect(Files.mode(file) == 0o600)
      #expect(try environment.hearthd(["--check-config"]).output == "configuration \(file) is fine: 1 account (mail)\n")
    }
  }

  @Test("the accounts that others wrote otherwise are left to an editor")
  func otherForms() async throws {
    try await play(runs: false) { scene in
      let text = "accounts.work = { provider = \"github\", client_id = \"c\" }\n"
      try scene.daemon.configure(text)
      let run = try scene.hearthctl(["account", "remove", "work", "--keep-credential"])
      #expect(run.status == 1 && run.errors.contains("hearthctl account edit"))
      #expect(scene.text == text)
    }
  }
}
