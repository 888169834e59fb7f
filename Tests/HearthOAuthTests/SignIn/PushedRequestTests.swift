import HearthCore
import NIOHTTP1
import TestSupport
import Testing

@testable import HearthOAuth

@Suite("Pushed authorization requests (RFC 9126)", .serialized) struct PushedRequestTests {
  private func run(
    required: Bool = false, secret: String? = nil, _ reply: LoopbackServer.Reply?,
    _ body: (SignInBench) async throws -> Void
  ) async throws {
    try await SignInBench.run(
      secret: secret, offers: required ? #","require_pushed_authorization_requests":true"# : ""
    ) { bench in
      // Named here, for its address is known only now.
      let more = """
        ,"authorization_endpoint":"\(bench.base)/authorize?p=a","jwks_uri":"\(bench.base)/keys"
        \(reply == nil ? "" : #","pushed_authorization_request_endpoint":"\#(bench.base)/par""#)
        \(required ? #","require_pushed_authorization_requests":true"# : "")
        """
      bench.provider.discover(at: bench.bench.server, more: more)
      if let reply { bench.provider.answer("/par", with: reply) }
      try await body(bench)
    }
  }

  private static let pushed = LoopbackServer.Reply.answer(
    201, headers: [("Content-Type", "application/json")],
    body: #"{"request_uri":"urn:example:bwc4JK-ESC0w8acc191e-Y1LTC2","expires_in":90}"#)

  @Test("one that is offered is used: the browser takes a reference alone, and the fields go to the provider")
  func used() async throws {
    for secret in [nil, "s3cret-word"] {
      try await run(secret: secret, Self.pushed) { bench in
        let signIn = try await bench.begin()
        #expect(
          signIn.authorizationURL == bench.base
            + "/authorize?p=a&client_id=hearth+app&request_uri=urn%3Aexample%3Abwc4JK-ESC0w8acc191e-Y1LTC2")
        let request = try #require(bench.requests.first)
        #expect(request.method == "POST" && request.target == "/par")
        #expect(request.headers.contains(name: "Authorization") == (secret != nil))
        let form = request.form
        #expect(form["client_id"] == "hearth app" && form["response_type"] == "code" && form["scope"] == "openid")
        #expect(form["state"] == signIn.state.reveal() && form["nonce"] == signIn.nonce?.reveal())
        #expect(form["code_challenge_method"] == "S256" && form["redirect_uri"] == SignInBench.redirectURI)
      }
    }
  }

  @Test("one that is refused for a scope that nobody has configured is pushed again without it")
  func withoutScope() async throws {
    try await SignInBench.run(scopes: []) { bench in
      let more = """
        ,"authorization_endpoint":"\(bench.base)/authorize","pushed_authorization_request_endpoint":"\(bench.base)/par",
        "scopes_supported":["offline_access"],"require_pushed_authorization_requests":true
        """
      bench.provider.discover(at: bench.bench.server, more: more)
      bench.provider.answer("/par", with: .refused("invalid_scope", status: 400))
      let failure = await bench.failure { try await bench.begin() }
      #expect(bench.requests.map { $0.form["scope"] } == ["openid offline_access", "openid"])
      #expect(bench.requests.map { $0.form["prompt"] } == ["consent", nil])
      #expect(failure?.message.contains("invalid_scope") == true)
    }
  }

  @Test("one that this client may not make is left out, where the provider does not demand it")
  func leftOut() async throws {
    for (reply, secret) in [
      (.answer(404), "s3cret-word"), (.answer(405), nil), (.answer(501), nil),
      (.refused("unauthorized_client", status: 400), "s3cret-word"), (.refused("invalid_client"), nil),
      (.refused("invalid_request", status: 400), nil),
    ] as [(LoopbackServer.Reply, String?)] {
      try await run(secret: secret, reply) { bench in
        let signIn = try await bench.begin()
        #expect(signIn.fields["state"] == signIn.state.reveal() && signIn.fields["request_uri"] == nil)
      }
      try await run(required: true, secret: secret, reply) { bench in
        let failure = try #require(await bench.failure { try await bench.endpoint.beginBrowser(redirectURI: "r") })
        #expect(failure.message.hasPrefix(bench.base))
      }
    }
  }

  @Test("one that is refused for itself, or not answered, ends the sign-in: the browser would be refused too")
  func refused() async throws {
    for (reply, secret, expected) in [
      (
        .refused("invalid_scope", status: 400), nil,
        .failed(
          message: "rejected the authorization request: HTTP 400, invalid_scope. "
            + "Check the account's client ID, secret and scopes.")
      ),
      (
        .answer(400, body: #"{"error":"invalid_redirect_uri","error_description":"Not registered."}"#), nil,
        .failed(message: "rejected the authorization request: HTTP 400, invalid_redirect_uri, Not registered.")
      ),
      (
        .refused("invalid_client"), "s3cret-word",
        .failed(
          message: "rejected the authorization request: HTTP 401, invalid_client. "
            + "Check the account's client ID, secret and scopes.")
      ),
      (.answer(201, body: "{}"), nil, .failed(message: "returned HTTP 201 with no request_uri.")),
      (.answer(201, body: #"{"request_uri":5}"#), nil, .failed(message: "returned HTTP 201 with no request_uri.")),
      (
        .answer(503), nil,
        .unavailable(
          message: "cannot sign you in now: HTTP 503, an empty "
            + "response.", retryAfter: nil)
      ),
    ] as [(LoopbackServer.Reply, String?, SignInFailure)] {
      try await run(secret: secret, reply) { bench in
        let failure = await bench.failure { try await bench.endpoint.beginBrowser(redirectURI: "r") }
        #expect(failure == expected.said(by: bench.base))
      }
    }
  }

  @Test("a provider that demands it and names no place for it is told so")
  func nowhere() async throws {
    try await run(required: true, nil) { bench in
      let failure = await bench.failure { try await bench.endpoint.beginBrowser(redirectURI: "r") }
      #expect(failure?.message.contains("contains no \"pushed_authorization_request_endpoint\"") == true)
    }
  }

  @Test("what the provider repeats of it is in no message")
  func echoes() async throws {
    try await run(secret: "s3cret-word", Self.pushed) { bench in
      let reply = LoopbackServer.Reply.answer(400, body: #"{"error":"odd","error_description":"s3cret-word"}"#)
      bench.provider.answer("/par", with: reply)
      let failure = try #require(await bench.failure { try await bench.endpoint.beginBrowser(redirectURI: "r") })
      #expect(!failure.message.contains("s3cret-word"))
    }
  }
}
