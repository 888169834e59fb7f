import FoundationEssentials
import HTTPTypes
import Testing

@testable import hearth_sandbox

@Suite struct ProviderTests {
  @Test("a refresh brings a new access token and a new refresh token, and the subject's count goes up")
  func rotation() async throws {
    try await Harness.run { sandbox in
      let first = try await sandbox.grant()
      let answer = try await sandbox.refresh(first.refreshToken)
      let second: Grant = try answer.decoded()
      #expect(answer.status == 200)
      #expect(second.accessToken != first.accessToken)
      #expect(second.refreshToken != nil && second.refreshToken != first.refreshToken)
      #expect(sandbox.statistics.refreshes == ["2482": 1])
      #expect(sandbox.statistics.tokenOutcomes == ["success": 1])
    }
  }

  @Test("a rotated token used again within the grace window brings a fresh successor, and both successors are good")
  func grace() async throws {
    try await Harness.run(["--grace", "10"]) { sandbox in
      let first = try await sandbox.grant()
      let second: Grant = try await sandbox.refresh(first.refreshToken).decoded()
      sandbox.time.advance(10)
      let third: Grant = try await sandbox.refresh(first.refreshToken).decoded()
      #expect(third.refreshToken != second.refreshToken)
      #expect(sandbox.statistics.graceReuses == 1 && sandbox.statistics.reuseDetected == 0)
      #expect(try await sandbox.refresh(second.refreshToken).status == 200)
      #expect(try await sandbox.refresh(third.refreshToken).status == 200)
    }
  }

  @Test("a rotated token used after the grace window revokes its whole family, and no other")
  func reuse() async throws {
    try await Harness.run(["--grace", "10"]) { sandbox in
      let first = try await sandbox.grant()
      let other = try await sandbox.grant()
      let second: Grant = try await sandbox.refresh(first.refreshToken).decoded()
      sandbox.time.advance(10.5)
      let reused = try await sandbox.refresh(first.refreshToken)
      #expect(reused.status == 400 && reused.error == "invalid_grant")
      #expect(sandbox.statistics.reuseDetected == 1)
      #expect(try await sandbox.refresh(second.refreshToken).error == "invalid_grant")
      #expect(try await sandbox.call(.get, "/userinfo", bearer: second.accessToken).status == 401)
      #expect(try await sandbox.refresh(other.refreshToken).status == 200)
    }
  }

  @Test("an access token and its ID token are good until they expire and no moment longer")
  func expiry() async throws {
    try await Harness.run(["--token-lifetime", "60"]) { sandbox in
      let grant = try await sandbox.grant()
      sandbox.time.advance(59.9)
      #expect(try await sandbox.call(.get, "/userinfo", bearer: grant.accessToken).status == 200)
      #expect(try await sandbox.call(.get, "/userinfo", bearer: grant.idToken ?? "").status == 200)
      sandbox.time.advance(0.1)
      #expect(try await sandbox.call(.get, "/userinfo", bearer: grant.accessToken).status == 401)
      #expect(try await sandbox.call(.get, "/userinfo", bearer: grant.idToken ?? "").status == 401)
    }
  }

