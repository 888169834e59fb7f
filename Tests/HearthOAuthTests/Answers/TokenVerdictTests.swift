import HearthCore
import Testing

@testable import HearthOAuth

@Suite("What is said of the refresh token under a configuration's code") struct TokenVerdictTests {
  private func failure(_ code: String, _ description: String?, status: Int = 400) -> RefreshFailure? {
    let field = description.map { #","error_description":"\#($0)""# } ?? ""
    return reader().failure(answer(#"{"error":"\#(code)"\#(field)}"#, status: status))
  }

  @Test(
    "that it is spent, or is none, ends the session",
    arguments: [
      ("unauthorized_client", "token was already used"), ("unauthorized_client", "unable to parse refresh token"),
      ("unauthorized_client", "refresh_token is invalid"), ("unauthorized_client", "Refresh token not found."),
      ("unauthorized_client", "The refresh token has been revoked"), ("unauthorized_client", "The token has expired"),
      ("invalid_request", #"Invalid \"refresh_token\" in request."#), ("invalid_request", "Refresh token expired"),
      ("invalid_request", "The provided authorization grant or refresh token is invalid, expired or revoked"),
      ("invalid_request", "refreshToken does not exist"), ("invalid_client", "Refresh token has been used"),
      ("invalid_client", "Unknown refresh token"),
    ])
  func dead(_ code: String, _ description: String) {
    for status in [200, 400, 401, 403] {
      guard case .rejected(.refreshToken, let message)? = failure(code, description, status: status) else {
        Issue.record("\(status)")
        continue
      }
      #expect(message.contains(code) && message.contains("rejected the refresh token"))
    }
    #expect(failure(code, description, status: 422).map { Outcome($0) } == .unclear)
    #expect(failure(code, description, status: 503).map { Outcome($0) } == .unavailable)
  }

  @Test(
    "that code alone is the configuration's", arguments: ["unauthorized_client", "invalid_client", "invalid_request"])
  func bare(_ code: String) {
    #expect(failure(code, nil).map { Outcome($0) } == .misconfigured)
    #expect(failure(code, "").map { Outcome($0) } == .misconfigured)
  }

  @Test(
    "what is said of the client, the request or another token is the configuration's",
    arguments: [
      ("unauthorized_client", "client is not authorized"), ("unauthorized_client", "failed PKCE code challenge"),
      ("unauthorized_client", "Grant type 'refresh_token' not allowed for the client."),
      ("unauthorized_client", "The client is not authorized to request an access token using this method."),
      ("unauthorized_client", "The refresh_token grant is not enabled for this application."),
      ("unauthorized_client", "The client may not use the refresh_token grant type."),
      ("invalid_client", "invalid client secret"), ("invalid_client", "The client_assertion token has expired."),
      ("invalid_client", "The token has expired"), ("unauthorized_client", "The token of this client has expired"),
      ("invalid_client", "Expired JWT token"), ("invalid_client", "Invalid token endpoint auth method"),
      ("invalid_request", "Missing refresh_token"), ("invalid_request", "The refresh token must be sent"),
      ("invalid_request", #"Missing \"refresh_token\" in request."#), ("invalid_request", "invalid token_type"),
      ("UNAUTHORIZED_CLIENT", "token was already used"),
      ("invalid_scope", "The refresh token is not valid for this scope"),
      ("unsupported_grant_type", "Unknown grant: refresh token"),
    ])
  func others(_ code: String, _ description: String) {
    #expect(failure(code, description).map { Outcome($0) } == .misconfigured)
  }

  @Test(
    "where token or client may be meant, nothing ends, and both are offered, the sign-in first",
    arguments: [
      ("unauthorized_client", "Refresh token is invalid or was issued to another client"),
      ("invalid_client", "Invalid client or refresh token"),
      ("invalid_request", "The refresh token or its scope is invalid"),
    ])
  func either(_ code: String, _ description: String) throws {
    guard case .unclear(let message, _)? = failure(code, description) else {
      Issue.record("\(String(describing: failure(code, description)))")
      return
    }
    let signIn = try #require(message.firstRange(of: "Sign in again"))
    let check = try #require(message.firstRange(of: "check the account's client ID, secret and scopes"))
    #expect(signIn.lowerBound < check.lowerBound && message.contains(description))
  }

  @Test("a description that is too long to search for a verdict is the configuration's")
  func long() {
    for (filler, outcome) in [(900, Outcome.rejected), (1_000_000, .misconfigured)] {
      let description = "The refresh token has expired. " + String(repeating: "x", count: filler)
      #expect(failure("unauthorized_client", description).map { Outcome($0) } == outcome)
    }
  }

  @Test("what a preset knows of such a code counts first")
  func preset() {
    var reader = reader()
    reader.rules = [ResponseRule(codes: ["unauthorized_client"], phrase: "already used", means: .unavailable)]
    let body = #"{"error":"unauthorized_client","error_description":"token was already used"}"#
    #expect(reader.failure(answer(body, status: 400)).map { Outcome($0) } == .unavailable)
  }

  @Test("a client's own grant has no refresh token: its refusal stays the configuration's")
  func clientCredentials() async throws {
    try await ProviderBench.run { bench in
      bench.provider.answer(
        "/token",
        with: .answer(400, body: #"{"error":"unauthorized_client","error_description":"token was already used"}"#))
      let endpoint = bench.endpoint(
        .clientCredentials(.named(ProviderEndpoints(token: bench.server.url("/token"))), OAuthClient(id: "h")))
      #expect(await bench.outcome(of: endpoint).outcome == .misconfigured)
    }
  }
}
