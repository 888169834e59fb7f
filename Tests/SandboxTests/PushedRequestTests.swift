import HTTPTypes
import Testing

@testable import hearth_sandbox

@Suite struct PushedRequestTests {
  private struct Pushed: Decodable {
    let requestUri: String
    let expiresIn: Int
  }

  private static func push(_ sandbox: Harness, changing changes: [String: String?] = [:]) async throws -> Harness.Answer
  {
    var fields = Person.request
    for (name, value) in changes { fields[name] = value }
    return try await sandbox.call(.post, "/par", body: Person.form(fields))
  }

  private static func path(_ uri: String, client: String = "app") -> String {
    "/authorize?" + Person.form(["client_id": client, "request_uri": uri])
  }

  @Test("a pushed request is taken up once, by its client")
  func once() async throws {
    try await Harness.run { sandbox in
      let answer = try await Self.push(sandbox)
      let pushed: Pushed = try answer.decoded()
      #expect(answer.status == 201 && pushed.expiresIn == 60)
      var person = Person(at: sandbox)
      #expect(try await person.open(Self.path(pushed.requestUri, client: "another")).status == 400)
      let login = try await person.open(Self.path(pushed.requestUri))
      let sent = Person.sent(try await person.decide(try await person.logIn(login)))
      #expect(try await person.redeem(sent["code"]).status == 200)
      #expect(try await person.open(Self.path(pushed.requestUri)).status == 400)
    }
  }

  @Test("a pushed request expires after a minute")
  func expiry() async throws {
    try await Harness.run { sandbox in
      let pushed: Pushed = try await Self.push(sandbox).decoded()
      sandbox.time.advance(60)
      var person = Person(at: sandbox)
      #expect(try await person.open(Self.path(pushed.requestUri)).status == 400)
    }
  }

  @Test("what is wrong with a request is told when it is pushed, and so is a client that is not known")
  func refused() async throws {
    try await Harness.run(["--client-id", "app", "--client-secret", "s"]) { sandbox in
      let unknown = try await Self.push(sandbox)
      #expect(unknown.status == 401 && unknown.error == "invalid_client")
      let wrong = try await Self.push(sandbox, changing: ["client_secret": "s", "code_challenge": nil])
      #expect(wrong.status == 400 && wrong.error == "invalid_request")
      let nested = try await Self.push(sandbox, changing: ["client_secret": "s", "request_uri": "urn:x"])
      #expect(nested.error == "invalid_request")
    }
  }

  @Test("where pushing is demanded discovery says so, and another request is refused")
  func demanded() async throws {
    try await Harness.run(["--require-pushed-requests"]) { sandbox in
      let discovery: Discovery = try await sandbox.call(.get, "/.well-known/openid-configuration").decoded()
      #expect(discovery.requirePushedAuthorizationRequests)
      var person = Person(at: sandbox)
      #expect(Person.sent(try await person.authorize())["error"] == "invalid_request")
      let pushed: Pushed = try await Self.push(sandbox).decoded()
      #expect(try await person.open(Self.path(pushed.requestUri)).asksForLogin)
    }
  }
}
