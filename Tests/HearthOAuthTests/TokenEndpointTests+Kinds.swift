import FoundationEssentials
import HearthCore
import HearthHashing
import NIOHTTP1
import TestSupport
import Testing

@testable import HearthOAuth

extension TokenEndpointTests {
  @Test("a json account sends its refresh token under its own name, nested where the name has dots")
  func json() async throws {
    try await ProviderBench.run { bench in
      bench.provider.grant("/auth/refresh", #"{"data":{"accessToken":"a","token":{"refresh":"r"}}}"#)
      var backend = JSONBackend(refreshURL: bench.server.url("/auth/refresh"))
      backend.refreshTokenField = "data.token.refresh"
      backend.accessTokenField = "data.accessToken"
      let response = try await bench.endpoint(.json(backend)).refresh(bench.credential(refreshToken: #"a"b"#))
      #expect(response.accessToken.secret == Secret("a"))
      #expect(response.refreshToken?.secret == Secret("r"))
      let request = try #require(bench.requests.first)
      #expect(request.headers["Content-Type"] == ["application/json"])
      #expect(request.body == #"{"data":{"token":{"refresh":"a\"b"}}}"#)
    }
  }

  @Test("Firebase is asked with the project's key, which no message tells")
  func firebase() async throws {
    try await ProviderBench.run { bench in
      bench.provider.grant("/v1/token", #"{"id_token":"\#(jwt(#"{"iss":"i","sub":"u"}"#))","expires_in":"3600"}"#)
      let project = FirebaseProject(apiKey: Secret("AIza+key/1"), tokenEndpoint: bench.server.url("/v1/token"))
      let endpoint = bench.endpoint(.firebase(project))
      let response = try await endpoint.refresh(bench.credential())
      #expect(response.subject == Subject(issuer: "i", id: "u"))
      #expect(response.lifetime == .seconds(3600))
      #expect(bench.requests.map(\.target) == ["/v1/token?key=AIza%2Bkey%2F1"])
      #expect(bench.requests.map(\.body) == ["grant_type=refresh_token&refresh_token=old-refresh"])
      bench.provider.answer("/v1/token", with: .answer(400, body: "key AIza+key/1 or AIza%2Bkey%2F1?"))
      #expect(await !bench.outcome(of: endpoint).message.contains("AIza"))
      bench.provider.answer("/v1/token", with: .close)
      #expect(await !bench.outcome(of: endpoint).message.contains("AIza"))
    }
  }

  @Test("client credentials are asked for anew, and their refusal is the configuration's")
  func clientCredentials() async throws {
    try await ProviderBench.run { bench in
      bench.provider.discover(at: bench.server)
      bench.provider.grant("/token")
      bench.files.put("s3cret-word", at: "/etc/secret")
      let secret = ClientFile(name: "client secret", path: "/etc/secret")
      let client = OAuthClient(id: "h", authentication: .automatic(secret), scopes: ["api"])
      let endpoint = bench.endpoint(.clientCredentials(.discovered(try Issuer(bench.base)), client))
      let response = try await endpoint.refresh(bench.credential(refreshToken: nil))
      #expect(response.accessToken.secret == Secret("new-access"))
      #expect(bench.requests.map(\.body) == ["grant_type=client_credentials&scope=api"])
      bench.provider.grant("/token", #"{"access_token":"new-access"}"#)
      #expect(try await endpoint.refresh(bench.credential(refreshToken: nil)).lifetime == .seconds(3600))
      for (body, outcome) in [
        (#"{"error":"invalid_client"}"#, Outcome.misconfigured), (#"{"error":"invalid_grant"}"#, .misconfigured),
        ("", .unclear),
      ] {
        bench.provider.answer("/token", with: .answer(400, body: body))
        #expect(await bench.outcome(of: endpoint).outcome == outcome)
      }
      #expect(await endpoint.identify(bench.credential()) == Subject(issuer: bench.base, id: "h"))
    }
  }

  @Test("the provider's clock is asked for without any secret, whatever it answers, and is no cache's")
  func time() async throws {
    try await ProviderBench.run { bench in
      bench.provider.discover(at: bench.server)
      let endpoint = bench.oidc()
      let date = ("Date", "Sat, 21 Nov 2026 10:00:07 GMT")
      for status in [200, 405, 503] {
        bench.provider.answer("/token", with: .answer(status, headers: [date]))
        let time = try await endpoint.time()
        #expect(time == Timestamp(seconds: 1_795_255_207))
      }
      #expect(
        bench.requests.allSatisfy { $0.method == "HEAD" && $0.body.isEmpty && $0.headers["Authorization"].isEmpty })
      bench.provider.answer("/token", with: .answer(200, headers: [date, ("Age", "60")]))
      await #expect(throws: RefreshFailure.self) { try await endpoint.time() }
    }
  }
}
