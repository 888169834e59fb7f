import HearthCore
import TestSupport
import Testing

@testable import HearthOAuth

@Suite("The contract of TokenEndpoint", .timeLimit(.minutes(1)))
struct TokenEndpointContractTests {
  /// Those that exchange a refresh token.
  static let renewing = [
    real("OAuthTokenEndpoint, discovered", path: "/token", revokes: true) { base in
      .oauth(.discovered(try Issuer(base)), OAuthClient(id: "h"))
    },
    real("OAuthTokenEndpoint, named", path: "/token", revokes: true) {
      .oauth(.named(try endpoints(at: $0)), OAuthClient(id: "h"))
    },
    real("JSONEndpoint", path: "/refresh", revokes: false) {
      .json(JSONBackend(refreshURL: try HTTPURL($0 + "/refresh")))
    },
    real("FirebaseEndpoint", path: "/token", revokes: false) {
      .firebase(FirebaseProject(apiKey: Secret("key-0123"), tokenEndpoint: try HTTPURL($0 + "/token")))
    },
    Implementation<TokenEndpointBench>("ScriptedTokenEndpoint") { check in
      let endpoint = ScriptedTokenEndpoint()
      try await check(
        TokenEndpointBench(
          { manner in
            endpoint.answer(answer(while: manner))
            endpoint.answersRevocations(manner == .grants ? .revoked : .unavailable(retryAfter: nil))
            return endpoint
          }, credential: .sample(1, issuedAt: .sample), revokes: true,
          requests: { endpoint.requests.count + endpoint.revoked.count }))
    },
  ]

  static let clientCredentials = real("ClientCredentialsEndpoint", path: "/token", revokes: true) {
    .clientCredentials(.named(try endpoints(at: $0)), OAuthClient(id: "h"))
  }

  @Test(
    "is kept by the real ones and by their double",
    arguments: TokenEndpointContract.facts, renewing + [clientCredentials])
  func isKept(_ fact: Fact<TokenEndpointBench>, by endpoint: Implementation<TokenEndpointBench>) async throws {
    try await endpoint.keeps(fact)
  }

  @Test("is kept by those that exchange a refresh token", arguments: TokenEndpointContract.refreshFacts, renewing)
  func isKeptByRenewing(_ fact: Fact<TokenEndpointBench>, by endpoint: Implementation<TokenEndpointBench>) async throws
  {
    try await endpoint.keeps(fact)
  }

  /// An endpoint of a provider on loopback. `kind`: as it is configured for a provider at this address.
  private static func real(
    _ name: String, path: String, revokes: Bool,
    _ kind: @escaping @Sendable (String) throws -> ProviderConfiguration.Kind
  ) -> Implementation<TokenEndpointBench> {
    Implementation(name) { check in
      try await ProviderBench.run { bench in
        bench.provider.discover(at: bench.server)
        let here = bench.endpoint(try kind(bench.base))
        let nowhere = bench.endpoint(try kind("http://127.0.0.1:\(LoopbackServer.refusingPort)"))
        try await check(
          TokenEndpointBench(
            { manner in
              bench.provider.answer(path, with: reply(while: manner))
              bench.provider.answer("/revoke", with: .answer(manner == .grants ? 200 : 503))
              return manner == .isOutOfReach ? nowhere : here
            }, credential: bench.credential(origin: bench.server.url().origin), revokes: revokes,
            requests: { bench.requests.count }))
      }
    }
  }

  private static func endpoints(at base: String) throws -> ProviderEndpoints {
    var endpoints = ProviderEndpoints(token: try HTTPURL(base + "/token"))
    endpoints.revocation = try HTTPURL(base + "/revoke")
    return endpoints
  }

  private static func reply(while manner: TokenEndpointBench.Manner) -> LoopbackServer.Reply {
    func refusal(_ code: String) -> LoopbackServer.Reply {
      .answer(400, headers: [("Content-Type", "application/json")], body: #"{"error":"\#(code)"}"#)
    }
    switch manner {
    case .grants:
      return .answer(
        200, headers: [("Content-Type", "application/json")], body: #"{"access_token":"new-access","expires_in":60}"#)
    case .refusesForGood: return refusal("invalid_grant")
    case .refusesTheClient: return refusal("invalid_client")
    case .refusesUnclearly: return refusal("something_else")
    case .isDown: return .answer(503)
    case .losesReplies, .isOutOfReach: return .close
    }
  }

  private static func answer(while manner: TokenEndpointBench.Manner) -> ScriptedTokenEndpoint.Answer {
    switch manner {
    case .grants: .granted(.sample(2))
    case .refusesForGood: .failed(.rejected(.refreshToken, message: "invalid_grant"))
    case .refusesTheClient: .failed(.misconfigured(message: "invalid_client"))
    case .refusesUnclearly: .failed(.unclear(message: "400", retryAfter: nil))
    case .isDown: .failed(.unavailable(message: "503", retryAfter: nil))
    case .losesReplies: .failed(.unanswered(message: "reset"))
    case .isOutOfReach: .failed(.unreachable(message: "no route"))
    }
  }
}
