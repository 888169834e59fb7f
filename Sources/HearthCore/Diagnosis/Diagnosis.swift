/// What one check of an account found, as a sentence for people.
package struct Diagnosis: Hashable, Sendable {
  /// In the order in which they are made; each of a server is made where the one before it found nothing wrong.
  package enum Check: String, Sendable, CaseIterable {
    /// The server's name, or its proxy's, is resolved.
    case providerName = "provider.name"
    /// A connection is made.
    case providerConnection = "provider.connection"
    /// TLS, and a response of HTTP.
    case providerAnswer = "provider.answer"
    case discovery
    /// This machine's clock against the provider's.
    case clock
    /// What the token itself says.
    case token
    case apiName = "api.name"
    case apiConnection = "api.connection"
    /// Whether the API takes the token.
    case apiAnswer = "api.answer"
    /// Whether a file of the account holds its token.
    case sink
  }

  package enum Verdict: String, Sendable, CaseIterable {
    case ok
    /// Worth a look; nothing fails for it.
    case warning
    case problem
  }

  package let check: Check
  package let verdict: Verdict
  /// What was found, and what to do about it. Holds no secret.
  package let message: String
  /// The path of the file that it is about; nil for what is no file.
  package let path: String?

  package init(_ check: Check, _ verdict: Verdict, _ message: String, path: String? = nil) {
    self.check = check
    self.verdict = verdict
    self.message = message
    self.path = path
  }
}
