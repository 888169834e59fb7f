import Glibc
import HearthControl
import TestSupport
import Testing

@Suite("Hostile text", .serialized, .mayBlock) struct HostileTextTests {
  /// Everything that steers a terminal or hides, but NUL and the slash, which no file name holds.
  static let hostile =
    "x\u{1B}[31m\u{7}\r\n\t\u{7F}\u{9B}2J\u{202E}live\u{2066}\u{200B}\u{200D}\u{200F}\u{61C}\u{2028}\u{2029}\u{FEFF}"
    + "\u{AD}\u{E0041}\u{FFFF}\u{1B}]0;owned\u{7}"

  @Test("whatever stands in a field that comes from outside, no output holds it raw, and JSON keeps its value")
  func everywhere() async throws {
    try await TestEnvironment.run { environment in
      let scene = try HostileScene(environment)
      try scene.signIn()
      try scene.answerRefreshes()
      try scene.answerDiscovery()
      try scene.fillOutbox()
      try scene.nameFiles()
      try scene.misconfigure()
      try scene.misuse()
      try scene.end()
      #expect(scene.shown.count > 60, "as many outputs were looked at")
      for (place, text) in scene.shown + environment.output {
        if let raw = Self.firstRaw(in: text) { Issue.record("\(place) holds \(raw) raw") }
      }
      for word in ["\\u{1B}[31m", "\\u001b[31m", "\\u202e", "\\u009b"] {
        #expect((scene.shown + environment.output).contains { $0.1.contains(word) }, "something shows \(word)")
      }
    }
  }

  /// Written out here once more, so that this does not believe the function that it checks.
  private static func firstRaw(in text: String) -> String? {
    let raw = text.unicodeScalars.first { scalar in
      switch scalar.value {
      case 0x0A: false
      case 0..<0x20, 0x7F..<0xA0, 0xAD, 0x61C, 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x206F, 0xFEFF,
        0xFFF9...0xFFFB,
        0xFFFE...0xFFFF, 0xE0000...0xE0FFF:
        true
      default: false
      }
    }
    guard let raw, let index = text.unicodeScalars.firstIndex(of: raw) else { return nil }
    let around = text.unicodeScalars[..<index].suffix(80)
    return "U+\(String(raw.value, radix: 16)) after \"\(String(String.UnicodeScalarView(around)))\""
  }
}

/// A daemon between a provider, an API, files and a person who all write hostile text, and what was shown of it.
private final class HostileScene {
  private let environment: TestEnvironment
  private let sandbox: Sandbox
  private let daemon: Daemon
  private let events: [ChildProcess]
  private let hostile = HostileTextTests.hostile
  private(set) var shown: [(String, String)] = []
  /// What a lane's name may hold, for it holds no control characters.
  private static let hidden = "\u{202E}live\u{2066}\u{200B}\u{200D}\u{200F}\u{61C}\u{2028}\u{FEFF}\u{AD}"

  init(_ environment: TestEnvironment) throws {
    self.environment = environment
    sandbox = try environment.sandbox()
    let daemon = try environment.daemon(Configuration.oidc(sandbox) + Configuration.impatient)
    events = try [[], ["--json"]].map { options in
      try environment.spawn("hearthctl", ["events", "--socket", daemon.socket] + options)
    }
    self.daemon = daemon
  }

  /// One verb for people and as JSON, which is also read.
  @discardableResult
  private func run(_ words: String...) throws -> JSON? {
    let plain = try environment.hearthctl(words + ["--socket", daemon.socket])
    let json = try environment.hearthctl(words + ["--json", "--socket", daemon.socket])
    shown += [("\(words)", plain.output + plain.errors), ("\(words) --json", json.output + json.errors)]
    return try? JSON(parsing: Array(json.output.utf8))
  }

  private func look() throws {
    try run("status")
    try run("status", "work")
    try run("doctor")
    try run("outbox", "list")
    try run("outbox", "stats")
  }

  func signIn() throws {
    let grant = try sandbox.grant(hostile)
    let login = try environment.hearthctl(
      ["login", "work", "--refresh-token-stdin", "--socket", daemon.socket], input: grant.refreshToken)
    shown.append(("login", login.output + login.errors))
    #expect(login.status == 0)
    #expect(try run("status", "work")?["subject"]?.string == hostile, "JSON keeps the value")
    #expect(try daemon.status().json["subject"]?.string == hostile)
    try run("refresh", "work")
    try look()
  }

