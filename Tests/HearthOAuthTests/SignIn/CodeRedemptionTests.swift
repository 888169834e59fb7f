import HearthCore
import NIOHTTP1
import TestSupport
import Testing

@testable import HearthOAuth

/// RFC 6749, sections 4.1.3 and 4.1.4.
@Suite("Exchanging the code of a sign-in", .serialized) struct CodeRedemptionTests {
  @Test("the code is exchanged with its verifier and the same redirect address, by the client as it authenticates")
  func redeem() async throws {
    try await SignInBench.run(
      secret: "s3cret-word",
      configured: {
        $0.tokenParameters = ["audience": "https://api.example.com"]
      }
    ) { bench in
      let signIn = try await bench.begin()
      bench.grant(IDTokenMint.token(bench.claims(nonce: signIn.nonce)))
      let response = try await bench.redeem(signIn, code: "a/b c")
      #expect(response.accessToken.secret == Secret("new-access"))
      #expect(response.refreshToken?.secret == Secret("new-refresh") && response.lifetime == .seconds(60))
      #expect(response.origin == bench.origin && response.origins == [bench.origin])
      let request = try #require(bench.requests.first)
      #expect(
        request.form == [
          "grant_type": "authorization_code", "code": "a/b c", "redirect_uri": SignInBench.redirectURI,
          "code_verifier": signIn.codeVerifier.reveal(), "audience": "https://api.example.com",
        ])
      #expect(request.headers["Authorization"].first?.hasPrefix("Basic ") == true)
    }
    try await SignInBench.run { bench in
      let signIn = try await bench.begin()
      bench.grant(IDTokenMint.token(bench.claims(nonce: signIn.nonce)))
      _ = try await bench.redeem(signIn)
      #expect(bench.requests.first?.form["client_id"] == "hearth app")
    }
  }

  @Test("LinkedIn gets neither challenge nor verifier, which it takes for a wrong secret")
  func withoutChallenge() async throws {
    try await SignInBench.run(
      scopes: ["profile"],
      configured: {
        $0.apply(try #require(ProviderPreset.named("linkedin")))
      }
    ) { bench in
      let signIn = try await bench.begin()
      #expect(signIn.fields["code_challenge"] == nil && signIn.fields["code_challenge_method"] == nil)
      bench.grant(nil)
      _ = try await bench.redeem(signIn)
      #expect(bench.requests.first?.form["code_verifier"] == nil)
    }
  }

  @Test("a grant is bound to the origins of all endpoints that are sent tokens, and to no other")
  func binding() async throws {
    let jwks = #","revocation_endpoint":"https://revoke.example.com/","pushed_authorization_request_endpoint":null"#
    try await SignInBench.run(offers: jwks) { bench in
      let signIn = try await bench.begin()
      bench.grant(IDTokenMint.token(bench.claims(nonce: signIn.nonce)))
      let response = try await bench.redeem(signIn)
      #expect(response.origin == bench.origin)
      #expect(response.origins?.contains(bench.origin) == true)
      let endpoints = bench.bench.endpoint(.oauth(.discovered(try Issuer(bench.base)), OAuthClient(id: "h")))
      #expect(await response.origins == endpoints.origins())
    }
  }

  /// A reply of the token endpoint to a code, and what is said of it after the origin.
  static let replies: [(LoopbackServer.Reply, SignInFailure)] = [
    (
      .refused("invalid_grant", status: 400), .failed(message: "rejected the token request: HTTP 400, invalid_grant.")
    ),
    // GitHub answers errors with the status 200.
    (
      .answer(
        200, body: #"{"error":"bad_verification_code","error_description":"The code passed is incorrect or expired."}"#),
      .failed(
        message: "rejected the token request: HTTP 200, bad_verification_code, The code passed is incorrect or expired."
      )
    ),
    (
      .refused("invalid_client"),
      .failed(
        message: "rejected the token request: HTTP 401, invalid_client. Check the account's client ID, secret and "
          + "scopes.")
    ),
    (
      .refused("access_denied", status: 403),
      .denied(message: "denied the sign-in: HTTP 403, access_denied.")
    ),
    (
      .answer(404),
      .failed(
        message: "has no token endpoint at the expected address (HTTP 404, an empty response). Check the configuration."
      )
    ),
    (.answer(200, body: "{}"), .failed(message: "returned HTTP 200 with no access token.")),
    (
      .answer(200, body: #"{"access_token":7,"token_type":"Bearer"}"#),
      .failed(message: "returned HTTP 200 with no access token.")
    ),
    (
      .answer(200, body: #"{"access_token":"a b"}"#),
      .failed(message: "returned HTTP 200 with an access token that contains invalid characters.")
    ),
    (
      .answer(200, body: #"{"access_token":"dpop-bound","token_type":"DPoP"}"#),
      .failed(
        message: "issues tokens of type DPoP, which Hearth cannot use. Configure this client for Bearer tokens.")
    ),
    (.answer(200, body: "[]"), .failed(message: "returned HTTP 200 with content that is not a JSON object.")),
    (
      .answer(200, headers: [("Content-Type", "text/html")], body: String(repeating: "<p>", count: 350_000)),
      .unavailable(
        message: "returned HTTP 200 with a web page (perhaps the network's sign-in page).", retryAfter: nil)
    ),
    (
      .answer(200, body: #"{"access_token":"\#(String(repeating: "a", count: 1 << 20))"}"#),
      .failed(message: "returned HTTP 200 with a response of more than 1 MiB.")
    ),
    (
      .answer(200, headers: [("Content-Type", "text/html")], body: "<html>"),
      .unavailable(
        message: "returned HTTP 200 with a web page (perhaps the network's sign-in page).", retryAfter: nil)
    ),
    (
      .answer(302, headers: [("Location", "https://evil.example.com/token")]),
      .unavailable(
        message:
          "returned HTTP 302 with a redirect, which Hearth does not follow (perhaps to the network's sign-in page).",
        retryAfter: nil)
    ),
    (
      .answer(503, headers: [("Retry-After", "7")]),
      .unavailable(message: "cannot sign you in now: HTTP 503, an empty response.", retryAfter: .seconds(7))
    ),
  ]

  @Test("each bad reply to a code has its sentence, and brings nothing", arguments: replies.indices)
  func badReply(_ index: Int) async throws {
    let (reply, expected) = Self.replies[index]
    try await SignInBench.run { bench in
      let signIn = try await bench.begin()
      bench.provider.answer("/token", with: reply)
      let failure = await bench.failure { try await bench.redeem(signIn) }
      #expect(failure?.withoutGrant == expected.said(by: bench.base))
    }
  }

  @Test("a code whose answer is lost is told as not answered")
  func lost() async throws {
    try await SignInBench.run { bench in
      let signIn = try await bench.begin()
      for reply in [LoopbackServer.Reply.close, .reset, .raw("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{")] {
        bench.provider.answer("/token", with: reply)
        #expect(await bench.failure { try await bench.redeem(signIn) }?.isUnavailable == true)
      }
    }
  }

  @Test("what a provider repeats of code, verifier, state, nonce and secret is in no message")
  func echoes() async throws {
    try await SignInBench.run(secret: "s3cret-word") { bench in
      let signIn = try await bench.begin()
      for secret in ["the-code-1234", "s3cret-word"]
        + [signIn.codeVerifier, signIn.state, signIn.nonce].compactMap({ $0?.reveal() })
      {
        for body in [#"{"error":"invalid_grant","error_description":"got \#(secret)"}"#, #"{"error":"\#(secret)"}"#] {
          bench.provider.answer("/token", with: .answer(400, body: body))
          let failure = try #require(await bench.failure { try await bench.redeem(signIn) })
          #expect(!failure.message.contains(secret), "\(failure.message)")
        }
      }
    }
  }
}
