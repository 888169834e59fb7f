import Crypto
import FoundationEssentials
import HTTPTypes
import Testing

@testable import hearth_sandbox

@Suite struct AuthorizationTests {
  @Test("who logs in and consents is sent back with code, state and issuer, and the code brings that person's tokens")
  func signIn() async throws {
    try await Harness.run { sandbox in
      var person = Person(at: sandbox)
      let login = try await person.authorize()
      #expect(login.status == 200 && login.asksForLogin)
      let consent = try await person.logIn(login)
      #expect(consent.status == 200 && consent.asksForConsent)
      #expect(consent.body.contains("app") && consent.body.contains("ada") && consent.body.contains("offline_access"))
      let back = try await person.decide(consent)
      #expect(back.status == 303)
      let sent = Person.sent(back)
      #expect(sent["state"] == "s&1" && sent["iss"] == sandbox.sandbox.issuer.url)
      let grant: Grant = try await person.redeem(sent["code"]).decoded()
      let user = try await sandbox.call(.get, "/userinfo", bearer: grant.accessToken)
      #expect(try user.decoded(as: [String: String].self)["sub"] == "ada")
      #expect(sandbox.statistics.signIns == ["ada": 1])
      let form = Person.form(
        ["grant_type": "refresh_token", "refresh_token": grant.refreshToken ?? "", "client_id": "app"])
      #expect(try await sandbox.token(form).status == 200)
    }
  }

  @Test("the ID token is signed with the published key and tells issuer, client, nonce, login and access token")
  func idToken() async throws {
    try await Harness.run { sandbox in
      var person = Person(at: sandbox)
      let login = try await person.authorize()
      let consent = try await person.logIn(login)
      sandbox.time.advance(30)
      let sent = Person.sent(try await person.decide(consent))
      let grant: Grant = try await person.redeem(sent["code"]).decoded()
      let token = try SignedToken(grant.idToken)
      let keys = try await sandbox.keys()
      #expect(try token.isSigned(by: keys))
      let claims = try token.claims
      #expect(claims.iss == sandbox.sandbox.issuer.url && claims.sub == "ada" && claims.aud == "app")
      #expect(claims.nonce == "n1" && claims.iat == 1_795_000_030 && claims.exp == 1_795_003_630)
      #expect(claims.authTime == 1_795_000_000)
      let hash = Data(SHA256.hash(data: Data(grant.accessToken.utf8))).prefix(16)
      #expect(try SignedToken.bytes(claims.atHash ?? "") == hash)
      let next: Grant = try await sandbox.token(
        "grant_type=refresh_token&client_id=app&refresh_token=\(grant.refreshToken ?? "")"
      ).decoded()
      let refreshed = try SignedToken(next.idToken).claims
      #expect(refreshed.nonce == nil && refreshed.sub == "ada" && refreshed.authTime == 1_795_000_000)
    }
  }

  @Test("after the keys are rotated a token names the new one, and both are published")
  func keyRotation() async throws {
    try await Harness.run { sandbox in
      let before = try SignedToken(try await sandbox.grant().idToken)
      _ = try await sandbox.call(.post, "/__rotateKeys")
      let after = try SignedToken(try await sandbox.grant().idToken)
      #expect(before.header.kid != after.header.kid)
      let keys = try await sandbox.keys()
      #expect(keys.count == 2)
      #expect(try before.isSigned(by: keys))
      #expect(try after.isSigned(by: keys))
    }
  }

  @Test("a code that is used again is refused, and what it gave is revoked")
  func replay() async throws {
    try await Harness.run { sandbox in
      var person = Person(at: sandbox)
      let sent = try await person.signIn()
      let grant: Grant = try await person.redeem(sent["code"]).decoded()
      #expect(try await person.redeem(sent["code"]).error == "invalid_grant")
      #expect(sandbox.statistics.codesReplayed == 1)
      #expect(try await sandbox.call(.get, "/userinfo", bearer: grant.accessToken).status == 401)
      #expect(try await sandbox.refresh(grant.refreshToken).error == "invalid_grant")
    }
  }

  @Test("a code is good for a minute", arguments: [(59.9, 200), (60, 400)])
  func codeExpiry(seconds: Double, status: Int) async throws {
    try await Harness.run { sandbox in
      var person = Person(at: sandbox)
      let sent = try await person.signIn()
      sandbox.time.advance(seconds)
      #expect(try await person.redeem(sent["code"]).status == status)
    }
  }

