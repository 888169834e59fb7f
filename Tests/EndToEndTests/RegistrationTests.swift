import HearthControl
import TestSupport
import Testing

/// The real programs, from an issuer and no client to a session: Hearth registers a client of its own (RFC 7591).
@Suite("Registering a client", .serialized, .mayBlock) struct RegistrationTests {
  private struct Scene {
    let environment: TestEnvironment
    let sandbox: Sandbox
    let daemon: Daemon

    func hearthctl(
      _ line: [String], _ more: [String: String] = [:], input: String? = nil
    ) throws -> TestEnvironment.Run {
      let own = ["HEARTH_SOCKET": daemon.socket, "HEARTH_CONFIG": daemon.configurationPath]
      return try environment.hearthctl(line, environment: own.merging(more) { $1 }, input: input)
    }

    func add(_ more: String..., input: String? = nil) throws -> TestEnvironment.Run {
      try hearthctl(
        ["account", "add", "work", "--issuer", sandbox.url, "--api-origin", sandbox.url] + more, input: input)
    }

    var text: String { Files.text(daemon.configurationPath) }
    var secretPath: String { daemon.configurationPath.replacing("config.toml", with: "work.secret") }
  }

  private func play(_ options: [String] = [], _ body: (Scene) throws -> Void) async throws {
    try await TestEnvironment.run { environment in
      let sandbox = try Sandbox(on: environment, name: "sandbox", options: options)
      let daemon = try Daemon(on: environment, configuration: "")
      try daemon.start()
      try body(Scene(environment: environment, sandbox: sandbox, daemon: daemon))
    }
  }

  @Test(
    "an issuer alone is enough: a client is registered, signs in, gets tokens and refreshes them",
    arguments: [false, true])
  func wholeWay(hasSecret: Bool) async throws {
    try await play(hasSecret ? ["--register-secrets"] : []) { scene in
      let added = try scene.add("--register")
      #expect(added.status == 0, "\(added)")
      #expect(added.errors.hasPrefix("Registered Hearth with \(scene.sandbox.url). The client ID is client_"))
      #expect(scene.text.contains("client_id = \"client_"))
      #expect(scene.text.contains("client_secret_file") == hasSecret && !scene.text.contains("cs_"))
      #expect(Files.text(scene.secretPath).hasPrefix("cs_") == hasSecret)
      let login = try scene.hearthctl(["login", "--browser"], ["BROWSER": SignInTests.browser])
      #expect(login.status == 0 && login.output == "Signed in to work as ada.\n", "\(login)")
      let first = try scene.hearthctl(["token", "work"])
      #expect(first.status == 0 && first.output.hasPrefix("at_"))
      #expect(try scene.hearthctl(["refresh", "work"]).status == 0)
      #expect(try scene.hearthctl(["token", "work"]).output != first.output)
    }
  }

  @Test("an initial access token is given from standard input, and one that is rejected is said to be")
  func initialToken() async throws {
    try await play(["--registration-token", "let-me-in"]) { scene in
      let without = try scene.add("--register")
      #expect(without.status == 1 && without.errors.contains("pass it with --registration-token-stdin"), "\(without)")
      let wrong = try scene.add("--registration-token-stdin", input: "let-me-out\n")
      #expect(wrong.status == 1 && wrong.errors.contains("rejected the initial access token"), "\(wrong)")
      #expect(!wrong.errors.contains("let-me-out"))
      #expect(scene.text == "", "nothing was written")
      let right = try scene.add("--registration-token-stdin", input: "let-me-in\n")
      #expect(right.status == 0 && scene.text.contains("client_id = \"client_"), "\(right)")
      #expect(!scene.text.contains("let-me-in"))
    }
  }

  @Test("a provider that registers nobody is told with what to do, and nothing is written")
  func refused() async throws {
    try await play(["--refuse-registration"]) { scene in
      let run = try scene.add("--register")
      #expect(run.status == 1 && run.errors.contains("HTTP 403, access_denied"), "\(run)")
      #expect(run.errors.contains("pass its ID with --client-id") && scene.text == "")
    }
  }

  @Test("without a terminal nothing is registered unasked, and wrong usage names --register")
  func unasked() async throws {
    try await play { scene in
      let run = try scene.add()
      #expect(run.status == 64 && run.errors.contains("--register"), "\(run)")
      #expect(try scene.add("--register", "--client-id", "mine").status == 64)
      #expect(scene.text == "")
    }
  }
}
