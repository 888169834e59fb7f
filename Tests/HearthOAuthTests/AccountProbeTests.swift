import FoundationEssentials
import HearthCore
import HearthHashing
import NIOHTTP1
import Synchronization
import TestSupport
import Testing

@testable import HearthOAuth

@Suite("The steps on the way to an account's provider and APIs") struct AccountProbeTests {
  private static let answer = LoopbackServer.Reply.answer(200, headers: [], body: "{}")

  /// The checks of an account whose token endpoint and API are at `url`, over the bench's route.
  private func checks(
    _ bench: TransportBench, at url: HTTPURL, route: HTTPRoute = HTTPRoute(), token: String? = "opaque"
  ) async -> [Diagnosis] {
    var provider = ProviderConfiguration(
      kind: .oauth(.named(ProviderEndpoints(token: url)), OAuthClient(id: "hearth", authentication: .none)))
    provider.route = route
    let bearer = token.map {
      Bearer(of: Sample.work, token: Token(hashing: Secret($0)), subject: nil, secrets: [])
    }
    return await HTTPAccountProbe(provider, sender: bench.sender, files: bench.files).checks(bearer, at: [url.origin])
  }

  private func verdicts(_ checks: [Diagnosis]) -> [String] {
    checks.map { "\($0.check.rawValue) \($0.verdict.rawValue)" }
  }

