import TestSupport
import Testing

/// Every verb of `hearthctl`: what it writes, where, and how it ends.
@Suite("hearthctl says what was recorded", .serialized, .mayBlock) struct GoldenCommandTests {
  @Test("help, wrong usage, no daemon")
  func usage() async throws {
    try await CommandScene.play("hearthctl-usage", { _ in "" }) { scene in
      let verbs = [
        "status", "login", "logout", "token", "refresh", "retry", "lock", "unlock", "protect", "account", "account add",
        "account list",
        "account providers", "account remove", "outbox", "outbox add", "outbox list",
        "outbox show", "outbox retry", "outbox cancel", "outbox pause", "outbox resume", "outbox flush", "outbox stats",
        "request", "exec", "which", "events", "metrics", "doctor", "rpc",
      ]
      for line in ["", "--help", "--version", "dance", "outbox dance", "status --flavour"] { try scene.run(line) }
      for verb in verbs { try scene.run(verb + " --help") }
      for line in [
        "login", "logout", "token", "token work --min-valid -1", "refresh", "outbox add", "outbox show", "outbox retry",
        "outbox cancel", "outbox cancel a --dead work", "outbox flush --timeout -1", "request work", "rpc",
        "rpc session.get []", "rpc session.get nonsense", "rpc session.get --timeout 0", "exec work",
        "exec --env A --file-env B -- true", "events --topic weather",
        "outbox add work POST http://127.0.0.1:1/ --unordered --lane a", "login work --password",
        "login work --refresh-token-stdin", "unlock work --passphrase-stdin",
      ] {
        try scene.run(line, input: "")
      }
      for line in ["status", "status --json", "session.list", "status work", "doctor", "metrics"] {
        try scene.run(line)
      }
      for line in ["rpc session.list", "rpc no.such", "rpc no.such --json", "rpc session.get -"] {
        try scene.run(line, input: #"{"account":"nobody"}"#)
      }
      try scene.wire.daemon.stop()
      for line in ["status", "token work", "exec -- true", "which", "events", "doctor"] { try scene.run(line) }
    }
  }

  @Test("the session's verbs, in each of its states")
  func sessions() async throws {
    try await CommandScene.play("hearthctl-session", { Configuration.oidc($0) }) { scene in
      let status = ["status", "status work", "status --json", "status work --json"]
      func all(_ lines: [String]) throws { for line in lines { try scene.run(line, input: "") } }
      try scene.wire.wait(for: "neverSignedIn")
      try all(
        status + [
          "token work", "refresh work", "refresh work --json", "retry work", "logout work", "logout work --json",
        ])
      try all(["lock", "unlock", "status nobody", "status wrok", "which", "which https://api.example.com"])
      try scene.run("login work --password --username ada", input: "secret\n")
      let grant = try scene.wire.sandbox.refreshToken()
      try scene.run("login work --refresh-token-stdin", input: grant + "\n")
      try all(
        status + [
          "token work", "token work --header", "token work --json", "token work --min-valid 60",
          "token work --min-valid 7200",
        ])
      try all(["refresh work", "refresh work --json", "retry work", "doctor", "doctor --json"])
      try all(["request work GET \(scene.wire.sandbox.url)/api/whoami", "rpc session.get '{\"account\":\"work\"}'"])
      try all(["lock work", "lock --json"] + status + ["token work", "doctor"])
      try scene.run("login work --refresh-token-stdin", input: grant + "\n")
      try all(["unlock work --json", "unlock work", "unlock"])
      try scene.run("unlock work --passphrase-stdin", input: "open sesame\n")
      let next = try scene.wire.sandbox.refreshToken()
      try scene.run("login work --refresh-token-stdin --replace --json", input: next)
      try scene.wire.sandbox.tell("POST", "/__revoke", "{}")
      try all(["refresh work"] + status + ["token work", "doctor"])
      try scene.run("login work --refresh-token-stdin", input: grant + "\n")
      try scene.wire.signIn()
      try all(["logout work", "logout work"] + status)
      try scene.wire.signIn()
      try all(["logout work --no-revoke --json"])
      try scene.wire.signIn()
      try scene.wire.sandbox.stop()
      try all(["refresh work", "logout work --discard-outbox"])
    }
  }

  @Test("the outbox's verbs")
  func outbox() async throws {
    try await CommandScene.play("hearthctl-outbox", { Configuration.oidc($0) }) { scene in
      func all(_ lines: [String]) throws { for line in lines { try scene.run(line) } }
      let notes = scene.wire.sandbox.url + "/api/notes"
      try scene.wire.signIn()
      try scene.wire.wait("outbox.getStats", "{}", for: #""paused":false"#)
      try all(["outbox list", "outbox list --json", "outbox stats", "outbox flush", "outbox flush --json"])
      try all(["outbox pause", "outbox pause work --json"])
      let id = try scene.run("outbox add work POST \(notes) --data 'a note' -H 'X-Kind: note'")
        .split(separator: "\n").joined()
      try scene.run("outbox add work PUT \(notes) --data - --key k --json", input: "from input")
      try scene.run("outbox add work PUT \(notes) --data - --key k --json", input: "from input")
      try scene.run("outbox add work PUT \(notes) --data - --key k", input: "something else")
      try all(["outbox add work PUT \(notes) --lane letters --not-before 2999-01-01T00:00:00Z"])
      try all(["outbox add work PUT \(notes) --unordered", "outbox add work PUT http://127.0.0.1:1/"])
      try all(["outbox list", "outbox list work --json", "outbox list --limit 2", "outbox list --limit 1 --json"])
      try all(["outbox list --state dead", "outbox list --lane letters", "outbox list --state lost"])
      try all(["outbox show \(id)", "outbox show \(id) --json", "outbox show nothing"])
      try all(["outbox stats", "outbox stats work --json", "outbox flush --timeout 1", "outbox flush work --json"])
      try all(["status", "outbox retry \(id)", "outbox cancel \(id)", "outbox cancel \(id)", "outbox show \(id)"])
      try all(["outbox cancel --dead work", "outbox retry --dead work --json"])
      try scene.wire.fault(#"{"path":"/api/bad","status":422,"body":"no such thing","contentType":"text/plain"}"#)
      try all(["outbox add work POST \(scene.wire.sandbox.url)/api/bad", "outbox resume", "outbox resume --json"])
      try scene.wire.wait("outbox.getStats", "{}", for: #""delivered":2,"dead":1"#)
      try all([
        "outbox flush", "outbox list --state dead", "outbox stats", "status", "doctor", "outbox cancel --dead work",
      ])
    }
  }

  @Test("events and status --watch, as they come")
  func events() async throws {
    try await CommandScene.play("hearthctl-events", { Configuration.oidc($0) }) { scene in
      let wire = scene.wire
      try wire.wait(for: "neverSignedIn")
      let lines = ["events", "events --json", "events work --topic outbox --topic daemon", "status --watch"]
      // One after the other, so that each has the same number.
      let watching = try lines.map { line in
        let process = try wire.environment.spawn(
          "hearthctl", line.split(separator: " ").map(String.init), environment: ["HEARTH_SOCKET": wire.daemon.socket])
        // Nothing says that a subscription stands: a reload is told of to those that are there.
        try eventually("it has subscribed") {
          _ = try wire.link.ask("daemon.reload", "{}")
          return !process.output.isEmpty
        }
        return process
      }
      try eventually("it is printed") { watching[3].output.contains("sign-in needed") }
      func wait(_ text: String) throws {
        try eventually("\(text) is printed") { watching[0...1].allSatisfy { $0.output.contains(text) } }
      }
      try wire.signIn()
      try wait("outbox.resumed")
      try eventually("it is printed") { watching[3].output.contains("work  signed in") }
      let note = #"{"account":"work","method":"POST","url":"\#(wire.sandbox.url)/api/notes"}"#
      _ = try wire.link.ask("outbox.enqueue", note)
      try wait("outbox.delivered")
      _ = try wire.link.ask("session.signOut", #"{"account":"work"}"#)
      try wait("outbox.paused")
      try eventually("it is printed") { watching[3].output.contains("work  signed out") }
      try eventually("it is printed last") {
        watching[3].output.split(separator: "\n\n").last?.contains("signed out\n") == true
      }
      try wire.daemon.stop()
      for (line, process) in zip(lines, watching) {
        let end = try process.wait()
        scene.write(line, Self.steady(process.output, line), process.errors, end)
      }
    }
  }

  /// What two services tell has no order between them, nor is it known how many reloads were told: equal lines are shown
  /// once, and in the order of their text. `status --watch` prints what holds when it looks: its first and last are shown.
  private static func steady(_ output: String, _ line: String) -> String {
    if line.hasPrefix("status") {
      let blocks = output.split(separator: "\n\n")
      return [blocks.first, blocks.last].map { ($0 ?? "") + "\n\n" }.joined()
    }
    let lines = output.split(separator: "\n").map { line in
      line.replacing(/20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/, with: "TIME")
        .replacing(/"seq":\d+/, with: #""seq":"SEQ""#)
        .replacing(/"remainingSeconds":\d+/, with: #""remainingSeconds":"SECONDS""#)
    }
    return Set(lines).sorted().map { $0 + "\n" }.joined()
  }
}
