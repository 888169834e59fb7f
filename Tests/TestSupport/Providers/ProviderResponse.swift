/// What a real provider's token endpoint answers to a refresh, or what answers in its place.
///
/// The bodies are as documented or as somebody has seen them, shortened, and with tokens of our own.
package struct ProviderResponse: Hashable, Sendable, CustomStringConvertible {
  package enum Situation: String, Sendable, CaseIterable {
    /// A new access token, and a new refresh token with it.
    case rotated
    /// A new access token alone.
    case renewed
    /// The refresh token has run out, was revoked, was spent before, or was never one.
    case refused
    /// The user's account is disabled or gone.
    case disabled
    /// The user has to do something first: a second factor, consent, a new sign-in.
    case interaction
    /// Client, secret, scopes or request are refused.
    case client
    /// Too many requests.
    case limited
    /// The provider cannot answer now.
    case broken
    /// Something in between has answered.
    case gateway
  }

  /// What Hearth makes of it.
  package enum Meaning: Hashable, Sendable {
    /// `seconds`: how long the access token lives, where the answer tells.
    case grant(rotated: Bool, seconds: Int?)
    /// The session ends: `refreshTokenRejected`.
    case ends
    /// The session ends: `accountDisabled`.
    case endsDisabled
    /// It goes on, and asks to fix the configuration.
    case misconfigured
    /// It goes on, and is tried again after waits of up to an hour.
    case unclear
    /// It goes on, and is tried again after waits of up to `backoff_max`, or when the answer says.
    case unavailable
  }

  package enum Evidence: String, Sendable {
    /// The provider's documentation says so; nobody has looked.
    case documented
    /// Somebody quotes it from a log.
    case seen
  }

  /// The preset's name; `gateway` for what may answer in anybody's place.
  package let provider: String
  package let situation: Situation
  package let status: Int
  package let headers: [String: String]
  private let template: String
  package let meaning: Meaning
  package let evidence: Evidence
  /// Where it is documented, or quoted.
  package let source: String

  /// In `template` `{access}`, `{refresh}` and `{id}` stand for tokens, `{user}` for the user's name.
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

  /// The body, with these tokens in it.
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