  @Test("each step is told where all is well, and the API is shown the token")
  func well() async throws {
    let shown = Mutex<[String?]>([])
    try await TransportBench.run({ request in
      shown.withLock { $0.append(request.headers.first(name: "Authorization")) }
      return Self.answer
    }) { bench in
      let checks = await checks(bench, at: bench.url())
      #expect(
        verdicts(checks) == [
          "provider.name ok", "provider.connection ok", "provider.answer ok", "clock warning", "token ok",
          "api.name ok",
          "api.connection ok", "api.answer ok",
        ])
      #expect(shown.withLock(\.self) == [nil, "Bearer opaque"], "the provider is not shown it")
      #expect(!checks.contains { $0.message.contains("Bearer") })
    }
  }

  @Test("an API that refuses the token is a problem; without a token nothing is refused")
  func refused() async throws {
    try await TransportBench.run({ _ in .answer(401, headers: [], body: "") }) { bench in
      #expect(verdicts(await checks(bench, at: bench.url())).last == "api.answer problem")
      #expect(verdicts(await checks(bench, at: bench.url(), token: nil)).last == "api.answer ok")
    }
  }

  @Test("an API that knows the token and wants more than it is no problem of the token's, and what it wants is told")
  func challenged() async throws {
    let wanting = ("WWW-Authenticate", "Bearer error=\"insufficient_scope\", scope=\"notes.write\"")
    for status in [401, 403] {
      try await TransportBench.run({ _ in .answer(status, headers: [wanting], body: "") }) { bench in
        let check = await checks(bench, at: bench.url()).last
        #expect(check?.verdict == .warning && check?.message.contains("notes.write)") == true)
        #expect(verdicts(await checks(bench, at: bench.url(), token: nil)).last == "api.answer ok")
      }
    }
  }

  @Test("a name that nobody knows, and a port where nobody listens, end the steps there")
  func unreachable() async throws {
    try await TransportBench.run { bench in
      let unknown = await checks(bench, at: try HTTPURL("https://hearth.invalid/token"), token: nil)
      #expect(verdicts(unknown) == ["provider.name problem", "api.name problem"])
      #expect(unknown[0].message.hasPrefix("Cannot resolve hearth.invalid ("))
      let closed = await checks(bench, at: try HTTPURL("http://127.0.0.1:\(RefusingPort.number)/token"), token: nil)
      #expect(
        verdicts(closed) == [
          "provider.name ok", "provider.connection problem", "api.name ok", "api.connection problem",
        ])
      #expect(closed[1].message.contains("127.0.0.1:\(RefusingPort.number): Connection refused"))
    }
  }

  @Test("a discovery document of another issuer is told with what to configure, and one that has moved is well")
  func discovery() async throws {
    let provider = ScriptedProvider()
    try await TransportBench.run({ provider.reply(to: $0) }) { bench in
      let base = "http://127.0.0.1:\(bench.server.port)"
      let account = ProviderConfiguration(kind: .oauth(.discovered(try Issuer(base)), OAuthClient(id: "hearth")))
      func check() async -> Diagnosis? {
        let checks = await HTTPAccountProbe(account, sender: bench.sender, files: bench.files).checks(nil, at: [])
        return checks.first { $0.check == .discovery }
      }
      provider.discover(at: bench.server, issuer: "https://identity.oraclecloud.com/")
      let other = await check()
      #expect(other?.verdict == .problem)
      #expect(other?.message.contains("its discovery document names https://identity.oraclecloud.com/") == true)
      #expect(other?.message.contains("type = \"oauth2\"") == true)
      provider.answer("/.well-known/openid-configuration", with: .answer(308, headers: [("Location", "/conf")]))
      provider.grant("/conf", #"{"issuer":"\#(base)","token_endpoint":"\#(base)/token"}"#)
      #expect(await check()?.verdict == .ok)
    }
  }

  @Test("a certificate that is not trusted is told after a connection that was made")
  func untrusted() async throws {
    let authority = try TestAuthority.root()
    try await TransportBench.run(tls: try authority.identity().serverTLS()) { bench in
      let checks = await checks(bench, at: bench.url(), token: nil)
      #expect(verdicts(checks).prefix(3) == ["provider.name ok", "provider.connection ok", "provider.answer problem"])
      #expect(checks[2].message.lowercased().contains("certificate"))
      let trusting = await self.checks(bench, at: bench.url(), route: try bench.route(authority), token: nil)
      #expect(trusting[2].verdict == .ok)
    }
  }

  @Test(
    "the clock is checked against the provider's",
    arguments: [(0, "ok"), (4, "ok"), (6, "warning"), (-59, "warning"), (61, "problem"), (-3600, "problem")])
  func clock(seconds: Int, verdict: String) async throws {
    let clock = ManualClock()
    let date = (clock.now() + .seconds(seconds)).httpDate
    try await TransportBench.run(clock: clock, { _ in .answer(200, headers: [("Date", date)], body: "{}") }) { bench in
      let check = await checks(bench, at: bench.url(), token: nil).first { $0.check == .clock }
      #expect(check?.verdict.rawValue == verdict)
      if verdict != "ok" {
        #expect(check?.message.contains("\(abs(seconds)) s \(seconds > 0 ? "behind" : "ahead of")") == true)
      }
    }
  }

  private func jwt(_ claims: String) -> String {
    "e30."
      + Data(claims.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing(
        "=", with: "")
      + ".c2ln"
  }

  @Test("what a token says of itself is told, and that it has run out by this machine's clock; the token never is")
  func token() async throws {
    let clock = ManualClock()
    try await TransportBench.run(clock: clock, { _ in Self.answer }) { bench in
      func check(_ claims: String) async -> Diagnosis? {
        let token = jwt(claims)
        let checks = await checks(bench, at: bench.url(), token: token)
        #expect(!checks.contains { $0.message.contains(token) || $0.message.contains("e30.") })
        return checks.first { $0.check == .token }
      }
      let now = clock.now().milliseconds / 1000
      let good = await check(#"{"iss":"https://id.example.com","aud":["notes","hearth"],"exp":\#(now + 90)}"#)
      #expect(good?.message == "The token is from https://id.example.com, for notes, hearth, valid for 90 s.")
      let old = await check(#"{"exp":\#(now - 5)}"#)
      #expect(old?.verdict == .problem)
      #expect(old?.message.hasPrefix("The token is 5 s past its expiry") == true)
      #expect(await check("{}")?.message == "The token is a JWT without an issuer, audience or expiry.")
    }
  }
}
