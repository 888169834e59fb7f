import HearthCore
import TestSupport
import Testing

@testable import HearthOAuth

@Suite("Discovery")
struct DiscoveryTests {
  private static let path = "/.well-known/openid-configuration"

  @Test("the document lies at the issuer's path, without its last slash (OIDC Discovery, section 4.1)")
  func place() throws {
    #expect(
      try Issuer("https://id.example.com/tenant/").discoveryURL.description
        == "https://id.example.com/tenant/.well-known/openid-configuration")
    #expect(
      try Issuer("https://id.example.com").discoveryURL.description
        == "https://id.example.com/.well-known/openid-configuration")
    #expect(throws: HTTPURL.ParseError.badCharacter("?")) { try Issuer("https://id.example.com/?tenant=1") }
    #expect(throws: HTTPURL.ParseError.plainHTTP) { try Issuer("http://id.example.com") }
  }

  @Test("an issuer that calls itself something else, be it by a slash, is the configuration's", arguments: ["/", "x"])
  func wrongIssuer(suffix: String) async throws {
    try await ProviderBench.run { bench in
      bench.provider.discover(at: bench.server, issuer: bench.base + suffix)
      bench.provider.grant("/token")
      let (outcome, message) = await bench.outcome(of: bench.oidc())
      #expect(outcome == .misconfigured)
      #expect(message.contains(bench.base + suffix))
      #expect(bench.requests.isEmpty)
    }
  }

  @Test(
    "a document of a real provider is used, or its name is told with a way that works", arguments: ProviderDocument.all)
  func realDocuments(_ document: ProviderDocument) async throws {
    try await ProviderBench.run { bench in
      let issuer = try Issuer(document.configured)
      let discovery = Discovery(issuer: issuer, sender: bench.sender, files: bench.files, timeout: .seconds(1))
      if let (status, location) = document.redirect {
        var moved = HTTPResponse(status: status, receivedAt: .sample)
        moved.headers = [APIRequest.Header(name: "Location", value: location)]
        let place = try moved.redirect(from: issuer.discoveryURL, "")
        #expect(place?.description == (try issuer.discoveryURL.resolving(location)).description)
      }
      let answer = HTTPResponse(status: 200, body: Array(document.body.utf8), receivedAt: .sample)
      let result = Result { () throws(RefreshFailure) in try discovery.read(answer) }
      let message: String? = if case .failure(let failure) = result { failure.message } else { nil }
      let sameName = "To use that issuer, run \"hearthctl account set ACCOUNT issuer \(document.named)\"."
      switch document.meaning {
      case .used: #expect(message == nil)
      case .misspelled: #expect(message?.hasSuffix(sameName) == true)
      case .otherIssuer:
        #expect(message?.contains(sameName) == true)
        #expect(message?.contains("use type = \"oauth2\" and the endpoints that") == true)
        #expect(message?.contains("\(issuer.discoveryURL) lists: token_endpoint, authorization_endpoint") == true)
      }
    }
  }

  @Test("an issuer that is none, and an account without a person, are told the endpoints that they need")
  func noIssuer() async throws {
    try await ProviderBench.run { bench in
      for name in ["", #""issuer":1,"#, #""issuer":"id","#] {
        bench.provider.grant(Self.path, #"{\#(name)"token_endpoint":"\#(bench.base)/token"}"#)
        let (outcome, message) = await bench.outcome(of: bench.oidc())
        #expect(outcome == .misconfigured && message.contains("oauth2") && message.contains("lists: token_endpoint, "))
      }
      let robot = bench.endpoint(.clientCredentials(.discovered(try Issuer(bench.base)), OAuthClient(id: "robot")))
      let message = await bench.outcome(of: robot).message
      #expect(message.contains("client-credentials") && message.contains("lists: token_endpoint."))
    }
  }

  @Test("Microsoft's placeholder is taken for the issuer of all tenants, and for no other")
  func placeholder() async throws {
    for (alias, named, expected) in [
      ("/common/v2.0", "/{tenantid}/v2.0", Outcome.granted), ("/organizations/v2.0", "/{tenantid}/v2.0", .granted),
      ("/consumers/v2.0", "/{tenantid}/v2.0", .granted), ("/common/v2.0", "/{tenant}/v2.0", .misconfigured),
      ("/a/v2.0", "/{tenantid}/v2.0", .misconfigured), ("/common", "/{tenantid}", .misconfigured),
    ] {
      try await ProviderBench.run { bench in
        bench.provider.grant(
          alias + Self.path, #"{"issuer":"\#(bench.base)\#(named)","token_endpoint":"\#(bench.base)/token"}"#)
        let tenant = bench.base + "/72f988bf-86f1-41af-91ab-2d7cd011db47/v2.0"
        let idToken = jwt(#"{"iss":"\#(tenant)","sub":"2482"}"#)
        bench.provider.grant("/token", #"{"access_token":"a","id_token":"\#(idToken)"}"#)
        let endpoint = bench.oidc(issuer: bench.base + alias)
        #expect(await bench.outcome(of: endpoint).outcome == expected)
        if expected == .granted {
          let subject = Subject(issuer: tenant, id: "2482")
          let response = try await endpoint.refresh(bench.credential())
          #expect(response.subject == subject)
          #expect(await bench.outcome(of: endpoint, bench.credential(subject: subject)).outcome == .granted)
        }
      }
    }
  }

  @Test("an endpoint at an origin that was not named at sign-in gets no token, and the refresh tells where it is")
  func strayEndpoints() async throws {
    let thief = ScriptedProvider()
    thief.grant("/revoke")
    thief.grant("/userinfo", #"{"sub":"2482"}"#)
    try await LoopbackServer.with({ thief.reply(to: $0) }) { other in
      try await ProviderBench.run { bench in
        let place = "http://127.0.0.1:\(other.port)"
        bench.provider.grant(
          Self.path,
          """
          {"issuer":"\(bench.base)","token_endpoint":"\(bench.base)/token","revocation_endpoint":"\(place)/revoke",
           "userinfo_endpoint":"\(place)/userinfo"}
          """)
        bench.provider.grant("/token")
        let endpoint = bench.oidc()
        let (own, foreign) = (bench.server.url().origin, other.url().origin)
        var credential = bench.credential(origin: own)
        credential.origins = [own]
        #expect(await endpoint.revoke(credential) != .revoked)
        #expect(await endpoint.identify(credential) == nil)
        #expect(other.requests.isEmpty)
        let response = try await endpoint.refresh(credential)
        #expect(response.origins == [own, foreign])
        #expect(await endpoint.origins() == [own, foreign])
        #expect(other.requests.isEmpty)

        credential.origins = [own, foreign]
        #expect(await endpoint.revoke(credential) == .revoked)
        #expect(await endpoint.identify(credential)?.id == "2482")
        #expect(other.requests.map(\.target) == ["/revoke", "/revoke", "/userinfo"])
      }
    }
  }

  @Test(
    "a document that cannot be had now is tried again later",
    arguments: [
      .answer(503), .answer(200, body: "<html>"), .answer(200, body: #"{"issuer":"#), .answer(302), .close, .reset,
      .answer(429), .answer(404),
    ] as [LoopbackServer.Reply])
  func unavailable(_ reply: LoopbackServer.Reply) async throws {
    try await ProviderBench.run { bench in
      bench.provider.answer(Self.path, with: reply)
      #expect(await bench.outcome(of: bench.oidc()).outcome == .unavailable)
    }
  }

  @Test("a document that is not there says what to check, and once it is there it is used at once")
  func startsLate() async throws {
    try await ProviderBench.run { bench in
      let endpoint = bench.oidc()
      let missing = await bench.outcome(of: endpoint)
      #expect(missing.message.contains("was not found (HTTP 404). If this persists, check the issuer."))
      bench.provider.discover(at: bench.server)
      bench.provider.grant("/token")
      #expect(await bench.outcome(of: endpoint).outcome == .granted)
      bench.provider.answer(Self.path, with: .answer(404))
      bench.clock.advance(by: .seconds(3601))
      #expect(await bench.outcome(of: endpoint).outcome == .granted, "what it said before serves meanwhile")
    }
  }

  @Test("an https issuer names no endpoint without TLS, not on this machine either")
  func loopbackEndpoints() async throws {
    try await ProviderBench.run { bench in
      func read(_ issuer: String, token: String) throws -> ProviderEndpoints {
        let discovery = Discovery(
          issuer: try Issuer(issuer), sender: bench.sender, files: bench.files, timeout: .seconds(1))
        let names = ["revocation_endpoint", "userinfo_endpoint", "jwks_uri", "authorization_endpoint"]
        let others = names.map { #","\#($0)":"http://127.0.0.1:8/x""# }.joined()
        let body = #"{"issuer":"\#(issuer)","token_endpoint":"\#(token)"\#(others)}"#
        return try discovery.read(HTTPResponse(status: 200, body: Array(body.utf8), receivedAt: .sample))
      }
      let secure = "https://id.example.com"
      let endpoints = try read(secure, token: secure + "/token")
      let others = [endpoints.revocation, endpoints.userInfo, endpoints.keys, endpoints.authorization]
      #expect(others.allSatisfy { $0 == nil }, "as if they were not named")
      let failure = #expect(throws: RefreshFailure.self) { try read(secure, token: "http://127.0.0.1:8/token") }
      #expect(failure.map { Outcome($0) } == .misconfigured)
      let plain = try read("http://127.0.0.1:8", token: "http://127.0.0.1:9/token")
      #expect(plain.keys?.description == "http://127.0.0.1:8/x", "an issuer on this machine may")
    }
  }

  @Test("a document that names no usable token endpoint is the configuration's")
  func unusable() async throws {
    try await ProviderBench.run { bench in
      for endpoint in ["http://id.example.com/token", "/token", "https://a@b/token"] {
        bench.provider.grant(Self.path, #"{"issuer":"\#(bench.base)","token_endpoint":"\#(endpoint)"}"#)
        #expect(await bench.outcome(of: bench.oidc()).outcome == .misconfigured)
      }
    }
  }

  @Test("the document is asked for once an hour, and an old one serves while a new one cannot be had")
  func caching() async throws {
    try await ProviderBench.run { bench in
      func asked() -> Int { bench.server.requests.count { $0.target == Self.path } }
      bench.provider.discover(at: bench.server)
      bench.provider.grant("/token")
      let endpoint = bench.oidc()
      for _ in 0..<3 { _ = try await endpoint.refresh(bench.credential()) }
      bench.clock.advance(by: .seconds(3599))
      _ = try await endpoint.refresh(bench.credential())
      #expect(asked() == 1)
      bench.clock.advance(by: .seconds(1))
      bench.provider.answer(Self.path, with: .answer(503))
      _ = try await endpoint.refresh(bench.credential())
      #expect(asked() == 2)
      bench.clock.step(by: .seconds(-7200))
      bench.provider.discover(at: bench.server)
      _ = try await endpoint.refresh(bench.credential())
      #expect(asked() == 3)
    }
  }

  @Test("a token endpoint that answers 404 is looked for anew, and asked at its new place at once")
  func moved() async throws {
    try await ProviderBench.run { bench in
      bench.provider.discover(at: bench.server)
      bench.provider.grant("/token")
      let endpoint = bench.oidc()
      _ = try await endpoint.refresh(bench.credential())
      bench.provider.answer("/token", with: .answer(404))
      #expect(await bench.outcome(of: endpoint).outcome == .misconfigured)
      bench.provider.discover(at: bench.server, tokenPath: "/v2/token")
      bench.provider.grant("/v2/token")
      _ = try await endpoint.refresh(bench.credential())
      #expect(bench.requests.map(\.target) == ["/token", "/token", "/token", "/v2/token"])
    }
  }
}
