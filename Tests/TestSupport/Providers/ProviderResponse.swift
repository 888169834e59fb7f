/// A response of a real provider's token endpoint to a refresh, or of something in its place.
///
/// The bodies are as documented or as seen in practice, shortened, and with our own tokens.
package struct ProviderResponse: Hashable, Sendable, CustomStringConvertible {
  package enum Situation: String, Sendable, CaseIterable {
    /// A new access token and a new refresh token.
    case rotated
    /// Only a new access token.
    case renewed
    /// The refresh token has expired, was revoked, was already used, or never existed.
    case refused
    /// The user's account is disabled or gone.
    case disabled
    /// The user must do something first: a second factor, consent, a new sign-in.
    case interaction
    /// The client, secret, scopes or request were refused.
    case client
    /// Too many requests.
    case limited
    /// The provider cannot answer now.
    case broken
    /// Something between Hearth and the provider has answered.
    case gateway
  }

  /// What Hearth does with it.
  package enum Meaning: Hashable, Sendable {
    /// `seconds` is the lifetime of the access token, if the answer has one.
    case grant(rotated: Bool, seconds: Int?)
    /// The session ends with `refreshTokenRejected`.
    case ends
    /// The session ends with `accountDisabled`.
    case endsDisabled
    /// The session continues, and Hearth asks for a fix of the configuration.
    case misconfigured
    /// The session continues, and Hearth retries after waits of up to an hour.
    case unclear
    /// The session continues, and Hearth retries after waits of up to `backoff_max`, or when the answer says.
    case unavailable
  }

  package enum Evidence: String, Sendable {
    /// The provider documents it, but nobody has checked.
    case documented
    /// Someone has quoted it from a log.
    case seen
  }

  /// The preset's name, or `gateway` for what may answer in any provider's place.
  package let provider: String
  package let situation: Situation
  package let status: Int
  package let headers: [String: String]
  private let template: String
  package let meaning: Meaning
  package let evidence: Evidence
  /// The source of the documentation or quotation.
  package let source: String

  /// In `template`, `{access}`, `{refresh}` and `{id}` stand for tokens, and `{user}` for the user's name.
  init(
    _ provider: String, _ situation: Situation, _ status: Int, _ template: String, type: String = "application/json",
    headers: [String: String] = [:], means meaning: Meaning, _ evidence: Evidence, _ source: String
  ) {
    (self.provider, self.situation, self.status, self.template) = (provider, situation, status, template)
    self.headers = headers.merging(["Content-Type": type]) { given, _ in given }
    (self.meaning, self.evidence, self.source) = (meaning, evidence, source)
  }

  /// Whether the body is a JSON object.
  package var hasObject: Bool { template.utf8.first == UInt8(ascii: "{") }

  /// The body with these tokens.
  package func body(
    access: String = "made-up-access", refresh: String = "made-up-refresh", id: String = "made-up-id",
    user: String = "made-up-user"
  ) -> String {
    [("{access}", access), ("{refresh}", refresh), ("{id}", id), ("{user}", user)].reduce(template) { text, pair in
      text.split(separator: pair.0, omittingEmptySubsequences: false).joined(separator: pair.1)
    }
  }

  package var description: String { "\(provider) \(status) \(situation): \(template.prefix(80))" }

  /// Sorted by provider, so that a simulation's seed draws the same responses wherever they are listed.
  package static let all = (openIDProviders + oauthProviders + dialects + firebase + gateways)
    .sorted { $0.provider < $1.provider }
}
