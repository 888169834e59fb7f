import HearthCore
import NIOHTTP1
import TestSupport
import Testing

@testable import HearthOAuth

/// RFC 8628, sections 3.4 and 3.5.
@Suite("Asking whether a device code was used", .serialized) struct DevicePollTests {
  @Test("a poll names the code; what it brings is a grant like any other")
  func granted() async throws {
    try await SignInBench.run { bench in
      let signIn = try await bench.beginDevice()
      bench.grant(IDTokenMint.token(bench.claims(nonce: nil)))
      let response = try #require(try await bench.endpoint.poll(signIn).granted)
      #expect(response.subject == Subject(issuer: bench.base, id: "2482") && response.origins == [bench.origin])
      #expect(
        bench.requests.last?.form == [
          "grant_type": "urn:ietf:params:oauth:grant-type:device_code", "client_id": "hearth app",
          "device_code": "GmRhmhcxhwAzkoEqiMEg_DnyEysNkuNhszIySk9eS",
        ])
      // Without an ID token the session asks who it is.
      bench.grant(nil)
      #expect(try await bench.endpoint.poll(signIn).granted?.subject == nil)
      bench.grant(IDTokenMint.token(bench.claims(nonce: nil).merging(["aud": "other"]) { $1 }))
      #expect(await bench.failure { try await bench.endpoint.poll(signIn) }?.message.contains("(aud)") == true)
    }
  }

  private static let page =
    "returned HTTP 200 with a web page (perhaps the network's sign-in page)."

  static let answers: [(LoopbackServer.Reply, Result<DevicePolling.Answer, SignInFailure>)] = [
    (.refused("authorization_pending", status: 400), .success(.pending)),
    (.refused("slow_down", status: 400), .success(.slowDown)),
    // GitHub: 200. Google: 428 and 403. Auth0: 403 and 429.
    (
      .answer(200, body: #"{"error":"authorization_pending","error_description":"The request is pending."}"#),
      .success(.pending)
    ),
    (.answer(200, body: #"{"error":"slow_down","interval":10}"#), .success(.slowDown)),
    (
      .answer(428, body: #"{"error":"authorization_pending","error_description":"Precondition Required"}"#),
      .success(.pending)
    ),
    (.answer(403, body: #"{"error":"slow_down","error_description":"Forbidden"}"#), .success(.slowDown)),
    (
      .answer(403, body: #"{"error":"authorization_pending","error_description":"User has yet to authorize"}"#),
      .success(.pending)
    ),
    (
      .answer(429, body: #"{"error":"slow_down","error_description":"You are polling faster than allowed."}"#),
      .success(.slowDown)
    ),
    (.answer(429), .success(.slowDown)),
    // Twitch has no codes.
    (.answer(400, body: #"{"status":400,"message":"authorization_pending"}"#), .success(.pending)),
    (
      .answer(400, body: #"{"status":400,"message":"invalid device code"}"#),
      .failure(.failed(message: "rejected the token request: HTTP 400, invalid device code."))
    ),
    (
      .refused("access_denied", status: 403),
      .failure(.denied(message: "denied the sign-in: HTTP 403, access_denied."))
    ),
    // Microsoft's own.
    (
      .refused("authorization_declined", status: 400),
      .failure(.denied(message: "denied the sign-in: HTTP 400, authorization_declined."))
    ),
    (
      .refused("bad_verification_code", status: 400),
      .failure(.failed(message: "rejected the token request: HTTP 400, bad_verification_code."))
    ),
    (
      .refused("expired_token", status: 400),
      .failure(.expired(message: "says that the code has expired: HTTP 400, expired_token. Sign in again."))
    ),
    // Okta.
    (
      .answer(
        400, body: #"{"error":"invalid_grant","error_description":"The device code is invalid or has expired."}"#),
      .failure(
        .expired(
          message:
            "says that the code has expired: HTTP 400, invalid_grant, The device code is invalid or has expired. Sign in again."
        ))
    ),
    (
      .refused("invalid_client"),
      .failure(
        .failed(
          message: "rejected the token request: HTTP 401, invalid_client. Check the account's client ID, secret and "
            + "scopes."))
    ),
    (
      .refused("something_else", status: 400),
      .failure(.failed(message: "rejected the token request: HTTP 400, something_else."))
    ),
    (.answer(400), .failure(.failed(message: "rejected the token request: HTTP 400, an empty response."))),
    (.answer(200, body: "{}"), .failure(.failed(message: "returned HTTP 200 with no access token."))),
    (.answer(503), .success(.unanswered(message: "cannot sign you in now: HTTP 503, an empty response."))),
    (
      .answer(500, body: #"{"error":"server_error"}"#),
      .success(.unanswered(message: "cannot sign you in now: HTTP 500, server_error."))
    ),
    (
      .answer(200, headers: [("Content-Type", "text/html")], body: "<html>"),
      .success(.unanswered(message: page))
    ),
  ]

  @Test("each answer to a poll is taken for what it means, whatever its status", arguments: answers.indices)
  func answer(_ index: Int) async throws {
    let (reply, expected) = Self.answers[index]
    try await SignInBench.run(scopes: []) { bench in
      let signIn = try await bench.beginDevice()
      bench.provider.answer("/token", with: reply)
      switch expected {
      case .success(let notYet): #expect(try await bench.endpoint.poll(signIn) == .notYet(notYet.said(by: bench.base)))
      case .failure(let failure):
        #expect(await bench.failure { try await bench.endpoint.poll(signIn) } == failure.said(by: bench.base))
      }
    }
  }

  @Test("a poll that is lost is not answered, and before the keys are there none is sent, for it may spend the code")
  func lost() async throws {
    for path in ["/token", "/keys"] {
      try await SignInBench.run { bench in
        let signIn = try await bench.beginDevice()
        bench.grant(IDTokenMint.token(bench.claims(nonce: nil)))
        bench.provider.answer(path, with: .close)
        guard case .notYet(.unanswered(let message)) = try await bench.endpoint.poll(signIn) else {
          Issue.record("\(path) was answered")
          return
        }
        #expect(message.lowercased().contains("no response from \(bench.base)"))
        #expect(bench.requests.contains { $0.target == "/token" } == (path == "/token"))
      }
    }
  }

  @Test("what a provider repeats of the device code is in no message, be it a word")
  func echoes() async throws {
    try await SignInBench.run { bench in
      let signIn = try await bench.beginDevice(
        #"{"device_code":"hearts-of-oak","user_code":"u","verification_uri":"https://example.com/","expires_in":60}"#)
      let body = #"{"error":"odd","error_description":"no hearts-of-oak here"}"#
      bench.provider.answer("/token", with: .answer(400, body: body))
      let failure = await bench.failure { try await bench.endpoint.poll(signIn) }
      let told = "\(bench.base) rejected the token request: HTTP 400, odd, no \(Redactor.replacement) here."
      #expect(failure == .failed(message: told))
    }
  }
}

extension GrantAnswer {
  fileprivate var granted: TokenResponse? { if case .granted(let response) = self { response } else { nil } }
}

extension DevicePolling.Answer {
  /// The same, with this before its sentence.
  fileprivate func said(by name: String) -> Self {
    if case .unanswered(let text) = self { .unanswered(message: "\(name) \(text)") } else { self }
  }
}
