import FoundationEssentials
import HearthCore
import HearthHashing
import NIOHTTP1
import TestSupport
import Testing

@testable import HearthOAuth

@Suite("Asking token endpoints")
struct TokenEndpointTests {
  @Test("a public client names itself in the body")
  func publicClient() async throws {
    try await ProviderBench.run { bench in
      bench.provider.discover(at: bench.server)
      bench.provider.grant("/token", #"{"access_token":"a","refresh_token":"r","expires_in":"60"}"#)
      let endpoint = bench.oidc(scopes: ["openid", "offline_access"])
      let response = try await endpoint.refresh(bench.credential(refreshToken: "old/refresh+1"))
      #expect(response.refreshToken?.secret == Secret("r"))
      #expect(response.origin == bench.server.url().origin)
      let request = try #require(bench.requests.first)
      #expect(request.method == "POST")
      #expect(request.headers["Content-Type"] == ["application/x-www-form-urlencoded"])
      #expect(!request.headers.contains(name: "Authorization"))
      #expect(
        request.body
          == "grant_type=refresh_token&refresh_token=old%2Frefresh%2B1&client_id=hearth+app")
      #expect(request.headers["Accept-Encoding"] == ["identity"])
    }
  }

  @Test("a client with a secret uses HTTP Basic, both parts form-encoded (RFC 6749, section 2.3.1)")
  func basic() async throws {
    try await ProviderBench.run { bench in
      bench.provider.discover(at: bench.server)
      bench.provider.grant("/token")
      _ = try await bench.oidc(secret: "p:ss wörd").refresh(bench.credential())
      let request = try #require(bench.requests.first)
      let expected = Data("hearth+app:p%3Ass+w%C3%B6rd".utf8).base64EncodedString()
      #expect(request.headers["Authorization"] == ["Basic " + expected])
      #expect(request.body == "grant_type=refresh_token&refresh_token=old-refresh")
    }
  }