  @Test(
    "a code counts only for its client, its address and its verifier",
    arguments: [
      ["client_id": "another"], ["client_id": nil], ["redirect_uri": "http://127.0.0.1:41235/callback"],
      ["redirect_uri": nil], ["code_verifier": Person.challenge], ["code_verifier": nil], ["code": "ac_unknown"],
    ] as [[String: String?]])
  func codeBinding(changes: [String: String?]) async throws {
    try await Harness.run { sandbox in
      var person = Person(at: sandbox)
      let sent = try await person.signIn()
      #expect(try await person.redeem(sent["code"], changing: changes).error == "invalid_grant")
      #expect(try await person.redeem(sent["code"]).status == 200)
    }
  }

  @Test("a no on the consent page is told to the client")
  func denied() async throws {
    try await Harness.run { sandbox in
      var person = Person(at: sandbox)
      let consent = try await person.logIn(try await person.authorize())
      let sent = Person.sent(try await person.decide(consent, "deny"))
      #expect(sent["error"] == "access_denied" && sent["state"] == "s&1" && sent["code"] == nil)
      #expect(sent["iss"] == sandbox.sandbox.issuer.url)
      #expect(try await person.decide(consent).status == 400, "the same question is not asked twice")
    }
  }

  @Test("a wrong password shows the form again with the reason, and the right one goes on from there")
  func wrongPassword() async throws {
    try await Harness.run { sandbox in
      var person = Person(at: sandbox)
      let again = try await person.logIn(try await person.authorize(), password: "wrong")
      #expect(again.status == 401 && again.asksForLogin && again.body.contains("is wrong"))
      #expect(try await person.logIn(again).asksForConsent)
    }
  }

  @Test("nobody consents without having logged in")
  func consentNeedsLogin() async throws {
    try await Harness.run { sandbox in
      var person = Person(at: sandbox)
      let login = try await person.authorize()
      let ticket = try #require(login.body.firstMatch(of: /name="ticket" value="([^"]*)"/)?.output.1)
      let answer = try await sandbox.call(.post, "/consent", body: "ticket=\(ticket)&decision=allow")
      #expect(answer.asksForLogin && answer.headers[.location] == nil)
    }
  }

  @Test("a page that was left open for ten minutes is no longer good")
  func timeout() async throws {
    try await Harness.run { sandbox in
      var person = Person(at: sandbox)
      let login = try await person.authorize()
      sandbox.time.advance(600)
      #expect(try await person.logIn(login).status == 400)
    }
  }

  @Test(
    "a request that cannot be sent back is told to the person",
    arguments: [
      ["client_id": nil], ["client_id": ""], ["client_id": "unknown"], ["redirect_uri": nil],
      ["redirect_uri": "https://app.example/callback"], ["redirect_uri": "http://127.0.0.1:1/#x"],
      ["redirect_uri": "http://127.0.0.1.example/"], ["redirect_uri": "http://me@127.0.0.1/"], ["request_uri": "urn:x"],
    ] as [[String: String?]])
  func refusedToPerson(changes: [String: String?]) async throws {
    try await Harness.run(["--client-id", "app"]) { sandbox in
      var person = Person(at: sandbox)
      let answer = try await person.authorize(changing: changes)
      #expect(answer.status == 400 && answer.headers[.location] == nil && answer.body.contains("does not work"))
    }
  }

  @Test(
    "a request that is wrong otherwise is told to the client",
    arguments: [
      (["response_type": nil], "invalid_request"), (["response_type": "token"], "unsupported_response_type"),
      (["code_challenge": nil], "invalid_request"), (["code_challenge_method": nil], "invalid_request"),
      (["code_challenge_method": "plain"], "invalid_request"), (["response_mode": "fragment"], "invalid_request"),
      (["prompt": "dance"], "invalid_request"), (["prompt": "none login"], "invalid_request"),
      (["request": "a.b.c"], "request_not_supported"), (["prompt": "none"], "login_required"),
    ] as [([String: String?], String)])
  func refusedToClient(changes: [String: String?], error: String) async throws {
    try await Harness.run { sandbox in
      var person = Person(at: sandbox)
      let sent = Person.sent(try await person.authorize(changing: changes))
      #expect(sent["error"] == error && sent["state"] == "s&1")
    }
  }

