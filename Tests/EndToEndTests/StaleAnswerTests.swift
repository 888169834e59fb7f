import FoundationEssentials
import HearthControl
import HearthCore
import TestSupport
import Testing

@Suite("Earlier answers of an API", .serialized, .mayBlock) struct StaleAnswerTests {
  private static let diary = "the diary of ada"

  private func scene(_ scene: (TestEnvironment, Sandbox, Daemon) throws -> Void) async throws {
    try await TestEnvironment.session(Configuration.impatient) { environment, sandbox, daemon in
      try sandbox.fault([
        "path": "/api/diary", "status": 200, "body": .string(Self.diary), "contentType": "text/plain",
        "headers": ["ETag": "\"1\"", "Cache-Control": "private"],
      ])
      try scene(environment, sandbox, daemon)
    }
  }

  private func params(_ sandbox: Sandbox) -> JSONObject {
    ["account": "work", "method": "GET", "url": .string(sandbox.url + "/api/diary"), "cache": "staleIfError"]
  }

  /// Whether the text stands in a file of the state folder.
  private func isKept(_ text: String, _ daemon: Daemon) -> Bool {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: daemon.state)) ?? []
    return names.contains { name in
      let bytes = FileManager.default.contents(atPath: "\(daemon.state)/\(name)") ?? Data()
      return String(decoding: bytes, as: UTF8.self).contains(text)
    }
  }

  @Test("are given offline, after a restart too, but never while locked, and are gone with the sign-out")
  func life() async throws {
    try await scene { _, sandbox, daemon in
      let first = try daemon.call("http.request", params(sandbox))
      #expect(first["body"]?.string == Self.diary && first["fromCache"] == false && first["ageSeconds"] == .null)
      let confirmed = try daemon.call("http.request", params(sandbox))
      #expect(confirmed["status"] == 200 && confirmed["body"]?.string == Self.diary && confirmed["fromCache"] == false)
      try sandbox.stop()
      try daemon.restart()
      try daemon.waitFor("authenticated")
      let offline = try daemon.call("http.request", params(sandbox))
      #expect(offline["status"] == 200 && offline["body"]?.string == Self.diary && offline["fromCache"] == true)
      #expect((offline["ageSeconds"]?.int ?? -1) >= 0)

      try daemon.call("session.lock")
      #expect(try daemon.refusal(of: "http.request", params(sandbox)).code == 1003)
      try daemon.call("session.unlock")
      try daemon.waitFor("authenticated")
      #expect(try daemon.call("http.request", params(sandbox))["fromCache"] == true)
      #expect(isKept(Self.diary, daemon))

      try daemon.call("session.signOut", ["account": "work", "revoke": false])
      #expect(!isKept(Self.diary, daemon), "when the sign-out is answered")
      #expect(try daemon.refusal(of: "http.request", params(sandbox)).code == 1001)
    }
  }

  @Test("are given where no token can be had, and are never another user's")
  func users() async throws {
    try await scene { _, sandbox, daemon in
      _ = try daemon.call("http.request", params(sandbox))
      try sandbox.expire()
      try sandbox.fault(["path": "/token", "status": 503])
      try sandbox.clearFaults()
      try sandbox.fault(["path": "/api/diary", "status": 401])
      try sandbox.fault(["path": "/token", "status": 503])
      #expect(try daemon.call("http.request", params(sandbox))["fromCache"] == true)
      try sandbox.clearFaults()
      try sandbox.fault(["path": "/api/diary", "status": 503])
      let grant = try sandbox.grant("other")
      let further: JSONObject = [
        "account": "work", "refreshToken": .string(grant.refreshToken), "replace": true,
      ]
      try daemon.call("session.import", further)
      #expect(try daemon.call("http.request", params(sandbox))["status"] == 503)
      try eventually("nothing of the other user is left") { !isKept(Self.diary, daemon) }
    }
  }

  @Test("are given after the session has ended, with its state, but not while the account is locked")
  func ended() async throws {
    try await scene { environment, sandbox, daemon in
      let fresh = try daemon.call("http.request", params(sandbox))
      #expect(fresh["fromCache"] == false && fresh["sessionState"] == nil)
      try sandbox.revoke()
      _ = try daemon.refusal(of: "session.refresh", ["account": "work"])
      try daemon.waitFor("reauthRequired", "refreshTokenRejected")
      try daemon.restart()
      try daemon.waitFor("reauthRequired", "refreshTokenRejected")
      let cached = try daemon.call("http.request", params(sandbox))
      #expect(cached["body"]?.string == Self.diary && cached["fromCache"] == true)
      #expect(cached["sessionState"] == "reauthRequired")
      let line = ["request", "work", "GET", sandbox.url + "/api/diary", "--stale-if-error", "--socket", daemon.socket]
      let shown = try environment.hearthctl(line)
      #expect(shown.status == 0 && shown.errors.hasSuffix(" To sign in again, run \"hearthctl login work\".\n"))
      var plain = params(sandbox)
      plain["cache"] = nil
      #expect(try daemon.refusal(of: "http.request", plain).code == 1002)

      try daemon.call("session.lock")
      #expect(try daemon.refusal(of: "http.request", params(sandbox)).code == 1002)
      try daemon.call("session.unlock")
      #expect(try daemon.call("http.request", params(sandbox))["fromCache"] == true)
    }
  }

  @Test("hearthctl prints one with its age, and exits 0")
  func commandLine() async throws {
    try await scene { environment, sandbox, daemon in
      let line = ["request", "work", "GET", sandbox.url + "/api/diary", "--stale-if-error", "--socket", daemon.socket]
      let fresh = try environment.hearthctl(line)
      #expect(fresh.status == 0 && fresh.output == Self.diary && fresh.errors == "")
      func counted() throws -> Substring? {
        let metrics = try environment.hearthctl(["metrics", "--socket", daemon.socket]).output
        return metrics.split(separator: "\n").first { $0.hasPrefix("hearth_stale_answers_total{account=\"work\"}") }
      }
      #expect(try counted()?.hasSuffix("} 0") == true)
      try sandbox.clearFaults()
      try sandbox.fault(["path": "/api/diary", "status": 503])
      let stale = try environment.hearthctl(line)
      #expect(stale.status == 0 && stale.output == Self.diary)
      #expect(stale.errors.hasPrefix("hearthctl: Could not get a new response, so this is the cached one from "))
      #expect(stale.errors.hasSuffix(" ago.\n") && stale.errors.split(separator: "\n").count == 1)
      #expect(try counted()?.hasSuffix("} 1") == true)
      let plain = try environment.hearthctl(line.filter { $0 != "--stale-if-error" })
      #expect(plain.status == 5)
    }
  }
}