  @Test("a provider that takes the secret in the body only gets it there")
  func secretInBody() async throws {
    try await ProviderBench.run { bench in
      bench.provider.discover(
        at: bench.server, more: #","token_endpoint_auth_methods_supported":["client_secret_post"]"#)
      bench.provider.grant("/token")
      _ = try await bench.oidc(secret: "s3cret-word").refresh(bench.credential())
      let request = try #require(bench.requests.first)
      #expect(!request.headers.contains(name: "Authorization"))
      #expect(request.body.hasSuffix("&client_id=hearth+app&client_secret=s3cret-word"))
    }
  }

  @Test("a client secret is read from its file each time, and one that cannot be read is the configuration's")
  func secretFile() async throws {
    let path = "/etc/secret"
    try await ProviderBench.run { bench in
      let files = bench.files
      bench.provider.discover(at: bench.server)
      bench.provider.grant("/token")
      let client = OAuthClient(id: "h", authentication: .automatic(ClientFile(name: "client secret", path: path)))
      let endpoint = bench.endpoint(.oauth(.discovered(try Issuer(bench.base)), client))
      let missing = await bench.outcome(of: endpoint)
      #expect(missing.outcome == .misconfigured)
      #expect(missing.message.contains(path))
      #expect(bench.requests.isEmpty)
      files.fail(.read, at: path, with: .unanswered(.seconds(10)))
      let hanging = await bench.outcome(of: endpoint)
      #expect(hanging.outcome == .unavailable && hanging.message.contains("\(path): no response within 10 s"))
      #expect(bench.requests.isEmpty)
      files.fail(.read, at: path, with: nil)
      files.put("first\n", at: path)
      _ = try await endpoint.refresh(bench.credential())
      files.put("second\n", at: path)
      _ = try await endpoint.refresh(bench.credential())
      let sent = bench.requests.compactMap { $0.headers["Authorization"].first }
      #expect(sent == ["h:first", "h:second"].map { "Basic " + Data($0.utf8).base64EncodedString() })
    }
  }

  @Test("a grant of another origin is not sent, and a person is asked to fix it")
  func originBinding() async throws {
    try await ProviderBench.run { bench in
      bench.provider.discover(at: bench.server)
      bench.provider.grant("/token")
      bench.provider.grant("/refresh")
      bench.provider.answer("/revoke", with: .answer(200))
      bench.provider.grant("/userinfo", #"{"sub":"2482"}"#)
      let foreign = bench.credential(origin: origin("https://other.example.com/"))
      let firebase = FirebaseProject(apiKey: Secret("key-0123"), tokenEndpoint: bench.server.url("/token"))
      let endpoints = [
        bench.oidc(),
        bench.endpoint(.oauth(.named(ProviderEndpoints(token: bench.server.url("/token"))), OAuthClient(id: "h"))),
        bench.endpoint(.json(JSONBackend(refreshURL: bench.server.url("/refresh")))),
        bench.endpoint(.firebase(firebase)),
        bench.endpoint(
          .clientCredentials(.named(ProviderEndpoints(token: bench.server.url("/token"))), OAuthClient(id: "h"))),
      ]
      for endpoint in endpoints {
        let (outcome, message) = await bench.outcome(of: endpoint, foreign)
        #expect(outcome == .misconfigured)
        #expect(message.contains("https://other.example.com") && message.contains("Sign in again"))
        #expect(await endpoint.revoke(foreign) != .revoked)
        _ = await endpoint.identify(foreign)
      }
      #expect(bench.requests.isEmpty)
      for endpoint in endpoints {
        let own = bench.credential(origin: bench.server.url().origin)
        #expect(await bench.outcome(of: endpoint, own).outcome == .granted)
      }
    }
  }

  @Test("a grant without an origin is not sent where its issuer is another one's, and discovery is not asked")
  func issuerBinding() async throws {
    try await ProviderBench.run { bench in
      bench.provider.discover(at: bench.server)
      bench.provider.grant("/token")
      bench.provider.grant("/refresh")
      bench.provider.answer("/revoke", with: .answer(200))
      bench.provider.grant("/userinfo", #"{"sub":"2482"}"#)
      let endpoints = [
        bench.oidc(),
        bench.endpoint(.oauth(.named(ProviderEndpoints(token: bench.server.url("/token"))), OAuthClient(id: "h"))),
        bench.endpoint(.json(JSONBackend(refreshURL: bench.server.url("/refresh")))),
      ]
      let foreign = bench.credential(subject: Subject(issuer: "https://other.example.com", id: "1"))
      for endpoint in endpoints {
        let (outcome, message) = await bench.outcome(of: endpoint, foreign)
        #expect(outcome == .misconfigured)
        #expect(message.contains("https://other.example.com") && message.contains(bench.base))
      }
      #expect(bench.server.requests.isEmpty)
      for endpoint in endpoints {
        #expect(await endpoint.revoke(foreign) != .revoked)
        _ = await endpoint.identify(foreign)
      }
      #expect(bench.requests.isEmpty)
      for endpoint in endpoints {
        let own = bench.credential(subject: Subject(issuer: bench.base, id: "1"))
        #expect(await bench.outcome(of: endpoint, own).outcome == .granted)
      }
    }
  }

  @Test("an endpoint tells its origin, and one that is discovered only while that can be done")
  func tellsOrigin() async throws {
    try await ProviderBench.run { bench in
      let own = bench.server.url().origin
      let firebase = FirebaseProject(apiKey: Secret("key"), tokenEndpoint: bench.server.url("/token"))
      let google = bench.endpoint(.firebase(FirebaseProject(apiKey: Secret("key"))))
      for endpoint in [
        bench.endpoint(.oauth(.named(ProviderEndpoints(token: bench.server.url("/token"))), OAuthClient(id: "h"))),
        bench.endpoint(.json(JSONBackend(refreshURL: bench.server.url("/refresh")))),
        bench.endpoint(.firebase(firebase)),
      ] {
        #expect(await endpoint.origin() == own)
      }
      #expect(await google.origin()?.description == "https://securetoken.googleapis.com")
      let discovered = bench.oidc()
      #expect(await discovered.origin() == nil)
      bench.provider.discover(at: bench.server)
      #expect(await discovered.origin() == own)
    }
  }

  @Test("a token that came without a lifetime runs out when it says so itself, else by the configured one")
  func expiry() async throws {
    try await ProviderBench.run { bench in
      let (now, url) = (bench.credential().grant.issuedAt, bench.server.url("/token"))
      let dated = Token(hashing: Secret(jwt(#"{"exp":1795258800}"#)))
      let opaque = Token(hashing: Secret("opaque"))
      let named = ProviderEndpoints(token: url)
      let kinds: [ProviderConfiguration.Kind] = [
        .oauth(.named(named), OAuthClient(id: "h")), .json(JSONBackend(refreshURL: url)),
        .firebase(FirebaseProject(apiKey: Secret("key"))), .clientCredentials(.named(named), OAuthClient(id: "h")),
      ]
      for kind in kinds {
        for lifetime in [nil, Duration.seconds(900)] {
          let endpoint = bench.endpoint(kind, defaultLifetime: lifetime)
          #expect(endpoint.expiry(of: dated, at: now) == Timestamp(milliseconds: 1_795_258_800_000))
          #expect(endpoint.expiry(of: opaque, at: now) == lifetime.map { now + $0 })
        }
      }
    }
  }

  @Test("a redirect takes a refresh token nowhere", arguments: [301, 302, 303, 307, 308])
  func redirect(status: Int) async throws {
    try await LoopbackServer.with({ _ in .answer(200, body: #"{"access_token":"stolen"}"#) }) { thief in
      let location = thief.url("/token").description
      try await ProviderBench.run { bench in
        bench.provider.discover(at: bench.server)
        bench.provider.answer("/token", with: .answer(status, headers: [("Location", location)]))
        let (outcome, message) = await bench.outcome(of: bench.oidc())
        #expect(outcome == .unavailable)
        #expect(message.contains("redirect"))
      }
      #expect(thief.requests.isEmpty)
    }
  }

  @Test("a reply that is lost after the request was sent is told from one that was never asked for")
  func lostReply() async throws {
    try await ProviderBench.run { bench in
      bench.provider.discover(at: bench.server)
      let cut = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"
      let statusless = "HTTP/1.1 099 X\r\nContent-Length: 0\r\n\r\n"
      for reply in [LoopbackServer.Reply.close, .reset, .raw(cut), .raw(statusless)] {
        bench.provider.answer("/token", with: reply)
        #expect(await bench.outcome(of: bench.oidc()).outcome == .unanswered)
      }
      let nowhere = try HTTPURL("http://127.0.0.1:\(LoopbackServer.refusingPort)/token")
      let endpoint = bench.endpoint(.oauth(.named(ProviderEndpoints(token: nowhere)), OAuthClient(id: "h")))
      #expect(await bench.outcome(of: endpoint).outcome == .unavailable)
    }
  }

  @Test("what a server echoes of client secret, Basic header and tokens is in no message")
  func echoes() async throws {
    let basic = Data("hearth+app:s3cret-word%21".utf8).base64EncodedString()
    for echo in ["s3cret-word!", "s3cret-word%21", basic, "old-refresh", "old-access"] {
      try await ProviderBench.run { bench in
        bench.provider.discover(at: bench.server)
        bench.provider.answer(
          "/token", with: .answer(400, body: #"{"error":"invalid_grant","error_description":"\#(echo)"}"#))
        let (outcome, message) = await bench.outcome(of: bench.oidc(secret: "s3cret-word!"))
        #expect(outcome == .rejected)
        #expect(!message.contains(echo) && message.contains(Redactor.replacement))
      }
    }
  }

  @Test("without a refresh token nothing is sent")
  func noRefreshToken() async throws {
    try await ProviderBench.run { bench in
      bench.provider.discover(at: bench.server)
      let (outcome, _) = await bench.outcome(of: bench.oidc(), bench.credential(refreshToken: nil))
      #expect(outcome == .misconfigured)
      #expect(bench.requests.isEmpty)
    }
  }

  @Test(
    "a refresh names the scopes that were granted, or none, never those that are configured (RFC 6749, section 6)",
    arguments: [
      ("a b", "scope=a+b&"), ("a", "scope=a&"), (nil, nil), ("", nil), ("a,b", nil), ("a  b ", "scope=a+b&"),
    ] as [(String?, String?)])
  func scopes(granted: String?, field: String?) async throws {
    try await ProviderBench.run { bench in
      bench.provider.grant("/token")
      let client = OAuthClient(id: "h", scopes: ["a", "b", "admin", "offline_access"])
      var provider = ProviderConfiguration(
        kind: .oauth(.named(ProviderEndpoints(token: bench.server.url("/token"))), client))
      var credential = bench.credential()
      credential.grant.scope = granted
      func refresh() async throws -> String {
        _ = try await provider.endpoints(sender: bench.sender, files: bench.files, timeout: .seconds(30)).tokens
          .refresh(credential)
        return try #require(bench.requests.last?.body)
      }
      let body = try await refresh()
      #expect(field.map { body.contains("&" + $0) } ?? !body.contains("scope"), "\(body)")
      provider.sendsScopeOnRefresh = false
      let without = try await refresh()
      #expect(!without.contains("scope"), "where a provider refuses that")
    }
  }

  @Test("Microsoft's refresh asks for offline_access again, without which it gives no new refresh token")
  func microsoftScopes() async throws {
    try await ProviderBench.run { bench in
      bench.provider.grant("/token")
      func refresh(_ granted: String?) async throws -> String {
        var provider = ProviderConfiguration(
          kind: .oauth(
            .named(ProviderEndpoints(token: bench.server.url("/token"))),
            OAuthClient(id: "h", scopes: ["openid", "api"])))
        provider.apply(try #require(ProviderPreset.named("microsoft")))
        var credential = bench.credential()
        credential.grant.scope = granted
        _ = try await provider.endpoints(sender: bench.sender, files: bench.files, timeout: .seconds(30)).tokens
          .refresh(credential)
        return try #require(bench.requests.last?.body)
      }
      let (own, imported) = (try await refresh("openid User.Read"), try await refresh(nil))
      #expect(own.contains("&scope=openid+User.Read+offline_access&"))
      #expect(imported.contains("&scope=openid+api+offline_access&"))
    }
  }

  // MARK: - Revocation

  @Test("revocation takes the refresh token first, then the access token (RFC 7009)")
  func revoke() async throws {
    try await ProviderBench.run { bench in
      bench.provider.discover(at: bench.server)
      bench.provider.answer("/revoke", with: .answer(200))
      #expect(await bench.oidc().revoke(bench.credential()) == .revoked)
      #expect(
        bench.requests.map(\.body) == [
          "token=old-refresh&token_type_hint=refresh_token&client_id=hearth+app",
          "token=old-access&token_type_hint=access_token&client_id=hearth+app",
        ])
    }
  }

  @Test("a refusal is one for good only where the provider says so, and else it may be asked again")
  func notRevoked() async throws {
    let page = LoopbackServer.Reply.answer(403, headers: [("Content-Type", "text/html")], body: "<html>")
    try await ProviderBench.run { bench in
      bench.provider.discover(at: bench.server)
      let cases: [(LoopbackServer.Reply, RevocationOutcome)] = [
        (.answer(503, headers: [("Retry-After", "7")]), .unavailable(retryAfter: .seconds(7))),
        (.close, .unavailable(retryAfter: nil)), (.answer(429), .unavailable(retryAfter: nil)),
        (.answer(302, headers: [("Location", "/")]), .unavailable(retryAfter: nil)),
        (page, .unavailable(retryAfter: nil)),
        (.refused("invalid_client"), .refused(message: "\(bench.base) rejected the revocation request: HTTP 401.")),
        (
          .refused("unsupported_token_type", status: 400),
          .refused(message: "\(bench.base) rejected the revocation request: HTTP 400.")
        ),
      ]
      for (reply, outcome) in cases {
        bench.provider.answer("/revoke", with: reply)
        #expect(await bench.oidc().revoke(bench.credential()) == outcome)
      }
      let without = bench.endpoint(
        .oauth(.named(ProviderEndpoints(token: bench.server.url("/token"))), OAuthClient(id: "h")))
      #expect(
        await without.revoke(bench.credential())
          == .refused(message: "No revocation endpoint of the provider is known."))
    }
  }
}
