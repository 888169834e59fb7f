import Glibc
import HearthClient
import HearthControl
import TestSupport
import Testing

@Suite("The daemon starts, reloads and stops", .serialized, .mayBlock) struct StartAndStopTests {
  @Test("a second daemon on the same state ends with one clear sentence, and touches nothing")
  func secondDaemon() async throws {
    try await TestEnvironment.session { environment, _, daemon in
      let other = "\(environment.folder)/other.sock"
      let run = try environment.hearthd(
        ["--config", daemon.configurationPath, "--socket", other, "--state-dir", daemon.state])
      #expect(run.status == 1)
      #expect(run.errors.contains("Another hearthd") && run.errors.contains(daemon.state) && run.errors.isOneLine)
      #expect(!Files.exists(other))
      #expect(try daemon.status().state == "authenticated")
    }
  }

  @Test("a socket that is taken, by a daemon or by a file, is left alone")
  func takenSocket() async throws {
    try await TestEnvironment.run { environment in
      let daemon = try environment.daemon("")
      let state = "\(environment.folder)/second"
      var run = try environment.hearthd(
        ["--config", daemon.configurationPath, "--socket", daemon.socket, "--state-dir", state])
      #expect(run.status == 1 && run.errors.contains(daemon.socket) && run.errors.isOneLine)
      try daemon.call("daemon.getInfo")

      let file = "\(environment.folder)/file"
      try Files.write("mine", to: file)
      run = try environment.hearthd(["--config", daemon.configurationPath, "--socket", file, "--state-dir", state])
      #expect(run.status == 1 && run.errors.contains(file) && run.errors.isOneLine)
      #expect(Files.text(file) == "mine")
    }
  }

  @Test("the socket of a daemon that crashed is replaced")
  func staleSocket() async throws {
    try await TestEnvironment.run { environment in
      let daemon = try environment.daemon("")
      try daemon.crash()
      #expect(Files.exists(daemon.socket))
      try daemon.start()
    }
  }

  @Test("a socket path that is too long, and no place for a socket, are said in one sentence")
  func noSocket() async throws {
    try await TestEnvironment.run { environment in
      let configuration = "\(environment.folder)/config.toml"
      try Files.write("", to: configuration)
      let state = "\(environment.folder)/state"
      let long = "\(environment.folder)/" + String(repeating: "x", count: 120)
      var run = try environment.hearthd(["--config", configuration, "--socket", long, "--state-dir", state])
      #expect(run.status == 1 && run.errors.contains("107") && run.errors.isOneLine)
      run = try environment.hearthd(["--config", configuration, "--state-dir", state])
      #expect(run.status == 1 && run.errors.contains("XDG_RUNTIME_DIR") && run.errors.isOneLine)
      #expect(!Files.exists(state), "nothing was made")
    }
  }

  @Test("the socket is found by $HEARTH_SOCKET, else below $XDG_RUNTIME_DIR, and the state by $HEARTH_STATE_DIR")
  func places() async throws {
    try await TestEnvironment.run { environment in
      let state = "\(environment.folder)/state"
      for variables in [
        ["HEARTH_SOCKET": "\(environment.folder)/a/b.sock", "HEARTH_STATE_DIR": state],
        ["XDG_RUNTIME_DIR": environment.folder, "XDG_STATE_HOME": state],
      ] {
        let process = try environment.spawn("hearthd", [], environment: variables)
        let socket = variables["HEARTH_SOCKET"] ?? "\(environment.folder)/hearth/rpc.sock"
        try eventually("the socket is there") { Files.exists(socket) }
        #expect(Files.mode(socket) == 0o600)
        #expect(Files.mode(String(socket.prefix(upTo: socket.lastIndex(of: "/")!))) == 0o700)
        process.signal(SIGTERM)
        #expect(try process.wait() == .exited(0))
        #expect(!Files.exists(socket))
      }
      #expect(Files.exists("\(state)/lock") && Files.exists("\(state)/hearth/lock"))
    }
  }

