/// What an error of one provider means, if it means something else of other providers.
///
/// `final` and `accountDisabled` count only in a response whose status allows it (400, 401, 403, or 2xx without a token).
package struct ResponseRule: Hashable, Sendable {
  package enum Meaning: Hashable, Sendable {
    /// The refresh token is rejected for good, which ends the session.
    case final
    /// The user's account is disabled or gone, which ends the session too.
    case accountDisabled
    /// The configuration is rejected.
    case misconfigured
    /// The provider asks to come back later.
    case unavailable
    /// The session goes on, whatever the error code means elsewhere.
    case unclear
  }

  /// The error codes that the rule is for. It is for every response if there are none.
  let codes: Set<String>
  /// A part that one of the descriptions needs, whatever the case of its letters, or nil for every description.
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
