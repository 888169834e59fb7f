import HearthControl
import HearthCore
import TestSupport
import Testing

@Suite("Secrets", .serialized, .mayBlock) struct SecretsTests {
  @Test("no token is in any log, event, status, error, list or database, though servers echo them")
  func nowhere() async throws {
    try await TestEnvironment.run { environment in
      let sandbox = try environment.sandbox("sandbox", "--client-id", "hearth", "--client-secret", Self.clientSecret)
      let secretFile = "\(environment.folder)/secret"
      try Files.write(Self.clientSecret, to: secretFile)
      let daemon = try environment.daemon(
        Configuration.oidc(sandbox, "client_secret_file = \"\(secretFile)\"") + Configuration.impatient)
      let watching = try environment.spawn("hearthctl", ["events", "--json", "--socket", daemon.socket])
      var said: [String] = []
      func receive() throws {
        said.append(try daemon.call("session.list").description)
        said.append(try daemon.call("outbox.list").description)
        said.append(try daemon.call("outbox.getStats").description)
        said.append(try daemon.call("daemon.getInfo").description)
        said.append(try environment.hearthctl(["status", "--socket", daemon.socket]).output)
      }
      // The report that a person sends to somebody, with what an API told is wrong and a token that is looked at.
      func report(_ name: String) throws {
        let path = "\(environment.folder)/\(name).json"
        _ = try environment.hearthctl(["doctor", "--bundle", path, "--socket", daemon.socket])
        let text = Files.text(path)
        #expect(text.contains("\"session.list\"") && text.contains("\"api.answer\""), "\(text)")
        said.append(text)
      }
      func refused(_ method: String, _ params: JSONObject) throws {
        let error = try daemon.refusal(of: method, params)
        said.append(error.json.description)
      }
      func grant() throws -> String {
        let answer = try sandbox.call("POST", "/__grant", ["subject": "2482", "clientID": "hearth"])
        return answer["refresh_token"]?.string ?? ""
      }

      // A token that is refused at sign-in.
      try refused("session.import", ["account": "work", "refreshToken": .string(Self.unknownToken)])
      try daemon.call("session.import", ["account": "work", "refreshToken": .string(try grant())])
      try receive()
      // A provider that repeats in its errors what it was sent, in every way.
      for fault: JSON in [
        ["path": "/token", "status": 500, "echo": true],
        ["path": "/token", "status": 400, "echo": true],
        ["path": "/token", "status": 401, "body": #"{"error":"invalid_client","error_description":"{{sent}}"}"#],
        ["path": "/token", "status": 400, "body": #"{"error":"{{sent}}"}"#],
        ["path": "/token", "status": 200, "body": "<html>{{sent}}</html>", "contentType": "text/html"],
        ["path": "/token", "redirect": "http://127.0.0.1:1/?sent", "echo": true],
      ] {
        try sandbox.fault(fault)
        try eventually("the provider was asked") {
          let error = try daemon.refusal(of: "session.refresh", ["account": "work"])
          said.append(error.json.description)
          return try daemon.status().refresh.failures > 0
        }
        try receive()
        try sandbox.clearFaults()
        // Outside every wait after a failure: a new sign-in begins anew.
        try daemon.call("session.import", ["account": "work", "refreshToken": .string(try grant())])
      }
      // An API that repeats the bearer's token.
      for (path, status) in [("dead", 422), ("busy", 503)] {
        try sandbox.fault(["path": .string("/api/\(path)"), "status": JSON(status), "echo": true])
        try daemon.enqueue(path, to: sandbox.url + "/api/" + path, ["lane": .string(path)])
      }
      try eventually("both were answered") {
        let stats = try daemon.outboxStats()
        return stats.dead == 1 && stats.waiting == 1
      }
      try receive()
      try report("while-it-holds-a-token")
      // 401 for ever, revoked, corrupt, signed out.
      try sandbox.fault(["path": "/api/no", "status": 401, "echo": true])
      try daemon.enqueue("no", to: sandbox.url + "/api/no", ["lane": "no"])
      try daemon.waitFor("reauthRequired", "rejectedByServer")
      try refused("session.getToken", ["account": "work"])
      try sandbox.clearFaults()
      try daemon.call("session.import", ["account": "work", "refreshToken": .string(try grant())])
      try sandbox.revoke()
      try refused("session.refresh", ["account": "work"])
      try receive()
      try daemon.call("session.import", ["account": "work", "refreshToken": .string(try grant())])
      try Files.replace(daemon.credential(), with: Files.text(daemon.credential()) + "}")
      try daemon.waitUntil("the file is set aside") { _ in Files.names(in: daemon.credentials).count > 2 }
      try receive()
      try daemon.call("session.lock")
      try receive()
      try report("locked")
      try daemon.call("session.unlock")
      try daemon.enqueue("last", to: sandbox.notes)
      try daemon.crash()

      // Where nothing may be, and where the tokens are: the credential files.
      let tokens = try sandbox.tokens + [Self.unknownToken, Self.clientSecret]
      #expect(tokens.count > 20)
      let held = Files.tree(daemon.credentials)
      #expect(held.contains { path in tokens.contains { Files.text(path).contains($0) } }, "the search finds")
      var places = said.map { ("an answer", $0) }
      places += environment.output.map { ($0.path, $0.text) }
      places += Files.tree(daemon.state).filter { !held.contains($0) }.map { ($0, Files.text($0)) }
      #expect(places.contains { $0.0.hasSuffix("outbox.sqlite") })
      #expect(places.contains { $0.0 == watching.outputPath && $0.1.contains("session.changed") })
      #expect(places.contains { $0.1.contains("session.refreshFailed") })
      for (place, text) in places {
        for token in tokens where text.contains(token) {
          Issue.record("\(place) holds a token: …\(around(token, in: text))…")
          break
        }
      }
    }
  }

  private func around(_ token: String, in text: String) -> Substring {
    guard let range = text.firstRange(of: token) else { return "" }
    return text[..<range.lowerBound].suffix(300)
  }

  private static let unknownToken = "rt_0123456789abcdef_never_issued"
  private static let clientSecret = "s3cret-of-the-client-0123456789"
}
