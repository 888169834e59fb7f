import Glibc
import HearthControl
import TestSupport
import Testing

@Suite("What the clients of oidc-agent are answered", .serialized, .mayBlock)
struct OIDCAgentTests {
  /// A daemon with the account "work", which is signed in, and "other", which is not, and the agent beside it.
  private struct Scene {
    let daemon: Daemon
    let sandbox: Sandbox
    let agent: ChildProcess
    let socket: String

    func ask(_ request: JSONObject) throws -> JSON {
      let client = try RawClient(path: socket)
      client.send(raw: JSON.object(request).description)
      return try JSON(parsing: client.receiveToEnd())
    }

    func token(_ more: JSONObject = ["account": "work"]) throws -> JSON {
      var request = more
      request["request"] = "access_token"
      return try ask(request)
    }
  }

  private func serving(_ body: (Scene) async throws -> Void) async throws {
    try await TestEnvironment.run { environment in
      let sandbox = try environment.sandbox()
      let daemon = try environment.daemon(
        Configuration.oidc(sandbox, "scopes = [\"openid\", \"notes\"]") + Configuration.oidc(sandbox, account: "other"))
      try daemon.signIn(at: sandbox)
      let socket = "\(daemon.folder)/run/oidc-agent.sock"
      let agent = try environment.spawn("hearth-oidc-agent", ["--socket", daemon.socket])
      try eventually("the agent listens") { (try? RawClient(path: socket)) != nil }
      try await body(Scene(daemon: daemon, sandbox: sandbox, agent: agent, socket: socket))
      agent.signal(SIGTERM)
      #expect(try agent.wait() == .exited(0))
      #expect(!Files.exists(socket) && agent.errors.isEmpty)
    }
  }

  @Test("a token is given by the account's name; of several accounts of an issuer none is chosen")
  func tokens() async throws {
    try await serving { scene in
      let given = try scene.token()
      let own = try scene.daemon.call("session.getToken", ["account": "work"])
      #expect(given["access_token"] == own["accessToken"] && given["issuer"] == own["issuer"])
      #expect((given["expires_at"]?.int ?? 0) > 1_000_000_000)
      #expect(try scene.token(["account": "nobody"])["error"] == "No account configured with that short name")
      #expect(try scene.token(["account": "other"])["error"] == "account not loaded")
      #expect(try scene.token(["issuer": "https://nobody.example.com"])["error"] == "account not loaded")
      let issuer = try #require(own["issuer"]?.string)
      #expect(
        try scene.token(["issuer": .string(issuer + "/")])["info"] == "Request one of them by name: other, work.\n")
      try scene.daemon.configure(Configuration.oidc(scene.sandbox))
      try scene.daemon.call("daemon.reload")
      #expect(try scene.token(["issuer": .string(issuer + "/")])["access_token"] == own["accessToken"])
    }
  }

  @Test("scopes and an audience may be asked for where the tokens have them; others are refused, not passed over")
  func terms() async throws {
    try await serving { scene in
      let own = try scene.daemon.call("session.getToken", ["account": "work"])["accessToken"]
      #expect(try scene.token(["account": "work", "scope": "notes  openid"])["access_token"] == own)
      #expect(try scene.token(["account": "work", "scope": "more"])["error"] == "invalid_scope")
      let elsewhere = try scene.token(["account": "work", "audience": "elsewhere", "min_valid_period": -1])
      #expect(elsewhere["error"] == "invalid_target")
      #expect(
        elsewhere["info"]?.string?.contains("have another audience: the provider's default") == true)
      #expect(try scene.daemon.call("session.getToken", ["account": "work"])["accessToken"] == own)
    }
  }

  @Test("a new token is asked of the provider")
  func renewal() async throws {
    try await serving { scene in
      let old = try scene.token()["access_token"]
      let new = try scene.token(["account": "work", "min_valid_period": "-1"])["access_token"]
      #expect(new != nil && new != old)
      #expect(try scene.daemon.call("session.getToken", ["account": "work"])["accessToken"] == new)
    }
  }

  @Test("loaded are the accounts that have a session; what Hearth does itself is refused and names its own commands")
  func loaded() async throws {
    try await serving { scene in
      #expect(try scene.ask(["request": "loaded_accounts"])["info"] == ["work"])
      #expect(try scene.ask(["request": "status_json"])["info"]?["loaded_accounts"] == ["work"])
      #expect(try scene.ask(["request": "status"])["info"]?.string?.hasSuffix(" with 1 account: work") == true)
      let refused = try scene.ask(["request": "remove_all"])
      #expect(refused["error"] == "operation forbidden")
      #expect(refused["info"]?.string?.contains("\"hearthctl account\"") == true)
      #expect(try scene.ask(["request": "id_token"])["error"] == "Not yet implemented")
      try scene.daemon.stop()
      let alone = try scene.token()
      #expect(alone["error"]?.string?.contains("systemctl --user start hearthd") == true)
      #expect(try scene.ask(["request": "check"])["status"] == "success")
    }
  }

  @Test("a lock closes everything, the accounts themselves too, until the same password opens it")
  func lock() async throws {
    try await serving { scene in
      func ask(_ request: String, _ password: String) throws -> JSON {
        try scene.ask(["request": .string(request), "password": .string(password)])
      }
      #expect(try ask("unlock", "a")["error"] == "Agent not locked")
      let begun = try scene.daemon.call("session.beginSignIn", ["account": "other", "flow": "browser"])
      #expect(try ask("lock", "a")["info"] == "Agent locked")
      #expect(try scene.daemon.status().state == "locked" && scene.daemon.status().reason == "lockedByUser")
      let ended = try scene.daemon.refusal(of: "session.awaitSignIn", ["signIn": begun["signIn"] ?? .null])
      #expect(ended.code == 1003, "a sign-in under way ends, as with \"hearthctl lock\"")
      #expect(try scene.ask(["request": "check"])["status"] == "success")
      for request in ["access_token", "loaded_accounts", "status", "lock", "remove"] {
        let answer = try scene.ask(["request": .string(request), "account": "work", "password": "b"])
        #expect(answer["error"] == "Agent locked")
      }
      #expect(try ask("unlock", "b")["error"] == "wrong password")
      #expect(try ask("unlock", "a")["info"]?.string?.contains("The password was not checked") == true)
      try eventually("the password unlocks") { try ask("unlock", "a")["status"] == "success" }
      #expect(try scene.token()["access_token"] != nil)

      try scene.daemon.call("session.lock", ["account": "work"])
      let locked = try scene.token()
      #expect(locked["error"] == "Agent locked" && locked["info"] == "Locked. Run \"hearthctl unlock work\".\n")
      #expect(try ask("lock", "a")["status"] == "success" && ask("unlock", "a")["status"] == "success")
      #expect(try scene.daemon.status().reason == "lockedByUser", "a lock that the user had set stays")
    }
  }
}