  @Test("a service manager that reads nothing holds up no call, and learns the status when it reads again")
  func busyServiceManager() async throws {
    try await TestEnvironment.run { environment in
      let manager = try #require(NotifySocket())
      let sandbox = try environment.sandbox()
      let daemon = try Daemon(on: environment, configuration: Configuration.oidc(sandbox))
      daemon.variables = ["NOTIFY_SOCKET": manager.path]
      try daemon.start()
      try daemon.signIn(at: sandbox)
      try eventually("the status is sent") { manager.receive()?.contains("1 signed in") ?? false }
      manager.fill()
      for _ in 0..<20 {
        try daemon.call("session.lock")
        try daemon.call("session.unlock")
      }
      try daemon.call("session.lock")
      try eventually("the status is sent again") { manager.receive()?.contains("1 locked") ?? false }
    }
  }

  @Test(
    "a configuration that cannot be used is refused with file, line and key, and exit status 78",
    arguments: [
      (
        "[accounts.work]\ntype = \"oidc\"\nissuer = \"https://id.example.com\"\nclient_id = \"h\"\nflavour = 1\n",
        "flavour"
      ),
      ("[accounts.work\n", "1"),
      ("[refresh]\nmargin = 5\n", "margin"),
      ("[refresh]\nmargin = \"soon\"\n", "margin"),
      ("[accounts.\"a b\"]\ntype = \"oidc\"\n", "a b"),
      (
        "[accounts.work]\ntype = \"oidc\"\nissuer = \"http://id.example.com\"\nclient_id = \"h\"\n",
        "issuer"
      ),
    ])
  func brokenConfiguration(_ text: String, _ named: String) async throws {
    try await TestEnvironment.run { environment in
      let daemon = try Daemon(on: environment, configuration: text)
      for arguments in [daemon.arguments, daemon.arguments + ["--check-config"]] {
        let run = try environment.hearthd(arguments)
        #expect(run.status == 78)
        #expect(run.errors.contains(daemon.configurationPath) && run.errors.contains(named) && run.errors.isOneLine)
      }
      #expect(!Files.exists(daemon.state) && !Files.exists(daemon.socket))
    }
  }

  @Test("wrong usage is exit status 1, help and version are 0")
  func usage() async throws {
    try await TestEnvironment.run { environment in
      var run = try environment.hearthd(["--flavour"])
      #expect(run.status == 1 && run.errors.contains("--flavour") && run.errors.contains("Usage: hearthd"))
      run = try environment.hearthd(["--log-level", "loud"])
      #expect(run.status == 1 && run.errors.contains("The log level must be one of"))
      for option in ["--help", "--version"] {
        run = try environment.hearthd([option])
        #expect(run.status == 0 && run.output.contains("hearthd") && run.errors.isEmpty)
      }
    }
  }

  @Test("a configuration that others may write is refused")
  func foreignConfiguration() async throws {
    try await TestEnvironment.run { environment in
      let daemon = try Daemon(on: environment, configuration: "")
      try Files.setMode(daemon.configurationPath, 0o620)
      let run = try environment.hearthd(daemon.arguments)
      #expect(run.status == 78 && run.errors.contains(daemon.configurationPath) && run.errors.isOneLine)
    }
  }

  @Test("an account that is not configured is error 1005")
  func unknownAccount() async throws {
    try await TestEnvironment.run { environment in
      let daemon = try environment.daemon("")
      for method in ["session.get", "session.getToken", "session.refresh", "session.lock", "session.signOut"] {
        let refusal = try daemon.refusal(of: method, ["account": "nobody"])
        #expect(refusal.code == 1005 && refusal.data?["kind"] == "unknownAccount" && !refusal.isRetryable)
      }
    }
  }

