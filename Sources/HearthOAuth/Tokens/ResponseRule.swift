/// What an error means at one provider, if it differs from the usual meaning.
///
/// `final` and `accountDisabled` count only if the status allows it (400, 401, 403, or 2xx without a token).
package struct ResponseRule: Hashable, Sendable {
  package enum Meaning: Hashable, Sendable {
    /// The refresh token is rejected for good, which ends the session.
    case final
    /// The user's account is disabled or gone, which ends the session too.
    case accountDisabled
    /// The configuration is rejected.
    case misconfigured
    /// The provider asks to try again later.
    case unavailable
    /// The session stays, whatever the error code means elsewhere.
    case unclear
  }

  /// The error codes that the rule applies to; if empty, it applies to every response.
  let codes: Set<String>
  /// A text that one of the descriptions must contain, in any case, or `nil` for any description.
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
