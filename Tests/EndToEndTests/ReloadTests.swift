import HearthClient
import HearthControl
import HearthCore
import TestSupport
import Testing

@Suite("A reload", .serialized, .mayBlock) struct ReloadTests {
  @Test("a reload of what the session need not know disturbs neither its refresh in flight nor a sign-in under way")
  func reloaded() async throws {
    let scopes = "scopes = [\"openid\"]\n"
    try await TestEnvironment.session(scopes) { environment, sandbox, daemon in
      let other = try environment.sandbox("other")
      let before = Configuration.oidc(sandbox) + scopes
      let first = try daemon.token()
      try sandbox.hold("/token")
      let socket = daemon.socket
      async let refresh = Daemon.refresh(at: socket)
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

      try Command.run(["/usr/bin/python3", SignInTests.browser, begun["authorizationUrl"]?.string ?? ""])
      let ended = try SessionView(daemon.call("session.awaitSignIn", ["signIn": begun["signIn"] ?? .null]))
      #expect(ended.state == "authenticated" && ended.subject == "ada")
    }
  }

  @Test("an account whose provider hangs holds up no other account, however it is changed meanwhile")
  func hangs() async throws {
    try await TestEnvironment.run { environment in
      let (sandbox, other) = (try environment.sandbox(), try environment.sandbox("other"))
      let longTimeout = "[refresh]\nrequest_timeout = \"5m\"\n"
      let before = Configuration.oidc(sandbox)
      let daemon = try environment.daemon(before + Configuration.oidc(other, account: "second") + longTimeout)
      try daemon.signIn(at: sandbox)
      try daemon.signIn("second", at: other)
      let old = try daemon.token()
      try daemon.refresh()
      try sandbox.hold("/token")
      var client = try ControlClient(path: daemon.socket)
      _ = try client.begin(RefreshSession(AccountName("work")!))
      try sandbox.waitUntilHeld()

      let file = "credential_file = \"\(environment.folder)/elsewhere.json\""
      let another = Configuration.oidc(other)
      let changes = [before, before + file + "\n", another, another + file + "\n", "", before]
      for (number, work) in changes.enumerated() {
        let place = "http://127.0.0.1:\(number + 1)"
        let second = Configuration.oidc(other, account: "second").replacing("\"]", with: "\", \"\(place)\"]")
        try daemon.configure(work + second + Configuration.oidc(other, account: "new\(number)") + longTimeout)
        try daemon.call("session.lock", ["account": "second"])
        try daemon.call("daemon.reload")
        try daemon.call("session.unlock")
        try daemon.call("session.getToken", ["account": "second", "url": .string(place)])
        #expect(try daemon.status("new\(number)").state == "unauthenticated")
        guard !work.isEmpty else { continue }
        let report: JSONObject = ["account": "work", "fingerprint": .string(old.fingerprint)]
        #expect(try daemon.call("session.reportUnauthorized", report)["account"] == "work")
      }
      #expect(try sandbox.count("held") == 1, "it is held still")
      try sandbox.release()
      try daemon.waitFor("authenticated")
    }
  }

  @Test("another way to the provider is gone from the next request on: what is in flight lands, and nothing ends")
  func anotherWay() async throws {
    try await TestEnvironment.run { environment in
      let sandbox = try environment.sandbox()
      func text(_ lines: String...) -> String {
        Configuration.oidc(sandbox, lines.joined(separator: "\n")) + "[refresh]\nbackoff_initial = \"5m\"\n"
      }
      let before = text()
      let daemon = try environment.daemon(before)
      try daemon.signIn(at: sandbox)
      let first = try daemon.token()
      try sandbox.hold("/token")
      let socket = daemon.socket
      async let refresh = Daemon.refresh(at: socket)
      try sandbox.waitUntilHeld()
      let begun = try daemon.call("session.beginSignIn", ["account": "work", "flow": "browser"])
      let signIn = try daemon.call("session.get", ["account": "work"])["signIn"]
      for changed in [
        text("client_secret_file = \"/nowhere\""), text("token_parameters = { audience = \"x\" }"),
        text("final_errors = [\"gone\"]", "default_lifetime = \"1h\""), text("proxy = \"http://127.0.0.1:1\""),
      ] {
        try daemon.configure(changed)
        try daemon.call("daemon.reload")
        #expect(try daemon.token().secret == first.secret)
        let status = try daemon.call("session.get", ["account": "work"])
        #expect(status["state"] == "authenticated" && status["refresh"]?["inFlight"] == true)
        #expect(status["signIn"] == signIn)
      }
      try sandbox.release()
      #expect(try await refresh["state"] == "authenticated")
      let second = try daemon.token()
      #expect(second.secret != first.secret)

      #expect(try daemon.refusal(of: "session.refresh", ["account": "work"]).code == 1004, "nobody is at the new way")
      try daemon.configure(before)
      try daemon.call("daemon.reload")
      try eventually("it is asked again without waiting") { try daemon.token().secret != second.secret }

      try Command.run(["/usr/bin/python3", SignInTests.browser, begun["authorizationUrl"]?.string ?? ""])
      let ended = try SessionView(daemon.call("session.awaitSignIn", ["signIn": begun["signIn"] ?? .null]))
      #expect(ended.state == "authenticated" && ended.subject == "ada")
    }
  }

