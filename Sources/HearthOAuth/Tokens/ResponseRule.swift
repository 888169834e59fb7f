/// What a refusal of one provider means where it does not mean what others' do.
///
/// It is final only in an answer with a status that may be (400, 401, 403, or 2xx without a token).
package struct ResponseRule: Hashable, Sendable {
  package enum Meaning: Hashable, Sendable {
    /// Ends the session: the refresh token is refused for good.
    case final
    /// Ends it too, for the user's account is disabled or gone.
    case accountDisabled
    /// The configuration is refused.
    case misconfigured
    /// The provider asks to come back later.
    case unavailable
    /// It ends nothing, whatever its code says elsewhere.
    case unclear
  }

  /// The error code; nil: any, or none.
  package var code: String?
  /// What one of the descriptions must hold, in any case of letters; nil: anything.
  package var phrase: String?
  package var meaning: Meaning

  package init(code: String? = nil, phrase: String? = nil, means meaning: Meaning) {
    self.code = code
    self.phrase = phrase
    self.meaning = meaning
  }

  func fits(_ words: ErrorWords) -> Bool {
    if let code, !words.codes.contains(code) { return false }
    guard let phrase = phrase?.lowercased() else { return true }
    return words.descriptions.contains { $0.lowercased().contains(phrase) }
  }
}
