import HearthCore
import Testing

@testable import HearthOAuth

@Suite("Reading a grant") struct GrantReadingTests {
  // MARK: - Grants

  @Test("a whole answer is read field by field (RFC 6749, section 5.1)")
  func whole() throws {
    let idToken = jwt(#"{"iss":"https://id.example.com","sub":"2482","aud":"hearth"}"#)
    let body = """
      {"access_token":"at","refresh_token":"rt","id_token":"\(idToken)","token_type":"bearer","scope":"openid a",
       "expires_in":3600,"refresh_expires_in":86400}
      """
    let response = try reader().read(answer(body, headers: [("Date", "Sat, 21 Nov 2026 10:00:07 GMT")]))
    #expect(response.accessToken.secret == Secret("at"))
    #expect(response.accessToken.fingerprint.description == "b1d6b91b")
    #expect(response.refreshToken?.secret == Secret("rt"))
    #expect(response.idToken?.secret == Secret(idToken))
    #expect(response.error == nil)
    #expect(response.scope == "openid a")
    #expect(response.lifetime == .seconds(3600))
    #expect(response.refreshLifetime == .seconds(86_400))
    #expect(response.subject == Subject(issuer: "https://id.example.com", id: "2482"))
    #expect(response.origin == origin())
    #expect(response.skew == .seconds(7))
  }

  @Test("what does not come is not made up")
  func sparse() throws {
    let response = try reader().read(answer(#"{"access_token":"at","refresh_token":"","refresh_expires_in":0}"#))
    #expect(response.refreshToken == nil)
    #expect(response.idToken == nil)
    #expect(response.scope == nil)
    #expect(response.lifetime == nil)
    #expect(response.refreshLifetime == nil)
    #expect(response.subject == nil)
    #expect(response.skew == nil)
  }

  @Test(
    "a lifetime is a number or a string; that of none is none, and not one that is not told",
    arguments: [
      (#"3600"#, Duration.seconds(3600)), (#""3600""#, .seconds(3600)), (#"3599.5"#, .milliseconds(3_599_500)),
      (#"2"#, .seconds(2)), (#"1e300"#, .seconds(3_155_760_000)), (#"0"#, .zero), (#""0""#, .zero), (#"-5"#, nil),
      (#""soon""#, nil),
      (#"null"#, nil), (#"true"#, nil), (#""nan""#, nil), (#""inf""#, nil),
    ] as [(String, Duration?)])
  func lifetime(_ value: String, _ expected: Duration?) throws {
    let response = try reader().read(answer(#"{"access_token":"at","expires_in":\#(value)}"#))
    #expect(response.lifetime == expected)
  }

  @Test("without expires_in the JWT's end counts by the server's clock, else by ours, and never by its beginning")
  func lifetimeOfJWT() throws {
    // It was made half an hour ago, by a cache, and answeredAt is 1795255200.
    let cached = jwt(#"{"exp":1795255300,"iat":1795253400}"#)
    #expect(try reader().read(answer(#"{"access_token":"\#(cached)"}"#)).lifetime == .seconds(100))
    let date = [("Date", "Sat, 21 Nov 2026 09:59:20 GMT")]
    let byServer = answer(#"{"access_token":"\#(cached)"}"#, headers: date)
    #expect(try reader().read(byServer).lifetime == .seconds(140))
    #expect(try reader().read(answer(#"{"access_token":"\#(cached)","expires_in":60}"#)).lifetime == .seconds(60))
    let long = answer(#"{"access_token":"\#(cached)"}"#, headers: [("Date", "Thu, 01 Jan 1970 00:00:00 GMT")])
    #expect(try reader().read(long).lifetime == .seconds(1900), "no longer than it was made for")
    let over = jwt(#"{"exp":1795255100,"iat":1795253400}"#)
    #expect(try reader().read(answer(#"{"access_token":"\#(over)"}"#)).lifetime == nil)
  }

  @Test("an ID token's own times are told beside the lifetime of the access token")
  func lifetimeOfIDToken() throws {
    let dated = jwt(#"{"exp":1795257000,"iat":1795250000}"#)
    let response = try reader().read(answer(#"{"access_token":"at","expires_in":60,"id_token":"\#(dated)"}"#))
    #expect(response.lifetime == .seconds(60))
    #expect(response.idTokenLifetime == .seconds(1800))
    let undated = jwt(#"{"sub":"2482"}"#)
    #expect(try reader().read(answer(#"{"access_token":"at","id_token":"\#(undated)"}"#)).idTokenLifetime == nil)
    let alone = try reader(.firebase).read(answer(#"{"id_token":"\#(dated)","expires_in":"1800"}"#))
    #expect(alone.lifetime == .seconds(1800) && alone.idTokenLifetime == .seconds(1800))
  }

  @Test("where nothing tells a lifetime the configured one counts")
  func defaultLifetime() throws {
    var reader = reader()
    reader.defaultLifetime = .seconds(900)
    let dated = jwt(#"{"exp":1795257000,"iat":1795250000}"#)
    for told in ["", #","expires_in":-5"#] {
      #expect(try reader.read(answer(#"{"access_token":"opaque"\#(told)}"#)).lifetime == .seconds(900))
      #expect(try reader.read(answer(#"{"access_token":"\#(dated)"\#(told)}"#)).lifetime == .seconds(1800))
    }
    #expect(try reader.read(answer(#"{"access_token":"opaque","expires_in":60}"#)).lifetime == .seconds(60))
  }

  @Test(
    "Bearer is taken as providers spell it, and where they leave it out",
    arguments: [
      "BEARER", "bearer", "Bearer ", "BearerToken", "bot", "user", "JWT", "", "User Access Token",
      "Application Access Token",
    ])
  func bearer(_ text: String) throws {
    #expect(try reader().read(answer(#"{"access_token":"at","token_type":"\#(text)"}"#)).error == nil)
    #expect(try reader().read(answer(#"{"access_token":"at","token_type":null}"#)).error == nil)
    #expect(try reader().read(answer(#"{"access_token":"at"}"#)).error == nil)
  }

  @Test("a backend's own call may name a type as it likes, unless more than the token is needed")
  func backendsType() throws {
    var reader = reader()
    reader.dialect = .json(JSONBackend(refreshURL: try HTTPURL(oauthURL)))
    #expect(try reader.read(answer(#"{"access_token":"at","token_type":"session"}"#)).error == nil)
    #expect(try reader.read(answer(#"{"access_token":"at","token_type":7}"#)).error == nil)
    #expect(try reader.read(answer(#"{"access_token":"at","token_type":"DPoP"}"#)).error != nil)
  }

  @Test("what a server calls the type of its token is shown without what a terminal would obey")
  func hostileType() throws {
    let response = try reader().read(
      answer(#"{"access_token":"at-secret","token_type":"a\r\n\u001b[2Jb\u202e at-secret"}"#))
    let error = try #require(response.error).message
    #expect(error.contains("of type a [2Jb [redacted], which Hearth cannot use"), "\(error)")
  }

  @Test(
    "a token that Bearer would not do for is refused in one sentence, and the refresh token beside it is kept",
    arguments: ["DPoP", "dpop", "MAC", "mac", "PoP", "N_A", "foo", "Basic", "MAC Access Token", "Refresh Token"])
  func unsupported(_ text: String) throws {
    let response = try reader().read(
      answer(#"{"access_token":"at","refresh_token":"rt","token_type":"\#(text)"}"#))
    let error = try #require(response.error).message
    #expect(error.lowercased().contains("of type \(text.lowercased()), which hearth cannot use"))
    #expect(response.refreshToken?.secret.reveal() == "rt")
    #expect(try reader().read(answer(#"{"access_token":"at","token_type":"Bearer"}"#)).error == nil)
  }

  @Test(
    "a type that is no text makes a malformed answer, which is asked for again; the refresh token beside it is kept",
    arguments: ["7", "0", "true", #"["Bearer"]"#, #"{"name":"Bearer"}"#])
  func malformedType(_ json: String) throws {
    let response = try reader().read(
      answer(#"{"access_token":"at","refresh_token":"rt","token_type":\#(json)}"#))
    guard case .unavailable(let message, nil) = response.error else {
      Issue.record("\(String(describing: response.error))")
      return
    }
    #expect(message.hasSuffix("returned HTTP 200 with a token_type that is not a string."))
    #expect(response.refreshToken?.secret.reveal() == "rt")
  }

  @Test("scopes may come as a list")
  func scopeList() throws {
    #expect(try reader().read(answer(#"{"access_token":"at","scope":["a","b"]}"#)).scope == "a b")
  }

  @Test("Firebase's answer has everything as text and names its user")
  func firebase() throws {
    let body = """
      {"access_token":"at","expires_in":"3600","token_type":"Bearer","refresh_token":"rt","id_token":"it",
       "user_id":"tRcfmLH7","project_id":"5"}
      """
    let response = try reader().read(answer(body))
    #expect(response.lifetime == .seconds(3600))
    #expect(response.subject == Subject(issuer: "https://id.example.com", id: "tRcfmLH7", isIssuerAssumed: true))
  }

  @Test("a json account's fields may have other names and be nested")
  func nested() throws {
    let backend = try backend { backend in
      backend.accessTokenField = "data.session.token"
      backend.refreshTokenField = "renewal"
      backend.expiresInField = "data.ttl"
    }
    let body = #"{"data":{"session":{"token":"at","renewal":"rt","scope":"s"},"ttl":"60"}}"#
    let response = try reader(.json(backend)).read(answer(body))
    #expect(response.accessToken.secret == Secret("at"))
    #expect(response.refreshToken?.secret == Secret("rt"))
    #expect(response.scope == "s")
    #expect(response.lifetime == .seconds(60))
  }

  @Test("who the user is comes from the ID token before all else")
  func subjects() throws {
    let reader = reader()
    for (claims, expected) in [
      (#"{"sub":"2482"}"#, Subject(issuer: "https://id.example.com", id: "2482", isIssuerAssumed: true)),
      (#"{"iss":"https://users.example","sub":"2482"}"#, Subject(issuer: "https://users.example", id: "2482")),
    ] {
      let told = try reader.read(answer(#"{"access_token":"at","id_token":"\#(jwt(claims))","user_id":"7"}"#))
      #expect(told.subject == expected)
    }
    #expect(try reader.read(answer(#"{"access_token":"at"}"#)).subject == nil)
  }

  @Test("an issuer that discovery told is no assumption, unless its name stands for many")
  func issuers() throws {
    var reader = reader()
    for (name, isAssumed) in [
      ("https://id.example.com", false), ("https://login.microsoftonline.com/common/v2.0", true),
    ] {
      reader.issuer = DefaultIssuer(try Issuer(name))
      let told = try reader.read(answer(#"{"access_token":"at","user_id":"7"}"#))
      #expect(told.subject == Subject(issuer: name, id: "7", isIssuerAssumed: isAssumed))
    }
  }

  @Test(
    "how long the refresh token lives is told under several names",
    arguments: ["refresh_expires_in", "refresh_token_expires_in", "x_refresh_token_expires_in"])
  func refreshLifetime(_ name: String) throws {
    let response = try reader().read(answer(#"{"access_token":"at","\#(name)":"86400"}"#))
    #expect(response.refreshLifetime == .seconds(86_400))
  }

  @Test("a refresh or ID token that can be none is left out, and does not take the access token with it")
  func spoilt() throws {
    let response = try reader().read(answer(#"{"access_token":"at","refresh_token":"a\nb","id_token":"a b"}"#))
    #expect(response.accessToken.secret == Secret("at") && response.refreshToken == nil && response.idToken == nil)
  }

  @Test(
    "a refresh token is kept where the access token beside it is missing or cannot be used, and the answer is no grant",
    arguments: [
      #"{"refresh_token":"rt"}"#, #"{"access_token":null,"refresh_token":"rt"}"#,
      #"{"access_token":"","refresh_token":"rt","expires_in":60}"#, #"{"access_token":"a b","refresh_token":"rt"}"#,
      #"{"access_token":"tök","refresh_token":"rt"}"#, #"{"data":{"refresh_token":"rt"}}"#,
      #"{"error":"server_error","access_token":"a b","refresh_token":"rt"}"#,
    ])
  func refreshTokenAlone(_ body: String) throws {
    for reader in [reader(), reader(.json(try backend()))] {
      let response = try reader.read(answer(body))
      #expect(response.refreshToken?.secret == Secret("rt") && response.accessToken.secret.isEmpty)
      guard case .unavailable? = response.error else {
        Issue.record("\(String(describing: response.error))")
        continue
      }
    }
  }

  @Test("an error with a refresh token and no access token is a refusal")
  func refusalWithRefreshToken() {
    #expect(throws: RefreshFailure.self) {
      try reader().read(answer(#"{"error":"invalid_grant","refresh_token":"rt"}"#))
    }
  }

  @Test("the time that a cache has kept is not the server's, as its Age tells")
  func cachedDate() throws {
    let date = [("Date", "Sat, 21 Nov 2026 09:00:00 GMT")]
    #expect(try reader().read(answer(#"{"access_token":"at"}"#, headers: date)).skew == .seconds(-3600))
    #expect(try reader().read(answer(#"{"access_token":"at"}"#, headers: date + [("Age", "3600")])).skew == nil)
  }

  @Test("a form is read like JSON")
  func form() throws {
    let type = [("Content-Type", "application/x-www-form-urlencoded")]
    let response = try reader().read(
      answer("access_token=a%2Bt&refresh_token=r&expires_in=60&scope=a+b", headers: type))
    #expect(response.accessToken.secret == Secret("a+t") && response.refreshToken?.secret == Secret("r"))
    #expect(response.lifetime == .seconds(60) && response.scope == "a b")
  }

  @Test("a grant in an envelope is read whole, and one at the top before it")
  func envelope() throws {
    let data = #"{"access_token":"in","refresh_token":"rt","expires_in":60}"#
    for reader in [reader(), reader(.json(try backend()))] {
      let response = try reader.read(answer(#"{"code":"OK","data":\#(data)}"#))
      #expect(response.accessToken.secret == Secret("in") && response.refreshToken?.secret == Secret("rt"))
      #expect(response.lifetime == .seconds(60))
      let both = try reader.read(answer(#"{"access_token":"out","data":\#(data)}"#))
      #expect(both.accessToken.secret == Secret("out") && both.refreshToken == nil && both.lifetime == nil)
    }
  }

  @Test("a grant within one object of any name is read whole, in whatever the object stands beside")
  func anyEnvelope() throws {
    let grant = #"{"access_token":"a2","refresh_token":"r2","scope":"a,b","expires_in":10800}"#
    for body in [
      #"{"status":0,"body":\#(grant)}"#, #"{"result":\#(grant),"ok":true}"#,
      #"{"meta":{"code":0},"Payload":\#(grant)}"#,
      #"{"error":null,"code":200,"token":\#(grant)}"#, #"{"user":{"name":"n"},"session":\#(grant),"list":[1]}"#,
    ] {
      for reader in [reader(), reader(.json(try backend()))] {
        let response = try reader.read(answer(body))
        #expect(response.accessToken.secret == Secret("a2") && response.refreshToken?.secret == Secret("r2"))
        #expect(response.lifetime == .seconds(10_800) && response.scope == "a,b" && response.error == nil)
      }
    }
    let alone = try reader().read(answer(#"{"body":{"refresh_token":"r2"}}"#))
    #expect(alone.refreshToken?.secret == Secret("r2") && alone.error != nil)
    let kept = try reader().read(answer(#"{"refresh_token":"r2","body":{"access_token":"a2"}}"#))
    #expect(kept.refreshToken?.secret == Secret("r2") && kept.error != nil, "which belong together is not known")
  }

  @Test(
    "what is in several objects, deeper, in a list or in an error is no grant",
    arguments: [
      #"{"a":{"access_token":"a1"},"b":{"access_token":"a2"}}"#, #"{"body":{"grant":{"access_token":"a2"}}}"#,
      #"{"body":[{"access_token":"a2"}]}"#, #"{"error":{"access_token":"a2","message":"No."}}"#,
    ])
  func noEnvelope(_ body: String) {
    #expect(reader().failure(answer(body)) != nil)
  }

  @Test("a backend's field of another name is looked for in no object of any name")
  func ownFields() throws {
    let own = try backend { $0.accessTokenField = "token" }
    #expect(reader(.json(own)).failure(answer(#"{"push":{"token":"t"}}"#)) != nil)
    #expect(try reader(.json(own)).read(answer(#"{"data":{"token":"t"}}"#)).accessToken.secret == Secret("t"))
  }
}