  @Test("SIGHUP and daemon.reload carry over what changed; a configuration with a problem is refused whole")
  func reload() async throws {
    try await TestEnvironment.run { environment in
      let sandbox = try environment.sandbox()
      let daemon = try environment.daemon(Configuration.oidc(sandbox, account: "one"))
      try daemon.signIn("one", at: sandbox)
      let token = try daemon.token("one")
      func accounts() throws -> [String] {
        try daemon.call("session.list")["sessions"]?.array?.compactMap { $0["account"]?.string } ?? []
      }
      var events = try daemon.events("daemon")

      try daemon.configure(Configuration.oidc(sandbox, account: "one") + Configuration.oidc(sandbox, account: "two"))
      daemon.process?.signal(SIGHUP)
      _ = try events.next("daemon.reloaded")
      #expect(try accounts() == ["one", "two"])

      try daemon.configure(Configuration.oidc(sandbox, account: "three") + "nonsense = true\n")
      let refusal = try daemon.refusal(of: "daemon.reload")
      #expect(refusal.message.contains("nonsense") && refusal.message.contains(daemon.configurationPath))
      #expect(try accounts() == ["one", "two"])

      try daemon.configure(Configuration.oidc(sandbox, account: "one"))
      #expect(try daemon.call("daemon.reload") == [:])
      _ = try events.next("daemon.reloaded")
      #expect(try accounts() == ["one"])
      #expect(try daemon.token("one").secret == token.secret, "what did not change goes on undisturbed")

      try daemon.configure(Configuration.oidc(sandbox, account: "one") + "[outbox]\nmax_body = \"4MiB\"\n")
      try daemon.call("daemon.reload")
      let body = String(repeating: "x", count: 3 << 20)
      try daemon.call(
        "outbox.enqueue",
        ["account": "one", "method": "POST", "url": .string(sandbox.url + "/api/notes"), "body": .string(body)])
    }
  }

  @Test("another issuer's origins count while a refresh hangs, and get no token of the issuer before it")
  func originsOfAReload() async throws {
    try await TestEnvironment.run { environment in
      let (own, other) = (try environment.sandbox("own"), try environment.sandbox("other"))
      let daemon = try environment.daemon(
        Configuration.oidc(own, account: "one") + Configuration.oidc(own, account: "two"))
      try daemon.signIn("one", at: own)
      try daemon.signIn("two", at: own)
      try own.hold("/token")
      let socket = daemon.socket
      async let refresh = Daemon.refresh(at: socket, "one")
      try own.waitUntilHeld()
      try daemon.configure(["one", "two"].map { Configuration.oidc(other, account: $0) }.joined())
      try daemon.call("daemon.reload")
      #expect(try own.count("held") == 1, "the reload waited for no provider")
      for account in ["one", "two"] {
        try daemon.call(
          "outbox.enqueue", ["account": .string(account), "method": "POST", "url": .string("\(other.url)/api/items")])
      }
      try own.release()
      _ = try? await refresh
      for account in ["one", "two"] {
        try daemon.waitUntil("the grant is not sent there", account: account) { $0.action == "fixConfiguration" }
        let stats = try daemon.call("outbox.flush", ["account": .string(account)])
        #expect(stats["pending"] == 1 && stats["pausedReason"] == "fixConfiguration")
      }
      #expect(try other.count("apiRequests") == 0)
    }
  }

  @Test(
    "SIGTERM and SIGINT end it with status 0, whoever is connected, and its socket goes", arguments: [SIGTERM, SIGINT])
  func stop(_ signal: Int32) async throws {
    try await TestEnvironment.session { _, _, daemon in
      let link = try RawLink(daemon.socket)
      #expect(try link.ask("events.subscribe", "{}").contains("snapshot"))
      #expect(try daemon.stop(signal) == .exited(0))
      #expect(!Files.exists(daemon.socket))
      while try link.receive() != nil {}
    }
  }

  @Test("on SIGTERM new calls are answered -32000 at once, and those that wait for a provider when it ends")
  func callsWhileStopping() async throws {
    try await TestEnvironment.session("[refresh]\nrequest_timeout = \"10s\"\n") { _, sandbox, daemon in
      try sandbox.fault(["path": "/token", "hang": true])
      let socket = daemon.socket
      @Sendable func refusal(by client: inout ControlClient, of method: String) -> Int? {
        do {
          _ = try client.call(method, ["account": "work"])
          return nil
        } catch ControlClient.Failure.refused(let error) {
          return error.code
        } catch {
          return nil
        }
      }
      var idle = try ControlClient(path: socket)
      _ = try idle.call("daemon.getInfo")
      async let waiting: Int? = {
        var client = try ControlClient(path: socket)
        return refusal(by: &client, of: "session.refresh")
      }()
      try eventually("the refresh hangs") { try sandbox.count("tokenCallsInFlight") == 1 }
      daemon.process?.signal(SIGTERM)
      try eventually("a call is refused") { refusal(by: &idle, of: "session.get") == -32000 }
      #expect(try sandbox.count("tokenCallsInFlight") == 1, "it waits for nothing")
      #expect(try await waiting == -32000)
      #expect(try daemon.process?.wait() == .exited(0))
    }
  }

