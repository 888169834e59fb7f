package import HearthCore

/// A token endpoint, a credential for it to refresh, and the provider behind it.
package struct TokenEndpointBench: Sendable {
  /// What the provider does with the next requests.
  package enum Manner: Sendable {
    case grants, refusesForGood, refusesTheClient, refusesUnclearly, isDown, losesReplies, isOutOfReach
  }

  /// The endpoint, with a provider that behaves like this.
  let endpoint: @Sendable (Manner) -> any TokenEndpoint
  /// A credential that is bound to the endpoint's origin.
  let credential: Credential
  /// The number of requests that have reached the provider.
  let requests: @Sendable () -> Int
  /// Whether the provider has a call to revoke tokens.
  let revokes: Bool

  package init(
    _ endpoint: @escaping @Sendable (Manner) -> any TokenEndpoint, credential: Credential, revokes: Bool,
    requests: @escaping @Sendable () -> Int
  ) {
    self.endpoint = endpoint
    self.credential = credential
    self.revokes = revokes
    self.requests = requests
  }

  fileprivate func expectFailure(
    while manner: Manner, of credential: Credential? = nil, line: Int = #line, _ isExpected: (RefreshFailure) -> Bool
  ) async throws {
    let endpoint = endpoint(manner)
    let response: TokenResponse
    var own = self.credential
    own.origin = await endpoint.origin() ?? own.origin
    do throws(RefreshFailure) {
      response = try await endpoint.refresh(credential ?? own)
    } catch {
      return try expect(isExpected(error), "\(error) is how a refresh fails while the provider \(manner)", line: line)
    }
    throw ContractBreach("\(response) was granted while the provider \(manner).", #fileID, line)
  }
}

/// The promises of `TokenEndpoint`.
package enum TokenEndpointContract {
  package typealias EndpointFact = Fact<TokenEndpointBench>

  /// The promises of every endpoint.
  package static let facts =
    sending + [
      EndpointFact("a refresh brings another access token, bound to the origin of the endpoint") { bench in
        let endpoint = bench.endpoint(.grants)
        let response = try await endpoint.refresh(bench.credential)
        try expect(response.accessToken != bench.credential.grant.accessToken, "the access token is another one")
        try expect(response.origin, is: await endpoint.origin())
        try expect(response.origin, is: bench.credential.origin)
      },
      EndpointFact("a provider that cannot answer now is unavailable") { bench in
        try await bench.expectFailure(while: .isDown) { if case .unavailable = $0 { true } else { false } }
      },
      EndpointFact("a request that was certainly not sent differs from one whose reply was lost") { bench in
        try await bench.expectFailure(while: .isOutOfReach) { if case .unreachable = $0 { true } else { false } }
        try await bench.expectFailure(while: .losesReplies) { if case .unanswered = $0 { true } else { false } }
      },
      EndpointFact("a refused client is misconfigured, and the session does not end") { bench in
        try await bench.expectFailure(while: .refusesTheClient) { if case .misconfigured = $0 { true } else { false } }
      },
      EndpointFact("a refusal that is not known to be final is unclear") { bench in
        try await bench.expectFailure(while: .refusesUnclearly) { if case .unclear = $0 { true } else { false } }
      },
      EndpointFact("a token without a lifetime, reported or configured, has no known expiry") {
        bench in
        let endpoint = bench.endpoint(.grants)
        try expect(endpoint.expiry(of: .sample(7), at: .sample), is: nil)
      },
    ]

  /// The promises of endpoints that exchange a refresh token.
  package static let refreshFacts: [EndpointFact] = [
    EndpointFact("a refresh token that is refused for good is rejected") { bench in
      try await bench.expectFailure(while: .refusesForGood) { failure in
        if case .rejected(.refreshToken, _) = failure { true } else { false }
      }
    },
    EndpointFact("without a refresh token nothing is sent, and a person must fix it") { bench in
      var credential = bench.credential
      credential.grant.refreshToken = nil
      try await bench.expectFailure(while: .grants, of: credential) {
        if case .misconfigured = $0 { true } else { false }
      }
      try expect(bench.requests(), is: 0)
    },
  ]

  private static let sending: [EndpointFact] = [
    EndpointFact("a credential of another origin is never sent") { bench in
      let endpoint = bench.endpoint(.grants)
      var foreign = bench.credential
      foreign.origin = try HTTPURL("https://other.example.com/").origin
      try await bench.expectFailure(while: .grants, of: foreign) { if case .misconfigured = $0 { true } else { false } }
      try expect(await endpoint.revoke(foreign) == .revoked, is: false)
      _ = await endpoint.identify(foreign)
      try expect(bench.requests(), is: 0)
    },
    EndpointFact("a revocation succeeds only if the provider confirms it") { bench in
      try expect(await bench.endpoint(.isDown).revoke(bench.credential) == .revoked, is: false)
      try expect(await bench.endpoint(.isOutOfReach).revoke(bench.credential) == .revoked, is: false)
      try expect(await bench.endpoint(.grants).revoke(bench.credential) == .revoked, is: bench.revokes)
    },
  ]
}