  @Test("a lifetime asked for with the first grant holds for the refreshed ones")
  func lifetime() async throws {
    try await Harness.run { sandbox in
      let first = try await sandbox.grant(#"{"subject":"a","lifetime":2.5,"scope":"openid"}"#)
      #expect(first.expiresIn == 2.5 && first.scope == "openid")
      let second: Grant = try await sandbox.refresh(first.refreshToken).decoded()
      #expect(second.expiresIn == 2.5 && second.scope == "openid")
    }
  }

  @Test("the ID token tells issuer, subject, audience and times")
  func idToken() async throws {
    struct Claims: Decodable {
      let iss, sub, aud: String
      let iat, exp: Int
    }
    try await Harness.run { sandbox in
      let grant = try await sandbox.grant(#"{"subject":"2482","clientID":"app"}"#)
      let claims = try JSONDecoder().decode(Claims.self, from: try SignedToken(grant.idToken).payload)
      #expect(claims.iss == sandbox.sandbox.issuer.url)
      #expect(claims.sub == "2482" && claims.aud == "app")
      #expect(claims.exp - claims.iat == 3600)
    }
  }

  @Test("revoking a refresh token ends its family, and an unknown token is no error")
  func revocation() async throws {
    try await Harness.run { sandbox in
      let grant = try await sandbox.grant()
      #expect(try await sandbox.call(.post, "/revoke", body: "token=unknown").status == 200)
      #expect(sandbox.statistics.revocations == 0)
      #expect(try await sandbox.call(.post, "/revoke", body: "token=\(grant.refreshToken ?? "")").status == 200)
      #expect(sandbox.statistics.revocations == 1)
      #expect(try await sandbox.refresh(grant.refreshToken).error == "invalid_grant")
      #expect(try await sandbox.call(.get, "/userinfo", bearer: grant.accessToken).status == 401)
    }
  }

  @Test("introspection tells whose a token is and whether it is active, and of others nothing")
  func introspection() async throws {
    try await Harness.run(["--token-lifetime", "60"]) { sandbox in
      let grant = try await sandbox.grant(#"{"subject":"2482","clientID":"app","scope":"openid"}"#)
      let access = try await sandbox.call(.post, "/introspect", body: "token=\(grant.accessToken)").body
      #expect(access.contains(#""active":true"#) && access.contains(#""sub":"2482""#))
      #expect(access.contains(#""client_id":"app""#) && access.contains(#""exp":1795000060"#))
      let refresh = try await sandbox.call(.post, "/introspect", body: "token=\(grant.refreshToken ?? "")").body
      #expect(refresh.contains(#""active":true"#) && !refresh.contains("exp"))
      let form = "grant_type=refresh_token&client_id=app&refresh_token=\(grant.refreshToken ?? "")"
      #expect(try await sandbox.token(form).status == 200)
      let used = try await sandbox.call(.post, "/introspect", body: "token=\(grant.refreshToken ?? "")").body
      #expect(used == #"{"active":false}"#)
      sandbox.time.advance(60)
      let expired = try await sandbox.call(.post, "/introspect", body: "token=\(grant.accessToken)").body
      #expect(expired == #"{"active":false}"#)
      #expect(try await sandbox.call(.post, "/introspect", body: "token=unknown").body == #"{"active":false}"#)
    }
  }

  @Test("revoking a subject ends its grants and leaves another's")
  func revokeSubject() async throws {
    try await Harness.run { sandbox in
      let one = try await sandbox.grant(#"{"subject":"one"}"#)
      let two = try await sandbox.grant(#"{"subject":"two"}"#)
      #expect(try await sandbox.call(.post, "/__revoke", body: #"{"subject":"one"}"#).body == #"{"revoked":1}"#)
      #expect(try await sandbox.refresh(one.refreshToken).error == "invalid_grant")
      #expect(try await sandbox.refresh(two.refreshToken).status == 200)
    }
  }

  @Test("expiring makes access tokens invalid and leaves refresh tokens good")
  func expire() async throws {
    try await Harness.run { sandbox in
      let grant = try await sandbox.grant()
      _ = try await sandbox.call(.post, "/__expire")
      #expect(try await sandbox.call(.get, "/api/whoami", bearer: grant.accessToken).status == 401)
      let next: Grant = try await sandbox.refresh(grant.refreshToken).decoded()
      #expect(try await sandbox.call(.get, "/api/whoami", bearer: next.accessToken).status == 200)
    }
  }

  @Test("a client's secret is taken by Basic authentication and in the form, and a wrong one is refused with 401")
  func clientAuthentication() async throws {
    try await Harness.run(["--client-id", "app", "--client-secret", "s3:cret"]) { sandbox in
      let form = "grant_type=client_credentials"
      let basic = Data("app:s3%3Acret".utf8).base64EncodedString()
      #expect(try await sandbox.token(form, headers: [.authorization: "Basic \(basic)"]).status == 200)
      #expect(try await sandbox.token(form + "&client_id=app&client_secret=s3%3Acret").status == 200)
      let refused = try await sandbox.token(form + "&client_id=app&client_secret=wrong")
      #expect(refused.status == 401 && refused.error == "invalid_client")
      #expect(refused.headers[.wwwAuthenticate] != nil)
      #expect(try await sandbox.token(form).error == "invalid_client")
    }
  }

  @Test("client credentials bring no refresh token, and their subject is the client")
  func clientCredentials() async throws {
    try await Harness.run { sandbox in
      let grant: Grant = try await sandbox.token("grant_type=client_credentials&client_id=robot").decoded()
      #expect(grant.refreshToken == nil)
      let userInfo = try await sandbox.call(.get, "/userinfo", bearer: grant.accessToken)
      #expect(try userInfo.decoded(as: [String: String].self)["sub"] == "robot")
    }
  }

  @Test("the right password brings a grant and a wrong one invalid_grant")
  func password() async throws {
    try await Harness.run(["--password", "a b"]) { sandbox in
      let right = try await sandbox.token("grant_type=password&username=me&password=a+b")
      #expect(right.status == 200)
      let wrong = try await sandbox.token("grant_type=password&username=me&password=ab")
      #expect(wrong.error == "invalid_grant")
    }
  }

  @Test("with JSON in and out a backend's login and refresh work, and a refused token is a 401")
  func json() async throws {
    try await Harness.run { sandbox in
      let json: HTTPFields = [.contentType: "application/json"]
      let login = try await sandbox.call(
        .post, "/auth/login", headers: json, body: #"{"username":"me","password":"password"}"#)
      let grant: Grant = try login.decoded()
      let wrong = try await sandbox.call(
        .post, "/auth/login", headers: json, body: #"{"username":"me","password":"wrong"}"#)
      #expect(wrong.status == 401 && wrong.error == "invalid_grant")
      let body = #"{"refresh_token":"\#(grant.refreshToken ?? "")"}"#
      #expect(try await sandbox.call(.post, "/auth/refresh", headers: json, body: body).status == 200)
      _ = try await sandbox.call(.post, "/__revoke")
      #expect(try await sandbox.call(.post, "/auth/refresh", headers: json, body: body).status == 401)
    }
  }

  @Test("a request that is not in form gets the error that RFC 6749 names")
  func errors() async throws {
    try await Harness.run { sandbox in
      let empty = try await sandbox.token("")
      #expect(empty.error == "invalid_request")
      #expect(try await sandbox.token("grant_type=refresh_token").error == "invalid_request")
      #expect(try await sandbox.token("grant_type=telepathy").error == "unsupported_grant_type")
      #expect(try await sandbox.refresh("unknown").error == "invalid_grant")
      #expect(try await sandbox.call(.get, "/token").status == 405)
      #expect(try await sandbox.call(.get, "/nowhere").status == 404)
    }
  }

  @Test("discovery names the endpoints under the issuer")
  func discovery() async throws {
    try await Harness.run { sandbox in
      let document: Discovery = try await sandbox.call(.get, "/.well-known/openid-configuration").decoded()
      #expect(document.issuer == sandbox.sandbox.issuer.url && document.issuer.hasPrefix("http://127.0.0.1:"))
      #expect(document.tokenEndpoint == document.issuer + "/token")
      #expect(document.userinfoEndpoint == document.issuer + "/userinfo")
      #expect(document.revocationEndpoint == document.issuer + "/revoke")
      #expect(document.introspectionEndpoint == document.issuer + "/introspect")
      #expect(document.authorizationEndpoint == document.issuer + "/authorize")
      #expect(document.deviceAuthorizationEndpoint == document.issuer + "/device_authorization")
      #expect(document.pushedAuthorizationRequestEndpoint == document.issuer + "/par")
      #expect(document.endSessionEndpoint == document.issuer + "/end_session")
      #expect(document.jwksUri == document.issuer + "/jwks")
      #expect(document.codeChallengeMethodsSupported == ["S256"])
      #expect(document.authorizationResponseIssParameterSupported && !document.requirePushedAuthorizationRequests)
    }
  }

  @Test("what was kept in a file is known to the next run")
  func persistence() async throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "sandbox-\(UUID().uuidString).json").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    try await Harness.run { first in
      let grant = try await first.grant()
      try first.sandbox.save(to: path)
      try await Harness.run { second in
        try second.sandbox.load(from: path)
        #expect(try await second.refresh(grant.refreshToken).status == 200)
      }
    }
  }
}