  @Test("who is logged in is only asked for consent, and for the login too where the client wants that")
  func session() async throws {
    try await Harness.run { sandbox in
      var person = Person(at: sandbox)
      _ = try await person.signIn()
      sandbox.time.advance(1)
      #expect(try await person.authorize().asksForConsent)
      #expect(Person.sent(try await person.authorize(changing: ["prompt": "none"]))["error"] == "consent_required")
      let login = try await person.authorize(changing: ["prompt": "login"])
      #expect(login.asksForLogin)
      let ticket = try #require(login.body.firstMatch(of: /name="ticket" value="([^"]*)"/)?.output.1)
      #expect(try await person.open("/consent?ticket=\(ticket)").asksForLogin, "the old login is not enough")
      #expect(try await person.logIn(login).asksForConsent)
    }
  }

  @Test("a session that a client ends takes the login and that client's tokens with it, and leaves another's")
  func endSession() async throws {
    try await Harness.run { sandbox in
      let other = try await sandbox.grant(#"{"subject":"ada","clientID":"other"}"#)
      var person = Person(at: sandbox)
      let sent = try await person.signIn()
      let grant: Grant = try await person.redeem(sent["code"]).decoded()
      #expect(try await person.open("/end_session?id_token_hint=a.b.c").status == 400)
      #expect(try await person.authorize().asksForConsent)
      let fields = [
        "id_token_hint": grant.idToken ?? "", "post_logout_redirect_uri": Person.redirectURI, "state": "s2",
      ]
      let back = try await person.open("/end_session?" + Person.form(fields))
      #expect(back.status == 302 && Person.sent(back) == ["state": "s2"])
      #expect(try await person.authorize().asksForLogin)
      #expect(try await sandbox.call(.get, "/userinfo", bearer: grant.accessToken).status == 401)
      #expect(try await sandbox.call(.get, "/userinfo", bearer: other.accessToken).status == 200)
      let away = try await person.open(
        "/end_session?id_token_hint=\(grant.idToken ?? "")&post_logout_redirect_uri=https://evil.example/")
      #expect(away.status == 200 && away.headers[.location] == nil)
    }
  }

  @Test(
    "a refresh token is for offline_access or plain OAuth, an ID token for openid",
    arguments: [
      ("openid offline_access", true, true), ("openid", false, true), ("notes", true, false), ("", true, false),
    ])
  func scopes(scope: String, hasRefreshToken: Bool, hasIDToken: Bool) async throws {
    try await Harness.run { sandbox in
      var person = Person(at: sandbox)
      let sent = try await person.signIn(changing: ["scope": scope])
      let grant: Grant = try await person.redeem(sent["code"]).decoded()
      #expect((grant.refreshToken != nil) == hasRefreshToken && (grant.idToken != nil) == hasIDToken)
      #expect(grant.scope == scope)
    }
  }

  @Test("what comes from a request stands on the pages as text, and the pages run no scripts")
  func escaping() async throws {
    try await Harness.run { sandbox in
      var person = Person(at: sandbox)
      let evil = #""><script>alert('&')</script>"#
      let login = try await person.authorize(changing: ["client_id": evil, "login_hint": evil, "scope": evil])
      let consent = try await person.logIn(login, as: evil)
      for page in [login, consent, try await person.open("/device?user_code=" + percentEncoded(evil))] {
        #expect(page.status == 200 && !page.body.contains("<script"))
        #expect(page.headers[.contentSecurityPolicy]?.contains("default-src 'none'") == true)
      }
      #expect(consent.body.contains("&quot;&gt;&lt;script&gt;alert(&#39;&amp;&#39;)"))
    }
  }

  @Test(
    "only loopback addresses are gone back to, at any port",
    arguments: [
      ("http://127.0.0.1:1/a", "http://127.0.0.1:1/a?a=b%20c"), ("http://127.0.0.1", "http://127.0.0.1?a=b%20c"),
      ("http://[::1]:8080/callback?x=1", "http://[::1]:8080/callback?x=1&a=b%20c"),
      ("http://localhost:3/", "http://localhost:3/?a=b%20c"), ("https://127.0.0.1:1/a", nil), ("http://10.0.0.1/", nil),
      ("/a", nil), ("http://127.0.0.1:1/a b", nil), ("app:/callback", nil),
    ])
  func redirectURI(text: String, with field: String?) {
    #expect(RedirectURI(text)?.adding([("a", "b c")]) == field)
  }
}