  @Test("a refresh in flight lands where the credential is kept from now on, and a sign-in under way, too")
  func elsewhere() async throws {
    try await TestEnvironment.session { environment, sandbox, daemon in
      let first = try daemon.token()
      try sandbox.hold("/token")
      let socket = daemon.socket
      async let refresh = Daemon.refresh(at: socket)
      try sandbox.waitUntilHeld()
      let begun = try daemon.call("session.beginSignIn", ["account": "work", "flow": "browser"])
      let (key, moved) = ("\(environment.folder)/key", "\(environment.folder)/moved.json")
      try Files.write(String(repeating: "k", count: 40), to: key)
      try Files.write(Files.text(daemon.credential()), to: moved)
      let lines = "credential_file = \"\(moved)\"\nprotection = \"key-file\"\nkey_file = \"\(key)\""
      let before = Files.text(daemon.credential())
      for _ in 1...2 {
        try daemon.configure(Configuration.oidc(sandbox, lines))
        try daemon.call("daemon.reload")
        let status = try daemon.status()
        #expect(status.state == "authenticated" && status.refresh.json["inFlight"] == true)
        #expect(try daemon.token().secret == first.secret)
      }
      try sandbox.release()
      #expect(try await refresh["state"] == "authenticated")
      let second = try daemon.token()
      #expect(second.secret != first.secret && Files.text(daemon.credential()) == before)
      #expect(Files.text(moved).contains("\"sealed\"") && !Files.text(moved).contains(first.secret))
      try Command.run(["/usr/bin/python3", SignInTests.browser, begun["authorizationUrl"]?.string ?? ""])
      let ended = try SessionView(daemon.call("session.awaitSignIn", ["signIn": begun["signIn"] ?? .null]))
      #expect(ended.state == "authenticated" && Files.text(daemon.credential()) == before)
    }
  }

  @Test("another issuer loses nothing that a refresh in flight brings, and no hanging provider holds a reload up")
  func otherClient() async throws {
    try await TestEnvironment.session { environment, sandbox, daemon in
      let other = try environment.sandbox("other")
      let before = Configuration.oidc(sandbox)
      let first = try daemon.token()
      try sandbox.hold("/token")
      let socket = daemon.socket
      async let refresh = Daemon.refresh(at: socket)
      try sandbox.waitUntilHeld()
      let begun = try daemon.call("session.beginSignIn", ["account": "work", "flow": "browser"])
      try daemon.configure(Configuration.oidc(other) + Configuration.oidc(other, account: "second"))
      try daemon.call("daemon.reload")
      let status = try daemon.status()
      #expect(status.state == "authenticated" && status.action == "fixConfiguration")
      #expect(status.refresh.json["inFlight"] == true)
      #expect(try daemon.refusal(of: "session.awaitSignIn", ["signIn": begun["signIn"] ?? .null]).code == 1201)
      #expect(try daemon.call("session.get", ["account": "second"])["state"] != nil)
      try daemon.configure(before)
      try daemon.call("daemon.reload")
      try sandbox.release()
      #expect(try await refresh["state"] == "authenticated")
      #expect(try daemon.token().secret != first.secret && daemon.status().action == nil)
      try daemon.refresh()

      try sandbox.hold("/token")
      async let lost = Daemon.refresh(at: socket)
      try sandbox.waitUntilHeld()
      try daemon.configure(Configuration.oidc(other, account: "second"))
      try daemon.call("daemon.reload")
      #expect(try daemon.refusal(of: "session.get", ["account": "work"]).code == 1005)
      try sandbox.release()
      _ = try? await lost
      let removed = Files.text(daemon.credential())
      try daemon.configure(before)
      try daemon.call("daemon.reload")
      try daemon.waitFor("authenticated")
      #expect(removed == Files.text(daemon.credential()), "what landed after the account was gone is used")
      try daemon.refresh()
    }
  }
}