  func answerRefreshes() throws {
    let text = JSON.string(hostile)
    let other = try sandbox.grant("other" + hostile)
    let faults: [JSON] = [
      [
        "path": "/token", "status": 400,
        "body": .string(JSON.object(["error": text, "error_description": text]).description),
      ],
      ["path": "/token", "status": 401, "body": .string(#"{"error":"invalid_client","error_description":\#(text)}"#)],
      ["path": "/token", "status": 503, "body": text, "contentType": "text/html"],
      ["path": "/token", "status": 200, "body": text, "contentType": "text/plain"],
      ["path": "/token", "redirect": "http://127.0.0.1:1/\u{202E}\u{9B}"],
      [
        "path": "/token", "status": 200,
        "body": .string(#"{"access_token":"abc","token_type":\#(text),"expires_in":3600}"#),
      ],
      [
        "path": "/token", "status": 200,
        "body": .string(
          #"{"access_token":"abc","token_type":"Bearer","expires_in":3600,"refresh_token":"\#(other.refreshToken)","#
            + #""scope":\#(text),"id_token":\#(text)}"#),
      ],
    ]
    for fault in faults {
      try sandbox.fault(fault)
      try run("refresh", "work")
      try run("token", "work", "--min-valid", "3000")
      try look()
      try sandbox.clearFaults()
      try daemon.signIn(at: sandbox, subject: hostile, replace: true)
    }
    // A grant of somebody else, which names both.
    let login = try environment.hearthctl(
      ["login", "work", "--refresh-token-stdin", "--replace", "--socket", daemon.socket], input: other.refreshToken)
    shown.append(("login as another", login.output + login.errors))
    try look()
    try daemon.signIn(at: sandbox, subject: hostile, replace: true)
  }

  func answerDiscovery() throws {
    let text = JSON.string(hostile)
    try sandbox.fault([
      "path": "/.well-known", "status": 200, "body": .string(#"{"issuer":\#(text),"token_endpoint":\#(text)}"#),
    ])
    let configuration = Files.text(daemon.configurationPath)
    try daemon.configure(configuration + Configuration.oidc(sandbox, account: "second"))
    try daemon.call("daemon.reload")
    let grant = try sandbox.grant(hostile)
    let login = try environment.hearthctl(
      ["login", "second", "--refresh-token-stdin", "--socket", daemon.socket], input: grant.refreshToken)
    shown.append(("login by discovery", login.output + login.errors))
    try look()
    try sandbox.clearFaults()
  }

  func fillOutbox() throws {
    let answers: [(String, JSON)] = [
      ("problem", ["status": 422, "contentType": "application/problem+json"]),
      ("text", ["status": 400, "contentType": "text/plain"]),
      ("busy", ["status": 503, "contentType": "text/html"]),
    ]
    let problem = JSON.object(["title": .string(hostile), "detail": .string(hostile)]).description
    for (name, answer) in answers {
      var fault = answer.object ?? [:]
      fault["path"] = .string("/api/\(name)")
      fault["body"] = .string(name == "problem" ? problem : hostile)
      try sandbox.fault(.object(fault))
      let id = try daemon.enqueue(
        hostile, to: sandbox.url + "/api/" + name,
        ["lane": .string(name + Self.hidden), "replaceKey": .string(Self.hidden)])
      try daemon.waitForItem(id, name == "busy" ? "waiting" : "dead", name == "busy" ? nil : "rejected")
      try run("outbox", "show", id)
    }
    try sandbox.fault(["path": "/api/away", "redirect": "http://127.0.0.1:1/\u{202E}\u{9B}"])
    let away = try daemon.enqueue("away", to: sandbox.url + "/api/away", ["lane": "away"])
    try daemon.waitForItem(away, "dead", "redirected")
    try look()
    try run("outbox", "list", "--lane", "text" + Self.hidden)
    try run("outbox", "list", "--state", hostile)
    try run("outbox", "list", "--cursor", hostile)
    try run("outbox", "show", hostile)
    try run("outbox", "cancel", hostile)
    try run("outbox", "flush", "--timeout", "1")
    try run("outbox", "add", "work", "POST", sandbox.url + "/" + hostile)
    try run("outbox", "add", "work", hostile, sandbox.notes)
    try run("outbox", "add", "work", "POST", sandbox.notes, "--key", hostile)
    try run("outbox", "add", "work", "POST", sandbox.notes, "-H", "\(hostile): \(hostile)")
    try run("outbox", "add", "work", "POST", sandbox.notes, "--not-before", hostile)
  }

  /// A credential whose folder has such a name, and cannot be read; and one that another program filled with it.
  func nameFiles() throws {
    let folder = "\(environment.folder)/\(hostile)"
    try Files.makeFolder(folder)
    try Files.write(hostile, to: "\(folder)/third.json")
    let path = toml("\(folder)/third.json")
    try daemon.configure(
      Files.text(daemon.configurationPath) + Configuration.oidc(sandbox, account: "third", "credential_file = \(path)"))
    try daemon.call("daemon.reload")
    try daemon.waitFor("reauthRequired", "credentialCorrupt", account: "third")
    try look()
    let check = try environment.hearthd(["--config", daemon.configurationPath, "--check-config"])
    #expect(check.status == 0, "\(check.errors)")
  }

  /// A basic string of TOML in which everything but letters and digits is escaped.
  private func toml(_ text: String) -> String {
    "\""
      + text.unicodeScalars.map { scalar in
        guard !scalar.properties.isAlphabetic, !("0"..."9").contains(scalar) else { return String(scalar) }
        let digits = String(scalar.value, radix: 16)
        return "\\U" + String(repeating: "0", count: 8 - digits.count) + digits
      }.joined() + "\""
  }

  func misconfigure() throws {
    let good = Files.text(daemon.configurationPath)
    let text = toml(hostile)
    for line in [
      "[accounts.work2]\n\(text) = 1", "[accounts.\(text)]\ntype = \"oidc\"", "[accounts.work2]\ntype = \(text)",
      "[log]\nlevel = \(text)", "[refresh]\nmargin = \(text)", "[accounts.work2]\nissuer = \(text)", "\(text)",
      "[outbox]\n# \(hostile)", "[accounts.w]\ntype=\"oidc\"\nclient_id=\"x\"\nissuer=\"https://\u{202E}.example\"",
    ] {
      try daemon.configure(good + "\n" + line + "\n")
      try run("rpc", "daemon.reload")
      let check = try environment.hearthd(["--config", daemon.configurationPath, "--check-config"])
      #expect(check.status == 78, "\(line)")
    }
    try daemon.configure(good)
    let named = "\(environment.folder)/\(hostile).toml"
    _ = try environment.hearthd(["--config", named, "--check-config"])
    try Files.write(good + "\nnonsense = 1\n", to: named)
    _ = try environment.hearthd(["--config", named, "--check-config"])
    try Files.write(good, to: named)
    _ = try environment.hearthd(["--config", named, "--check-config"])
    _ = try environment.hearthd(["--state-dir", "\(environment.folder)/\(hostile)", "--check-outbox"])
    _ = try environment.hearthd(["--log-level", hostile])
    _ = try environment.hearthd(["--\(hostile)"])
  }

  func misuse() throws {
    try run(hostile)
    try run("status", hostile)
    try run("status", "--\(hostile)")
    try run("token", "work", "--min-valid", hostile)
    try run("events", "--topic", hostile)
    try run("rpc", hostile)
    try run("rpc", "session.get", JSON.object(["account": .string(hostile)]).description)
    try run("rpc", "session.get", hostile)
    let elsewhere = try environment.hearthctl(["status", "--socket", "\(environment.folder)/\(hostile)"])
    shown.append(("another socket", elsewhere.output + elsewhere.errors))
    let client = try RawClient(path: daemon.socket)
    client.call(1, "session.list")
    client.call(2, hostile)
    client.call(3, "outbox.list")
    for _ in 0..<3 {
      let line = try client.receiveLine() ?? []
      shown.append(("the socket", String(decoding: line, as: UTF8.self)))
    }
  }

  func end() throws {
    let logout = try environment.hearthctl(["logout", "work", "--socket", daemon.socket])
    shown.append(("logout", logout.output + logout.errors))
    try daemon.stop()
    for process in events { try process.wait() }
    #expect(events.allSatisfy { $0.output.contains("session.changed") })
  }
}
