import Glibc
import HearthClient
import HearthControl
import TestSupport
import Testing

@Suite(
  "What was let go is in no memory", .serialized, .mayBlock,
  .enabled(if: getuid() == 0, "only root may look into a process that is not dumpable"))
struct MemoryTests {
  private static let passphrase = "correct horse battery staple"

  @Test(
    "of tokens nothing is left after a refresh, a lock and a sign-out, nor of the passphrase",
    arguments: ["none", "passphrase"])
  func tokens(_ protection: String) async throws {
    try await TestEnvironment.run { environment in
      let sandbox = try environment.sandbox()
      let daemon = try environment.daemon(
        Configuration.oidc(sandbox, "protection = \"\(protection)\"") + """
          [[accounts.work.sinks]]
          path = "\(environment.folder)/token"
          format = "json"

          """ + Configuration.impatient)
      // Connections that stay open: what they have read and written must not stay with them.
      var client = try ControlClient(path: daemon.socket)
      let events = try environment.spawn("hearthctl", ["events", "--socket", daemon.socket])
      func unlock() throws {
        let params: JSONObject =
          protection == "none" ? ["account": "work"] : ["account": "work", "passphrase": .string(Self.passphrase)]
        _ = try client.call("session.unlock", params)
      }
      /// Signs in, serves tokens, delivers with them, and has one refused.
      func use() throws -> [String] {
        let grant = try sandbox.grant()
        _ = try client.call(
          "session.import", ["account": "work", "refreshToken": .string(grant.refreshToken), "replace": true])
        let first = try daemon.token().secret
        try work()
        _ = try client.call("session.refresh", ["account": "work"])
        return [grant.refreshToken, first]
      }
      func work() throws {
        _ = try client.call("session.getToken", ["account": "work"])
        _ = try environment.hearthctl(["token", "work", "--socket", daemon.socket])
        try send()
        try daemon.enqueue("note", to: sandbox.notes)
        _ = try client.call("outbox.flush", ["account": "work"])
      }
      /// By every method that sends or shows the token, with bodies that go whole and in pieces.
      func send() throws {
        _ = try client.call("session.diagnose", ["account": "work"])
        for (method, body) in [("GET", nil), ("POST", "note")] as [(String, String?)] {
          _ = try client.call(
            "http.request",
            ["account": "work", "method": .string(method), "url": .string(sandbox.notes), "body": JSON(body)])
        }
        for end in [true, false] {
          let stream = try client.call(
            "http.open", ["account": "work", "method": "POST", "url": .string(sandbox.notes), "chunked": true])
          var piece: JSONObject = ["stream": stream["stream"] ?? .null, "offset": 0, "data": "bm90ZQ=="]
          if end { piece["end"] = true }
          _ = try client.call("http.write", piece)
          if end { while try client.call("http.read", ["stream": stream["stream"] ?? .null])["end"] != true {} }
          if !end { _ = try client.call("http.close", ["stream": stream["stream"] ?? .null]) }
        }
        let download = try client.call(
          "http.open", ["account": "work", "method": "GET", "url": .string(sandbox.url + "/api/whoami")])
        while try client.call("http.read", ["stream": download["stream"] ?? .null])["end"] != true {}
      }
      func expectNothing(of secrets: [String], _ comment: Comment) throws {
        let traces = SecretTraces(secrets)
        // What answered last may not have ended yet.
        try eventually("nothing is left: \(comment)") {
          try memory(of: daemon).count(of: traces.copies + traces.pieces) == 0
        }
      }

      if protection != "none" { try unlock() }
      let old = try use()
      let held = SecretTraces([try daemon.token().secret])
      #expect(try memory(of: daemon).count(of: held.copies) > 0, "the search finds what is held")
      try expectNothing(of: old, "after a refresh")

      try work()
      _ = try client.call("session.lock")
      try expectNothing(of: try sandbox.tokens + [Self.passphrase], "after a lock")

      try unlock()
      try work()
      _ = try client.call("session.signOut", ["account": "work"])
      try expectNothing(of: try sandbox.tokens, "after a sign-out")
      #expect(events.status == nil, "the subscription is still open")
    }
  }

  private func memory(of daemon: Daemon) throws -> ProcessMemory {
    try ProcessMemory(of: try #require(daemon.process?.pid))
  }
}
