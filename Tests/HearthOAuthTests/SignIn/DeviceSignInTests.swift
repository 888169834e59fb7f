import HearthCore
import NIOHTTP1
import TestSupport
import Testing

@testable import HearthOAuth

/// RFC 8628.
@Suite("Signing in on another device", .serialized) struct DeviceSignInTests {
  @Test("the provider gives a code for the person and one for the client (section 3.2)")
  func begin() async throws {
    try await SignInBench.run(scopes: ["openid", "email"], secret: "s3cret-word") { bench in
      let signIn = try await bench.beginDevice()
      #expect(signIn.deviceCode == Secret("GmRhmhcxhwAzkoEqiMEg_DnyEysNkuNhszIySk9eS"))
      #expect(signIn.userCode == "WDJB-MJHT" && signIn.verificationURI == "https://example.com/device")
      #expect(signIn.verificationURIComplete == "https://example.com/device?user_code=WDJB-MJHT")
      #expect(signIn.lifetime == .seconds(1800) && signIn.interval == .seconds(5))
      let request = try #require(bench.requests.first)
      #expect(request.form == ["client_id": "hearth app", "scope": "openid email"])
      #expect(request.headers.contains(name: "Authorization"))
    }
  }

  @Test("what keeps the session is asked for where it is offered, and left out where this client may not have it")
  func offline() async throws {
    try await SignInBench.run(scopes: [], offers: #","scopes_supported":["openid","offline_access"]"#) { bench in
      _ = try await bench.beginDevice()
      #expect(bench.requests.first?.form["scope"] == "openid offline_access")
      bench.provider.answer("/device", with: .refused("invalid_scope", status: 400))
      let failure = await bench.failure { try await bench.endpoint.beginDevice() }
      #expect(bench.requests.map { $0.form["scope"] } == ["openid offline_access", "openid offline_access", "openid"])
      #expect(failure?.message.contains("invalid_scope") == true)
    }
  }

  /// What providers write otherwise, and what becomes of it.
  static let spellings: [(String, @Sendable (DeviceSignIn) -> Bool)] = [
    // https://developers.google.com/identity/protocols/oauth2/limited-input-device
    (
      #"{"device_code":"4/4-GMMhmHCXhWEzkobqIHGG_EnNYYsAkukHspeYUk9E8","user_code":"GQVQ-JKEC","verification_url":"https://www.google.com/device","expires_in":1800,"interval":5}"#,
      { $0.verificationURI == "https://www.google.com/device" && $0.verificationURIComplete == nil }
    ),
    // RFC 8628, section 3.2: five seconds where none are named.
    (
      #"{"device_code":"d","user_code":"u","verification_uri":"https://example.com/","expires_in":"60"}"#,
      { $0.interval == .seconds(5) && $0.lifetime == .seconds(60) }
    ),
    (
      #"{"device_code":"d","user_code":123456,"verification_uri":"https://example.com/a#b","expires_in":1e9,"interval":0.1}"#,
      {
        $0.userCode == "123456" && $0.verificationURI == "https://example.com/a#b" && $0.interval == .seconds(1)
          && $0.lifetime == DeviceSignIn.longestLifetime
      }
    ),
    (
      #"{"device_code":"d","user_code":"u","verification_uri":"https://example.com/","verification_uri_complete":"javascript:alert(1)","expires_in":60}"#,
      { $0.verificationURIComplete == nil }
    ),
  ]

  @Test("what providers write otherwise is understood", arguments: spellings.indices)
  func spelling(_ index: Int) async throws {
    try await SignInBench.run { bench in
      let signIn = try await bench.beginDevice(Self.spellings[index].0)
      #expect(Self.spellings[index].1(signIn))
    }
  }

  /// Without one field, or with a bad one.
  private static func answer(_ name: String, _ value: JSONValue?) -> String {
    var fields: [String: JSONValue] = [
      "device_code": "d", "user_code": "u", "verification_uri": "https://example.com/", "expires_in": 60,
    ]
    fields[name] = value
    return String(decoding: JSONValue.object(fields).serialized, as: UTF8.self)
  }

