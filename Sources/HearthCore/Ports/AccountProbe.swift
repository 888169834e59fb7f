/// Tries each step on the way to an account's provider and APIs without changing anything there.
package protocol AccountProbe: Sendable {
  /// Runs the checks and returns their results. `bearer` is the token to try against the APIs at `origins`, or `nil` if
  /// the session has no token.
  func checks(_ bearer: Bearer?, at origins: Set<Origin>) async -> [Diagnosis]
}

/// The result of one check of an account, as a sentence for people.
package struct Diagnosis: Hashable, Sendable {
  /// The checks in their order. A check of a server is made only if the one before it found no fault.
  package enum Check: String, Sendable, CaseIterable {
    /// Resolving the name of the server or its proxy.
    case providerName = "provider.name"
    /// Opening a connection.
    case providerConnection = "provider.connection"
    /// TLS, and an HTTP response.
    case providerAnswer = "provider.answer"
    case discovery
    /// Comparing this machine's clock with the provider's.
    case clock
    /// Looking at the token itself.
    case token
    case apiName = "api.name"
    case apiConnection = "api.connection"
    /// Checking that the API accepts the token.
    case apiAnswer = "api.answer"
    /// Checking that the account's token file holds the token.
    case sink
  }

  package enum Verdict: String, Sendable, CaseIterable {
    case ok
    /// Worth a look, but nothing fails because of it.
    case warning
    case problem
  }

  package let check: Check
  package let verdict: Verdict
  /// What was found and what to do about it. Contains no secret.
  package let message: String
  /// The path of the file that was checked, or `nil` if the check is not about a file.
  package let path: String?

  package init(_ check: Check, _ verdict: Verdict, _ message: String, path: String? = nil) {
    (self.check, self.verdict, self.message, self.path) = (check, verdict, message, path)
  }
}