  @Test("on SIGTERM what was sent to an API may be answered: an item is delivered, and a caller has its answer")
  func requestsWhileStopping() async throws {
    try await TestEnvironment.session { _, sandbox, daemon in
      try sandbox.hold("/api/")
      let (socket, url) = (daemon.socket, sandbox.url)
      let item = try daemon.call(
        "outbox.enqueue", ["account": "work", "method": "POST", "url": .string(url + "/api/notes"), "body": "a"])
      async let answer: JSON = {
        var client = try ControlClient(path: socket)
        return try client.call(
          "http.request", ["account": "work", "method": "GET", "url": .string(url + "/api/whoami")])
      }()
      try sandbox.waitUntilHeld(2)
      try daemon.beginStopping()
      try sandbox.release()
      #expect(try daemon.process?.wait() == .exited(0))
      #expect(try await answer["status"] == 200)
      try daemon.start()
      let kept = try daemon.call("outbox.get", ["id": item["id"] ?? .null])
      #expect(kept["state"] == "delivered" && kept["attempts"] == 1)
    }
  }

  @Test("what the daemon says of its places follows its configuration, also one that is made while it runs")
  func placesInUse() async throws {
    try await TestEnvironment.run { environment in
      let daemon = try Daemon(on: environment, configuration: "")
      try Files.remove(daemon.configurationPath)
      daemon.namesConfiguration = false
      daemon.variables = ["HEARTH_CONFIG": daemon.configurationPath]
      try daemon.start()
      func path(_ name: String) throws -> JSON? { try daemon.call("daemon.getInfo")["paths"]?[name] }
      func doctor() throws -> String {
        try environment.hearthctl(["doctor", "--all", "--socket", daemon.socket]).output
      }
      #expect(try path("configuration") == .null)
      #expect(try doctor().contains("The daemon runs without a configuration"))
      try daemon.configure("oidc_agent_socket = true\n")
      try daemon.call("daemon.reload")
      #expect(try path("configuration") == .string(daemon.configurationPath))
      #expect(daemon.process?.errors.contains("enable --now hearth-oidc-agent.socket") == true)
      let text = try doctor()
      #expect(!text.contains("without one") && text.contains("configuration: \(daemon.configurationPath)\n"))
      try daemon.configure("nonsense = true\n")
      let refused = try doctor()
      #expect(refused.contains("problem  configuration"))
      #expect(refused.contains("nonsense") && refused.contains("(the daemon still uses the previous configuration)"))
    }
  }

  @Test(
    "on SIGTERM a refresh that was sent lands, though the provider takes its time, and the session goes on after it")
  func refreshWhileStopping() async throws {
    try await TestEnvironment.session { _, sandbox, daemon in
      let before = Files.text(daemon.credential())
      try sandbox.hold("/token")
      let socket = daemon.socket
      async let asked: Void = {
        var client = try ControlClient(path: socket)
        _ = try? client.call("session.refresh", ["account": "work"])
      }()
      try sandbox.waitUntilHeld()
      try daemon.beginStopping()
      try sandbox.release()
      #expect(try daemon.process?.wait() == .exited(0))
      try await asked
      #expect(Files.text(daemon.credential()) != before, "the rotated grant is on disk")
      try daemon.start()
      try daemon.waitFor("authenticated")
      _ = try daemon.call("session.refresh", ["account": "work"])
    }
  }
}

extension String {
  /// One sentence on one line, as errors are said.
  var isOneLine: Bool { hasSuffix("\n") && split(separator: "\n").count == 1 }
}
