/// The meaning of an error at a certain provider, which takes precedence over the error's usual meaning.
///
/// `final` and `accountDisabled` end a session only if the status allows it (400, 401, 403, or 2xx without a token).
package struct ResponseRule: Hashable, Sendable {
  package enum Meaning: Hashable, Sendable {
    /// The refresh token is permanently invalid, which ends the session.
    case final
    /// The user's account is disabled or deleted, which also ends the session.
    case accountDisabled
    /// The account's configuration is wrong, for example the client secret.
    case misconfigured
    /// The error is temporary, so Hearth retries later.
    case unavailable
    /// The session continues, even if the error code ends sessions at other providers.
    case unclear
  }

  /// The error codes to which the rule applies. If empty, any code matches.
  let codes: Set<String>
  /// Text that one of the descriptions must contain, ignoring case, or `nil` to match any description.
  let phrase: String?
  let meaning: Meaning

  init(codes: Set<String> = [], phrase: String? = nil, means meaning: Meaning) {
    (self.codes, self.phrase, self.meaning) = (codes, phrase?.lowercased(), meaning)
  }

  func fits(_ error: ResponseError) -> Bool {
    guard codes.isEmpty || !codes.isDisjoint(with: error.codes) else { return false }
    guard let phrase else { return true }
    return error.descriptions.contains { $0.lowercased().contains(phrase) }
  }
}