  static let badAnswers: [(LoopbackServer.Reply, SignInFailure)] =
    [
      ("device_code", nil, "no device_code"), ("device_code", 7, "no device_code"), ("user_code", nil, "no user_code"),
      ("user_code", "a\u{1b}[2J", "a user_code that cannot be shown"),
      ("user_code", .string(String(repeating: "a", count: 65)), "a user_code that cannot be shown"),
      ("verification_uri", nil, "no verification_uri that can be opened"),
      ("verification_uri", "file:///etc/passwd", "no verification_uri that can be opened"),
      ("verification_uri", "http://example.com/", "no verification_uri that can be opened"),
      ("verification_uri", "https://example.com/#a b", "no verification_uri that can be opened"),
      ("expires_in", nil, "no expires_in"), ("expires_in", "soon", "no expires_in"),
    ].map { name, value, told in
      (.answer(200, body: answer(name, value)), .failed(message: "returned HTTP 200 with \(told)."))
    } + [
      // GitHub answers errors with the status 200.
      (
        .answer(200, body: #"{"error":"device_flow_disabled","error_description":"Device Flow must be enabled."}"#),
        .failed(
          message:
            "rejected the device authorization request: HTTP 200, device_flow_disabled, Device Flow must be enabled.")
      ),
      (
        .refused("unauthorized_client", status: 400),
        .failed(
          message: "rejected the device authorization request: HTTP 400, unauthorized_client. "
            + "Check the account's client ID, secret and scopes.")
      ),
      (
        .answer(404),
        .failed(
          message:
            "has no device authorization endpoint at the expected address (HTTP 404, an empty response). Check the "
            + "configuration.")
      ),
      (
        .answer(403, body: #"{"error_code":"rate_limit_exceeded"}"#),
        .failed(message: "rejected the device authorization request: HTTP 403, rate_limit_exceeded.")
      ),
      (
        .answer(429, headers: [("Retry-After", "3")]),
        .unavailable(message: "cannot sign you in now: HTTP 429, an empty response.", retryAfter: .seconds(3))
      ),
    ]

  @Test("each bad answer to the request for a code has its sentence", arguments: badAnswers.indices)
  func badAnswer(_ index: Int) async throws {
    let (reply, expected) = Self.badAnswers[index]
    try await SignInBench.run { bench in
      bench.provider.answer("/device", with: reply)
      #expect(await bench.failure { try await bench.endpoint.beginDevice() } == expected.said(by: bench.base))
    }
  }

  @Test("a provider without the flow is told by what is missing, and where")
  func notSupported() async throws {
    try await SignInBench.run(named: { ProviderEndpoints(token: $0.url("/token")) }) { bench in
      let told =
        "The device sign-in needs the account's \"device_authorization_endpoint\". Set it with \"hearthctl account "
        + "set ACCOUNT device_authorization_endpoint URL\"."
      #expect(await bench.failure { try await bench.endpoint.beginDevice() } == .notSupported(message: told))
    }
    try await SignInBench.run { bench in
      bench.provider.discover(at: bench.bench.server)
      let told =
        "The discovery document of \(bench.base) contains no \"device_authorization_endpoint\", so this provider does not "
        + "support the device sign-in."
      #expect(await bench.failure { try await bench.endpoint.beginDevice() } == .notSupported(message: told))
    }
  }

  @Test("Twitch's field for scopes is named in both requests")
  func twitch() async throws {
    try await SignInBench.run(
      scopes: ["chat:read", "chat:edit"], configured: { $0.apply(try #require(ProviderPreset.named("twitch"))) }
    ) { bench in
      let signIn = try await bench.beginDevice()
      #expect(bench.requests.last?.form == ["client_id": "hearth app", "scopes": "chat:read chat:edit"])
      bench.grant(nil)
      _ = try await bench.endpoint.poll(signIn)
      #expect(bench.requests.last?.form["scopes"] == "chat:read chat:edit")
      #expect(bench.requests.allSatisfy { $0.form["scope"] == nil })
    }
  }

  @Test("Amazon is asked as an early draft had it")
  func amazon() async throws {
    try await SignInBench.run(
      scopes: ["profile"], configured: { $0.apply(try #require(ProviderPreset.named("amazon"))) }
    ) { bench in
      let signIn = try await bench.beginDevice()
      #expect(
        bench.requests.last?.form
          == ["client_id": "hearth app", "response_type": "device_code", "scope": "profile"])
      bench.grant(nil)
      _ = try await bench.endpoint.poll(signIn)
      #expect(
        bench.requests.last?.form == [
          "client_id": "hearth app", "grant_type": "device_code", "user_code": "WDJB-MJHT",
          "device_code": "GmRhmhcxhwAzkoEqiMEg_DnyEysNkuNhszIySk9eS",
        ])
    }
  }
}
