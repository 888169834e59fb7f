import HearthCore
import NIOHTTP1
import Testing

@testable import HearthOAuth

@Suite("Whose a grant is") struct IdentityTests {
  @Test("the configured subject is never taken for one that the provider told")
  func configuredSubject() async throws {
    try await ProviderBench.run { bench in
      bench.provider.discover(at: bench.server)
      bench.provider.grant("/token")
      let endpoint = bench.oidc(subject: "me@example.com")
      let unknown = try await endpoint.refresh(bench.credential())
      #expect(unknown.subject == nil)
      let known = Subject(issuer: bench.base, id: "2482")
      let untold = try await endpoint.refresh(bench.credential(subject: known))
      #expect(untold.subject == nil)
    }
  }

  @Test("whose a grant is comes from its ID token, else from the UserInfo endpoint")
  func identify() async throws {
    try await ProviderBench.run { bench in
      bench.provider.discover(at: bench.server)
      let endpoint = bench.oidc(subject: "me@example.com")
      let idToken = jwt(#"{"iss":"\#(bench.base)","sub":"1"}"#)
      #expect(await endpoint.identify(bench.credential(idToken: idToken)) == Subject(issuer: bench.base, id: "1"))
      #expect(bench.requests.isEmpty)
      #expect(await endpoint.identify(bench.credential()) == nil)
      bench.provider.grant("/userinfo", #"{"sub":"2482","name":"N"}"#)
      #expect(await endpoint.identify(bench.credential()) == Subject(issuer: bench.base, id: "2482"))
      #expect(bench.requests.last?.headers["Authorization"] == ["Bearer old-access"])
    }
  }

  @Test(
    "an ID token for another client does not say whose a grant is: the UserInfo endpoint does",
    arguments: [
      (#""aud":"other""#, false), (#""aud":["other","more"]"#, false), (#""aud":"other","azp":"other""#, false),
      (#""aud":"hearth app""#, true), (#""aud":["other","hearth app"],"azp":"other""#, true),
      (#""aud":"other","azp":"hearth app""#, true),
    ])
  func audience(claims: String, isOwn: Bool) async throws {
    try await ProviderBench.run { bench in
      bench.provider.discover(at: bench.server)
      bench.provider.grant("/userinfo", #"{"sub":"2482"}"#)
      let idToken = jwt(#"{"iss":"\#(bench.base)","sub":"1",\#(claims)}"#)
      bench.provider.grant("/token", #"{"access_token":"a","id_token":"\#(idToken)"}"#)
      let endpoint = bench.oidc()
      #expect(await endpoint.identify(bench.credential(idToken: idToken))?.id == (isOwn ? "1" : "2482"))
      let response = try await endpoint.refresh(bench.credential())
      #expect(response.subject?.id == (isOwn ? "1" : nil))
      #expect(response.idToken?.secret.reveal() == idToken)
    }
  }

  @Test("an ID token for the audience that the account asks for says whose a grant is")
  func askedAudience() async throws {
    try await ProviderBench.run { bench in
      bench.provider.discover(at: bench.server)
      bench.provider.grant("/token", #"{"access_token":"a"}"#)
      let asked = ["audience": "https://api.example.com"]
      let resource = ["resource": "https://api.example.com"]
      for (token, authorization) in [(asked, [:]), (resource, [:]), ([:], asked), ([:], resource)] {
        var provider = ProviderConfiguration(
          kind: .oauth(.discovered(try Issuer(bench.base)), OAuthClient(id: "hearth")))
        (provider.tokenParameters, provider.authorizationParameters) = (token, authorization)
        let endpoint = provider.endpoints(sender: bench.sender, files: bench.files, timeout: .seconds(30)).tokens
        let idToken = jwt(#"{"iss":"\#(bench.base)","sub":"1","aud":"https://api.example.com"}"#)
        #expect(await endpoint.identify(bench.credential(idToken: idToken))?.id == "1")
      }
    }
  }

  @Test("an ID token that names no issuer still says whose a grant is, and the UserInfo endpoint is not asked besides")
  func identifyWithoutIssuer() async throws {
    try await ProviderBench.run { bench in
      bench.provider.discover(at: bench.server)
      bench.provider.grant("/userinfo", #"{"sub":"other"}"#)
      let credential = bench.credential(idToken: jwt(#"{"sub":"1"}"#))
      #expect(await bench.oidc().identify(credential) == Subject(issuer: bench.base, id: "1"))
      #expect(bench.requests.isEmpty)
    }
  }

  @Test("a user who is a number in an ID token, at the UserInfo endpoint or in a response has that number as a name")
  func number() async throws {
    try await ProviderBench.run { bench in
      bench.provider.discover(at: bench.server)
      let (endpoint, user) = (bench.oidc(), Subject(issuer: bench.base, id: "35"))
      let idToken = jwt(#"{"iss":"\#(bench.base)","sub":35,"aud":["hearth app"]}"#)
      #expect(await endpoint.identify(bench.credential(idToken: idToken)) == user)
      bench.provider.grant("/userinfo", #"{"sub":35}"#)
      #expect(await endpoint.identify(bench.credential()) == user)
      for body in [#""id_token":"\#(idToken)""#, #""user_id":35"#] {
        bench.provider.grant("/token", #"{"access_token":"a",\#(body)}"#)
        let response = try await endpoint.refresh(bench.credential(subject: user))
        #expect(response.subject == user)
      }
      for none in ["35.5", "true", "[35]", "{}", "null", #""""#, "1e400", "123456789012345678901234567890"] {
        let idToken = jwt(#"{"iss":"\#(bench.base)","sub":\#(none)}"#)
        bench.provider.grant("/userinfo", #"{"sub":\#(none)}"#)
        #expect(await endpoint.identify(bench.credential(idToken: idToken)) == nil, "\(none)")
      }
    }
  }

  @Test("an issuer is assumed where endpoints are named, and told where they are discovered")
  func assumedIssuer() async throws {
    try await ProviderBench.run { bench in
      bench.provider.discover(at: bench.server)
      bench.provider.grant("/userinfo", #"{"id":2482}"#)
      bench.provider.grant("/token")
      var endpoints = ProviderEndpoints(token: bench.server.url("/token"))
      endpoints.userInfo = bench.server.url("/userinfo")
      var provider = ProviderConfiguration(
        kind: .oauth(.named(endpoints), OAuthClient(id: "h")), subject: "me@example.com")
      provider.userInfoSubjectField = "id"
      let named = provider.endpoints(sender: bench.sender, files: bench.files, timeout: .seconds(30)).tokens
      let assumed = { Subject(issuer: bench.base, id: $0, isIssuerAssumed: true) }
      #expect(await named.identify(bench.credential()) == assumed("2482"))
      var settings = SessionSettings()
      provider.complete(&settings)
      #expect(settings.configuredSubject == assumed("me@example.com"))
      #expect(settings.configuredSubject?.isIssuerAssumed == true)
      let endpoint = bench.oidc()
      let idToken = jwt(#"{"sub":"1"}"#)
      #expect(await endpoint.identify(bench.credential(idToken: idToken))?.isIssuerAssumed == false)
    }
  }

  @Test("a name longer than a user's may be is not taken from an ID token, the UserInfo endpoint or a response")
  func longName() async throws {
    let longest = String(repeating: "a", count: 255)
    for (name, isTaken) in [(longest, true), (longest + "a", false)] {
      try await ProviderBench.run { bench in
        bench.provider.discover(at: bench.server)
        bench.provider.grant("/userinfo", #"{"sub":"\#(name)"}"#)
        bench.provider.grant("/token", #"{"access_token":"a","user_id":"\#(name)"}"#)
        let endpoint = bench.oidc()
        let expected = isTaken ? Subject(issuer: bench.base, id: name) : nil
        #expect(await endpoint.identify(bench.credential()) == expected)
        let response = try await endpoint.refresh(bench.credential())
        #expect(response.subject == expected)
        bench.provider.grant("/userinfo", #"{"sub":"2482"}"#)
        let idToken = jwt(#"{"iss":"\#(bench.base)","sub":"\#(name)"}"#)
        #expect(await endpoint.identify(bench.credential(idToken: idToken))?.id == (isTaken ? name : "2482"))
      }
    }
  }

  @Test("a provider that does not tell whose a grant is leaves it unknown")
  func unidentified() async throws {
    try await ProviderBench.run { bench in
      bench.provider.discover(at: bench.server)
      #expect(await bench.oidc().identify(bench.credential()) == nil)
    }
  }
}
