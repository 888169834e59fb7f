import Crypto
import FoundationEssentials
import HearthCore
import NIOHTTP1
import TestSupport
import Testing

@testable import HearthOAuth

@Suite("Signing in by browser", .serialized) struct BrowserSignInTests {
  @Test("the request has a challenge, a state and a nonce that no other one has (RFC 7636; OIDC Core, section 3.1.2.1)")
  func request() async throws {
    try await SignInBench.run(
      scopes: ["openid", "email"],
      configured: { configuration in
        configuration.authorizationParameters = ["prompt": "consent", "claims": #"{"a b":1}"#]
      }
    ) { bench in
      let signIn = try await bench.begin()
      let fields = signIn.fields
      #expect(signIn.authorizationURL.hasPrefix(bench.base + "/authorize?client_id=hearth+app&response_type=code&"))
      #expect(signIn.redirectURI == SignInBench.redirectURI && fields["redirect_uri"] == SignInBench.redirectURI)
      #expect(fields["scope"] == "openid email" && fields["prompt"] == "consent" && fields["claims"] == #"{"a b":1}"#)
      #expect(fields["state"] == signIn.state.reveal() && fields["nonce"] == signIn.nonce?.reveal())
      #expect(fields["code_challenge_method"] == "S256")
      let digest = Data(SHA256.hash(data: Array(signIn.codeVerifier.reveal().utf8)))
      #expect(fields["code_challenge"] == Base64URL.encode(Array(digest)))
      #expect(!signIn.authorizationURL.contains(signIn.codeVerifier.reveal()))
      let other = try await bench.begin()
      let secrets = [signIn.state, signIn.codeVerifier, try #require(signIn.nonce)]
      let others = [other.state, other.codeVerifier, try #require(other.nonce)]
      #expect(Set(secrets + others).count == 6)
      #expect((secrets + others).allSatisfy { $0.reveal().count == 43 })
      #expect(bench.requests.isEmpty)
    }
  }

  @Test("an account that names no scopes asks for what keeps its session, where the provider offers that")
  func offline() async throws {
    for (configured, preset, offered, scope, prompt) in [
      ([], [], #"["openid","offline_access"]"#, "openid offline_access", "consent"),
      ([], [], #"["openid","email"]"#, "openid", nil), (["openid"], [], #"["offline_access"]"#, "openid", nil),
      ([], ["refresh_token"], #"["offline_access"]"#, "openid refresh_token", nil),
    ] as [([String], [String], String, String, String?)] {
      try await SignInBench.run(
        scopes: configured, offers: #","scopes_supported":\#(offered)"#,
        configured: { $0.signIn.offlineScopes = preset }
      ) { bench in
        let signIn = try await bench.begin()
        #expect(signIn.fields["scope"] == scope && signIn.fields["prompt"] == prompt)
        let fallback = signIn.fallbackURL.map(BrowserSignIn.fields(of:))
        #expect((fallback != nil) == (scope != "openid"), "without what may be refused")
        if let fallback {
          var expected = signIn.fields
          (expected["scope"], expected["prompt"]) = ("openid", nil)
          #expect(fallback == expected, "the same state, nonce and challenge stay")
        }
      }
    }
  }

  @Test("the scopes are the account's, and those without which there is no refresh token; openid where there are none")
  func scopes() async throws {
    let named: (LoopbackServer) -> ProviderEndpoints = {
      ProviderEndpoints(token: $0.url("/token"), authorization: $0.url("/authorize"))
    }
    for (scopes, offline, isNamed, sent) in [
      (["openid"], ["offline_access"], false, "openid offline_access"),
      (["openid", "offline_access"], ["offline_access"], false, "openid offline_access"), ([], [], false, "openid"),
      ([], [], true, nil), (["api"], [], false, "api"),
    ] as [([String], [String], Bool, String?)] {
      try await SignInBench.run(
        scopes: scopes, named: isNamed ? named : nil,
        configured: {
          $0.signIn.offlineScopes = offline
        }
      ) { bench in
        let signIn = try await bench.begin()
        #expect(signIn.fields["scope"] == sent)
        #expect((signIn.nonce == nil) == (sent?.contains("openid") != true))
      }
    }
  }

  @Test("an authorization endpoint keeps its own query (RFC 6749, section 3.1)")
  func query() async throws {
    for (own, begin) in [
      ("?p=a", "?p=a&client_id="), ("?", "?client_id="), ("?p=a&", "?p=a&client_id="), ("", "?client_id="),
    ] {
      try await SignInBench.run(named: {
        ProviderEndpoints(token: $0.url("/token"), authorization: $0.url("/authorize" + own))
      }) { bench in
        let signIn = try await bench.begin()
        #expect(signIn.authorizationURL.hasPrefix(bench.base + "/authorize" + begin))
      }
    }
  }

  @Test("the issuer that the answer names is known from discovery alone (RFC 9207, section 2.4)")
  func issuer() async throws {
    try await SignInBench.run { bench in
      let signIn = try await bench.begin()
      #expect(signIn.issuer == .ifPresent(bench.base))
    }
    try await SignInBench.run(offers: #","authorization_response_iss_parameter_supported":true"#) { bench in
      let signIn = try await bench.begin()
      #expect(signIn.issuer == .required(bench.base))
    }
    try await SignInBench.run(named: {
      ProviderEndpoints(token: $0.url("/token"), authorization: $0.url("/authorize"))
    }) { bench in
      let signIn = try await bench.begin()
      #expect(signIn.issuer == BrowserSignIn.IssuerCheck.none)
    }
  }

  @Test("a provider without the flow is told by what is missing, and where")
  func notSupported() async throws {
    let advice = "Set it with \"hearthctl account set ACCOUNT authorization_endpoint URL\"."
    try await SignInBench.run(named: { ProviderEndpoints(token: $0.url("/token")) }) { bench in
      let failure = SignInFailure.notSupported(
        message: "The browser sign-in needs the account's \"authorization_endpoint\". \(advice)")
      #expect(
        await bench.failure { try await bench.endpoint.beginBrowser(redirectURI: "http://127.0.0.1:1/") } == failure)
      #expect(!bench.endpoint.takesPassword)
      let refusal = await bench.failure { try await bench.endpoint.signIn(username: "u", password: Secret("p")) }
      #expect(
        refusal
          == .notSupported(
            message:
              "Hearth cannot sign in to an OAuth provider with a password. Sign in with a browser or a device code."))
      #expect(bench.requests.isEmpty)
    }
    try await SignInBench.run { bench in
      bench.provider.discover(at: bench.bench.server)
      let failure = await bench.failure { try await bench.endpoint.beginBrowser(redirectURI: "http://127.0.0.1:1/") }
      #expect(
        failure
          == .notSupported(
            message: "The discovery document of \(bench.base) contains no \"authorization_endpoint\", so this provider "
              + "does not support the browser sign-in."))
    }
    try await SignInBench.run(configured: {
      $0.signIn.redirect = ProviderPreset.named("apple")?.redirect
    }) { bench in
      let failure = await bench.failure { try await bench.endpoint.beginBrowser(redirectURI: "http://127.0.0.1:1/") }
      let told = "This provider cannot redirect a browser to this machine. Import a refresh token instead."
      #expect(failure == .notSupported(message: told))
    }
  }

  @Test("discovery that cannot be had now is tried again later, and is asked once for signing in and refreshing")
  func discovery() async throws {
    try await SignInBench.run { bench in
      bench.provider.answer("/.well-known/openid-configuration", with: .answer(503))
      #expect(await bench.failure { try await bench.endpoint.beginBrowser(redirectURI: "r") }?.isUnavailable == true)
    }
    try await ProviderBench.run { bench in
      bench.provider.discover(at: bench.server, more: #","authorization_endpoint":"\#(bench.base)/authorize""#)
      bench.provider.grant("/token")
      let kind = ProviderConfiguration.Kind.oauth(.discovered(try Issuer(bench.base)), OAuthClient(id: "h"))
      let endpoints = ProviderConfiguration(kind: kind)
        .endpoints(sender: bench.sender, files: bench.files, timeout: .seconds(30))
      _ = try await endpoints.signIn.beginBrowser(redirectURI: "http://127.0.0.1:1/")
      _ = try await endpoints.tokens.refresh(bench.credential())
      #expect(bench.server.requests.count { $0.target.hasPrefix("/.well-known") } == 1)
    }
  }
}
