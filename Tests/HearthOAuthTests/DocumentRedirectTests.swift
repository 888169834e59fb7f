import HearthCore
import NIOHTTP1
import TestSupport
import Testing

@testable import HearthOAuth

/// RFC 9110, section 15.4.
@Suite("A discovery document that is redirected") struct DocumentRedirectTests {
  private static let path = "/.well-known/openid-configuration"

  private static func redirect(_ status: Int = 302, to location: String?) -> LoopbackServer.Reply {
    .answer(status, headers: location.map { [("Location", $0)] } ?? [])
  }

  /// The document of the issuer at the bench, at another path.
  private func publish(_ bench: ProviderBench, at path: String) {
    bench.provider.grant(path, #"{"issuer":"\#(bench.base)","token_endpoint":"\#(bench.base)/token"}"#)
    bench.provider.grant("/token")
  }

  @Test("is found at the same server, and asked for without anything else", arguments: [301, 302, 303, 307, 308])
  func followed(status: Int) async throws {
    for location in ["/id/conf", "../id/conf", "  /id/conf\t", "/id/conf#top", "/id/conf?v=1", "{base}/id/conf"] {
      try await ProviderBench.run { bench in
        let (first, rest) = (location.split(separator: "{base}").first ?? "", location.hasPrefix("{base}"))
        bench.provider.answer(Self.path, with: Self.redirect(status, to: (rest ? bench.base : "") + first))
        publish(bench, at: "/id/conf")
        #expect(await bench.outcome(of: bench.oidc(secret: "s3cret-word")).outcome == .granted, "\(location)")
        let asked = bench.server.requests.prefix(2)
        #expect(asked.map { String($0.target.prefix { $0 != "?" }) } == [Self.path, "/id/conf"])
        #expect(asked.allSatisfy { $0.method == "GET" && $0.body.isEmpty && $0.headers["Authorization"].isEmpty })
      }
    }
  }

  @Test("to where RFC 8414 has it, or from server to server, is found as well")
  func chain() async throws {
    try await ProviderBench.run { bench in
      let path = "/.well-known/oauth-authorization-server/tenant"
      try await LoopbackServer.with({ _ in Self.redirect(307, to: bench.base + path) }) { other in
        bench.provider.answer(Self.path, with: Self.redirect(to: other.url("/a").description))
        publish(bench, at: path)
        #expect(await bench.outcome(of: bench.oidc()).outcome == .granted)
        #expect(other.requests.map(\.target) == ["/a"])
      }
    }
  }

  @Test("to another server has to name the configured issuer there, too")
  func otherServer() async throws {
    for isOwn in [true, false] {
      let other = ScriptedProvider()
      try await LoopbackServer.with({ other.reply(to: $0) }) { elsewhere in
        try await ProviderBench.run { bench in
          let stranger = "http://127.0.0.1:\(elsewhere.port)"
          let issuer = isOwn ? bench.base : stranger
          other.grant("/conf", #"{"issuer":"\#(issuer)","token_endpoint":"\#(bench.base)/token"}"#)
          bench.provider.answer(Self.path, with: Self.redirect(to: stranger + "/conf"))
          bench.provider.grant("/token")
          let (outcome, message) = await bench.outcome(of: bench.oidc(secret: "s3cret-word"))
          #expect(outcome == (isOwn ? .granted : .misconfigured))
          if !isOwn { #expect(message.contains(bench.base) && message.contains("names \(stranger)")) }
          #expect(elsewhere.requests.count == 1 && elsewhere.requests[0].headers["Authorization"].isEmpty)
          #expect(bench.requests.map(\.target) == (isOwn ? ["/token"] : []))
        }
      }
    }
  }

  @Test("that has gone from there is told with the way that led there")
  func gone() async throws {
    try await ProviderBench.run { bench in
      bench.provider.answer(Self.path, with: Self.redirect(301, to: "/gone"))
      let (outcome, message) = await bench.outcome(of: bench.oidc())
      #expect(outcome == .unavailable)
      #expect(
        message.contains("\(bench.base)/gone (HTTP 301 from \(bench.base)\(Self.path) redirects there) was not found"))
    }
  }

  @Test("in a circle ends, and is found once there is none")
  func circle() async throws {
    for location in [Self.path, "/a"] {
      try await ProviderBench.run { bench in
        bench.provider.answer(Self.path, with: Self.redirect(to: location))
        bench.provider.answer("/a", with: Self.redirect(308, to: Self.path))
        let endpoint = bench.oidc()
        let (outcome, message) = await bench.outcome(of: endpoint)
        #expect(outcome == .unavailable && message.contains("\(bench.base)\(Self.path) redirects too many times"))
        #expect(bench.server.requests.count == 6)
        publish(bench, at: Self.path)
        #expect(await bench.outcome(of: endpoint).outcome == .granted)
      }
    }
  }

  @Test(
    "to nowhere, or to where nobody may be asked, is told with its address, and nobody is asked",
    arguments: [
      (nil, "from {place}, which Hearth does not follow: its Location header is missing"),
      (" ", "from {place}, which Hearth does not follow: its Location header is missing"),
      ("http://id.example.com/conf", "conf, which Hearth does not follow: http is allowed"),
      ("ftp://id.example.com/", "redirects to ftp://id.example.com/, which Hearth does not follow: its scheme"),
      ("https://a:s3cret@id.example.com/?key=s3cret", "redirects to https://…@id.example.com/?…, which"),
      ("/a%", "redirects to /a%, which Hearth does not follow"),
    ] as [(String?, String)])
  func refused(location: String?, told: String) async throws {
    try await ProviderBench.run { bench in
      let place = bench.base + Self.path
      bench.provider.answer(Self.path, with: Self.redirect(to: location))
      let (outcome, message) = await bench.outcome(of: bench.oidc())
      #expect(outcome == .unavailable)
      #expect(message.contains("Discovery failed: HTTP 302 from \(place)"), "\(message)")
      #expect(message.contains(told.replacing("{place}", with: place)), "\(message)")
      #expect(!message.contains("s3cret") && bench.server.requests.count == 1)
    }
  }

  @Test("is no document if it is some other answer with an address", arguments: [300, 304, 305, 201, 404, 503])
  func noRedirect(status: Int) async throws {
    try await ProviderBench.run { bench in
      bench.provider.answer(Self.path, with: Self.redirect(status, to: "/id/conf"))
      publish(bench, at: "/id/conf")
      #expect(await bench.outcome(of: bench.oidc()).outcome == .unavailable)
      #expect(bench.server.requests.count == 1)
    }
  }

  @Test("from https is followed within https, and never to this machine's servers without TLS")
  func downgrade() async throws {
    let authority = try TestAuthority.root()
    try await LoopbackServer.with({ _ in .granted }) { plain in
      for isSecure in [true, false] {
        let provider = ScriptedProvider()
        try await TransportBench.run(tls: try authority.identity().serverTLS(), { provider.reply(to: $0) }) { bench in
          let base = "https://127.0.0.1:\(bench.server.port)"
          let location = isSecure ? "/conf" : plain.url("/conf").description
          provider.answer(Self.path, with: Self.redirect(to: location))
          provider.grant("/conf", #"{"issuer":"\#(base)","token_endpoint":"\#(base)/token"}"#)
          provider.grant("/token")
          let endpoint = bench.endpoint(
            .oauth(.discovered(try Issuer(base)), OAuthClient(id: "hearth")), try bench.route(authority))
          let failure = await bench.failure(of: endpoint)
          #expect((failure == nil) == isSecure, "\(String(describing: failure))")
          if !isSecure { #expect(failure?.message.contains("\(location), which Hearth does not follow") == true) }
        }
      }
      #expect(plain.requests.isEmpty)
    }
  }

  @Test("has one time limit and the usual length for all of it")
  func limits() async throws {
    let clock = ManualClock()
    try await TransportBench.run(
      clock: clock,
      { request in
        clock.advance(by: .seconds(20))
        return request.target == Self.path ? Self.redirect(to: "/conf") : .hang
      }
    ) { bench in
      let endpoint = bench.endpoint(
        .oauth(.discovered(try Issuer("http://127.0.0.1:\(bench.server.port)")), OAuthClient(id: "hearth")))
      let failure = await bench.failure(of: endpoint)
      #expect(failure?.message.contains("no response within 10.0 seconds (HTTP 302 from") == true)
    }
    try await ProviderBench.run { bench in
      bench.provider.answer(Self.path, with: Self.redirect(to: "/long"))
      bench.provider.grant("/long", String(repeating: " ", count: 1 << 20) + "{}")
      #expect(await bench.outcome(of: bench.oidc()).message.contains("more than 1 MiB from \(bench.base)/long"))
    }
  }

  @Test("to a sign-in page of the network says that it is one")
  func page() async throws {
    try await ProviderBench.run { bench in
      bench.provider.answer(Self.path, with: Self.redirect(to: "/login"))
      bench.provider.answer("/login", with: .answer(200, headers: [("Content-Type", "text/html")], body: "<html>"))
      let (outcome, message) = await bench.outcome(of: bench.oidc())
      #expect(
        outcome == .unavailable && message.contains("a web page (perhaps the network")
          && message.contains("sign-in page)"),
        "\(message)")
      #expect(message.contains("\(bench.base)/login"))
    }
  }
}
