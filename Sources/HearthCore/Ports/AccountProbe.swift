/// Tests each step of a connection to an account's provider and APIs, without changing anything there.
package protocol AccountProbe: Sendable {
  /// Runs the checks. `bearer` is the token to test against the APIs at `origins`, or `nil` if the session has no
  /// token.
  func checks(_ bearer: Bearer?, at origins: Set<Origin>) async -> [Diagnosis]
}

/// The result of a check.
package struct Diagnosis: Hashable, Sendable {
  /// The checks, in order. If a server cannot be reached, Hearth skips the remaining checks of that server.
  package enum Check: String, Sendable, CaseIterable {
    /// Resolve the host name of the provider or its proxy.
    case providerName = "provider.name"
    case providerConnection = "provider.connection"
    /// Complete the TLS handshake and receive an HTTP response.
    case providerAnswer = "provider.answer"
    case discovery
    /// Compare this machine's clock with the provider's.
    case clock
    case token
    case apiName = "api.name"
    case apiConnection = "api.connection"
    /// Check that the API does not reject the token.
    case apiAnswer = "api.answer"
    /// Check that the account's token file contains the token.
    case sink
  }

  package enum Verdict: String, Sendable, CaseIterable {
    case ok
    /// Something needs attention but does not cause a failure.
    case warning
    case problem
  }

  package let check: Check
  package let verdict: Verdict
  /// The finding and what to do about it, without secrets.
  package let message: String
  /// The path of the checked file, or `nil` if the check is not about a file.
  package let path: String?

  package init(_ check: Check, _ verdict: Verdict, _ message: String, path: String? = nil) {
    (self.check, self.verdict, self.message, self.path) = (check, verdict, message, path)
  }
}
