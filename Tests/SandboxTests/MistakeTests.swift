import Crypto
import FoundationEssentials
import HTTPTypes
import Testing

@testable import hearth_sandbox

@Suite struct MistakeTests {
  /// What a sign-in gives in which this goes wrong.
  private static func grant(_ sandbox: Harness, _ mistake: Mistake) async throws -> Grant {
    try await sandbox.fault(#"{"mistake":"\#(mistake.rawValue)","times":1}"#)
    var person = Person(at: sandbox)
    let sent = try await person.signIn()
    return try await person.redeem(sent["code"]).decoded()
  }

  private static func idToken(_ sandbox: Harness, _ mistake: Mistake) async throws -> SignedToken {
    try SignedToken(try await grant(sandbox, mistake).idToken)
  }

  private static func hashes(_ grant: Grant) throws -> Bool {
    let hash = Data(SHA256.hash(data: Data(grant.accessToken.utf8))).prefix(16)
    return try SignedToken(grant.idToken).claims.atHash == base64URL(hash)
  }

  @Test(
    "a claim is wrong where that was asked for, in a token that is signed",
    arguments: [
      Mistake.wrongNonce, .noNonce, .otherAudience, .otherIssuer, .otherSubject, .expiredIDToken, .wrongAtHash,
    ])
  func claims(mistake: Mistake) async throws {
    try await Harness.run { sandbox in
      var person = Person(at: sandbox)
      let sent = try await person.signIn()
      let right = try SignedToken(try await person.redeem(sent["code"]).decoded(as: Grant.self).idToken)
      let grant = try await Self.grant(sandbox, mistake)
      let wrong = try SignedToken(grant.idToken)
      let keys = try await sandbox.keys()
      #expect(try wrong.isSigned(by: keys))
      #expect(try Self.hashes(grant) == (mistake != .wrongAtHash))
      let (good, bad) = (try right.claims, try wrong.claims)
      #expect((good.nonce == bad.nonce) == ![.wrongNonce, .noNonce].contains(mistake))
      #expect((bad.nonce == nil) == (mistake == .noNonce))
      #expect((good.aud == bad.aud) == (mistake != .otherAudience))
      #expect((good.iss == bad.iss) == (mistake != .otherIssuer))
      #expect((good.sub == bad.sub) == (mistake != .otherSubject))
      #expect((bad.exp < 1_795_000_000) == (mistake == .expiredIDToken))
    }
  }

  @Test("a claim has another form where that was asked for, in a token that is signed")
  func forms() async throws {
    try await Harness.run { sandbox in
      let keys = try await sandbox.keys()
      for (mistake, told) in [
        (Mistake.numericSubject, #""sub":35"#), (.twoAudiences, #""aud":["app","https://api.example.com"]"#),
        (.otherParty, #""azp":"another-client""#),
      ] {
        let token = try await Self.idToken(sandbox, mistake)
        #expect(try token.isSigned(by: keys))
        #expect(String(decoding: token.payload, as: UTF8.self).contains(told))
      }
    }
  }

  @Test("a signature is missing or wrong where that was asked for")
  func signatures() async throws {
    try await Harness.run { sandbox in
      let keys = try await sandbox.keys()
      let none = try await Self.idToken(sandbox, .algNone)
      #expect(none.header == SignedToken.Header(alg: "none", kid: nil))
      let unknown = try await Self.idToken(sandbox, .unknownKey)
      #expect(unknown.header.alg == "ES256" && !keys.contains { $0.kid == unknown.header.kid })
      let wrong = try await Self.idToken(sandbox, .wrongSignature)
      #expect(keys.contains { $0.kid == wrong.header.kid })
      #expect(try wrong.isSigned(by: keys) == false)
      #expect(try await Self.grant(sandbox, .noIDToken).idToken == nil)
    }
  }

  @Test(
    "the client is sent something wrong where that was asked for, once",
    arguments: [Mistake.wrongState, .noState, .wrongIss, .noIss, .noCode, .denied])
  func redirect(mistake: Mistake) async throws {
    try await Harness.run { sandbox in
      try await sandbox.fault(#"{"mistake":"\#(mistake.rawValue)","times":1}"#)
      var person = Person(at: sandbox)
      let sent = try await person.signIn()
      let issuer = sandbox.sandbox.issuer.url
      #expect(sent["state"] == (mistake == .noState ? nil : mistake == .wrongState ? "another" : "s&1"))
      #expect(sent["iss"] == (mistake == .noIss ? nil : mistake == .wrongIss ? "https://another.example" : issuer))
      #expect((sent["code"] == nil) == [.noCode, .denied].contains(mistake))
      #expect(sent["error"] == (mistake == .denied ? "access_denied" : nil))
      var other = Person(at: sandbox)
      #expect(try await other.signIn()["state"] == "s&1")
    }
  }

  @Test("a code is treated as used where that was asked for")
  func replayedCode() async throws {
    try await Harness.run { sandbox in
      var person = Person(at: sandbox)
      let sent = try await person.signIn()
      try await sandbox.fault(#"{"mistake":"replayedCode","times":1}"#)
      #expect(try await person.redeem(sent["code"]).error == "invalid_grant")
      #expect(sandbox.statistics.codesReplayed == 1)
    }
  }

  @Test(
    "a poll is answered as was asked for, and other requests as ever",
    arguments: [
      (Mistake.denied, "access_denied"), (.expiredDeviceCode, "expired_token"), (.slowDown, "slow_down"),
    ])
  func poll(mistake: Mistake, error: String) async throws {
    try await Harness.run { sandbox in
      try await sandbox.fault(#"{"mistake":"\#(mistake.rawValue)","times":1}"#)
      let grant = try await sandbox.grant()
      #expect(try await sandbox.refresh(grant.refreshToken).status == 200)
      let started: DeviceCodes.Started = try await sandbox.call(
        .post, "/device_authorization", body: "client_id=tv"
      ).decoded()
      let poll = Person.form(
        ["grant_type": DeviceCodes.grantType, "device_code": started.deviceCode, "client_id": "tv"])
      #expect(try await sandbox.token(poll).error == error)
      #expect(try await sandbox.call(.get, "/__fault").body == #"{"faults":[]}"#)
    }
  }

  @Test("a fault needs a path or a mistake, and a mistake that is none is refused")
  func refused() async throws {
    try await Harness.run { sandbox in
      for fault in [#"{"status":500}"#, #"{"mistake":"forgotten"}"#] {
        let answer = try await sandbox.call(.post, "/__fault", body: fault)
        #expect(answer.status == 400)
      }
      #expect(try await sandbox.call(.get, "/__fault").body == #"{"faults":[]}"#)
    }
  }

  @Test("the help names every mistake")
  func help() {
    for mistake in Mistake.allCases { #expect(HearthSandbox.endpoints.contains(mistake.rawValue), "\(mistake)") }
  }
}
