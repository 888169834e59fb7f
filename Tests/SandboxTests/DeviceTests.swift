import HTTPTypes
import Testing

@testable import hearth_sandbox

@Suite struct DeviceTests {
  private static func start(_ sandbox: Harness, scope: String = "openid offline_access") async throws
    -> DeviceCodes.Started
  {
    let form = Person.form(["client_id": "tv", "scope": scope])
    return try await sandbox.call(.post, "/device_authorization", body: form).decoded()
  }

  private static func poll(_ sandbox: Harness, _ code: String, client: String = "tv") async throws -> Harness.Answer {
    try await sandbox.token(
      Person.form(["grant_type": DeviceCodes.grantType, "device_code": code, "client_id": client]))
  }

  @Test("a person types the code in, logs in and allows, and the device's next poll brings the tokens, once")
  func allowed() async throws {
    try await Harness.run { sandbox in
      let started = try await Self.start(sandbox)
      #expect(started.interval == 5 && started.expiresIn == 600)
      #expect(started.verificationUri == sandbox.sandbox.issuer.url + "/device")
      #expect(started.verificationUriComplete == started.verificationUri + "?user_code=" + started.userCode)
      #expect(try await Self.poll(sandbox, started.deviceCode).error == "authorization_pending")
      var person = Person(at: sandbox)
      let typed = started.userCode.lowercased().replacing("-", with: " ")
      let login = try await person.submit(try await person.open("/device"), ["user_code": typed])
      let consent = try await person.logIn(login)
      #expect(consent.asksForConsent && consent.body.contains(started.userCode) && consent.body.contains("tv"))
      #expect(try await person.decide(consent).body.contains("Access allowed"))
      sandbox.time.advance(5)
      let grant: Grant = try await Self.poll(sandbox, started.deviceCode).decoded()
      let claims = try SignedToken(grant.idToken).claims
      #expect(claims.sub == "ada" && claims.aud == "tv" && grant.refreshToken != nil)
      sandbox.time.advance(5)
      #expect(try await Self.poll(sandbox, started.deviceCode).error == "invalid_grant")
    }
  }

  @Test("a no is told to the device")
  func denied() async throws {
    try await Harness.run { sandbox in
      let started = try await Self.start(sandbox)
      var person = Person(at: sandbox)
      let login = try await person.submit(try await person.open("/device"), ["user_code": started.userCode])
      _ = try await person.decide(try await person.logIn(login), "deny")
      #expect(try await Self.poll(sandbox, started.deviceCode).error == "access_denied")
    }
  }

  @Test("a poll that comes too early is slowed down, by five seconds each time")
  func slowDown() async throws {
    try await Harness.run { sandbox in
      let started = try await Self.start(sandbox)
      #expect(try await Self.poll(sandbox, started.deviceCode).error == "authorization_pending")
      sandbox.time.advance(4.9)
      #expect(try await Self.poll(sandbox, started.deviceCode).error == "slow_down")
      sandbox.time.advance(9.9)
      #expect(try await Self.poll(sandbox, started.deviceCode).error == "slow_down")
      sandbox.time.advance(15)
      #expect(try await Self.poll(sandbox, started.deviceCode).error == "authorization_pending")
    }
  }

  @Test("a code that has expired is told to the device, and to the person")
  func expired() async throws {
    try await Harness.run(["--device-code-lifetime", "30", "--device-interval", "1"]) { sandbox in
      let started = try await Self.start(sandbox)
      sandbox.time.advance(30)
      #expect(try await Self.poll(sandbox, started.deviceCode).error == "expired_token")
      var person = Person(at: sandbox)
      let answer = try await person.submit(try await person.open("/device"), ["user_code": started.userCode])
      #expect(answer.status == 400 && answer.body.contains("has expired"))
    }
  }

  @Test("a device code is its client's alone, and without a client there is none")
  func client() async throws {
    try await Harness.run { sandbox in
      let started = try await Self.start(sandbox)
      #expect(try await Self.poll(sandbox, started.deviceCode, client: "another").error == "invalid_grant")
      #expect(try await Self.poll(sandbox, "dc_unknown").error == "invalid_grant")
      #expect(try await sandbox.call(.post, "/device_authorization").error == "invalid_client")
    }
  }

  @Test("a code in the address fills the form in and allows nothing by itself")
  func complete() async throws {
    try await Harness.run { sandbox in
      let started = try await Self.start(sandbox)
      var person = Person(at: sandbox)
      let page = try await person.open("/device?user_code=" + started.userCode)
      #expect(page.body.contains("value=\"\(started.userCode)\"") && !page.asksForConsent)
      #expect(try await Self.poll(sandbox, started.deviceCode).error == "authorization_pending")
    }
  }

  @Test("a test can answer for the person")
  func decide() async throws {
    try await Harness.run { sandbox in
      let (yes, no) = (try await Self.start(sandbox, scope: "notes"), try await Self.start(sandbox))
      let body = #"{"userCode":"\#(yes.userCode)","subject":"ada"}"#
      #expect(try await sandbox.call(.post, "/__decide", body: body).body == #"{"decided":true}"#)
      _ = try await sandbox.call(.post, "/__decide", body: #"{"userCode":"\#(no.userCode)"}"#)
      #expect(try await sandbox.call(.post, "/__decide", body: body).body == #"{"decided":false}"#)
      let grant: Grant = try await Self.poll(sandbox, yes.deviceCode).decoded()
      #expect(grant.idToken == nil && grant.scope == "notes")
      #expect(try await Self.poll(sandbox, no.deviceCode).error == "access_denied")
    }
  }
}
