/// Who may see the answer that an API gave to a user's request.
extension SessionStatus {
  /// The user who may get cached responses, or `nil` if nobody may. A user whose session has ended may still get them,
  /// unless the user signed out, an API rejected the session, the provider disabled the user's account, or the account
  /// is locked.
  package var reader: Subject? {
    switch state {
    case .authenticated: subject
    case .reauthRequired(.signedOut), .reauthRequired(.rejectedByServer), .reauthRequired(.accountDisabled): nil
    case .reauthRequired: isLocked ? nil : subject
    case .hydrating, .locked, .unauthenticated: nil
    }
  }

  /// Returns the failure to report instead of an answer that was fetched with the token of `user`, or `nil` if the
  /// answer may be returned. `user` is `nil` if unknown.
  package func withholding(answerFor user: Subject?) -> Failure? {
    switch state {
    case .locked, .hydrating, .unauthenticated: return .state(state, self)
    case .authenticated, .reauthRequired: break
    }
    guard let user, let subject, subject != user, formerSubject != user else { return nil }
    return .otherUser(account)
  }
}

extension Failure {
  package static func challenge(_ challenge: Challenge, _ account: AccountName) -> Failure {
    Failure(.challenge, challenge.sentence, account: account, challenge: challenge)
  }

  /// Creates the failure for a request that must not be completed, because another user has signed in since it began.
  package static func otherUser(_ account: AccountName) -> Failure {
    Failure(
      .reauthRequired,
      "Another user signed in to \(account) during the request. Send it again if it should use that user's token.",
      account: account)
  }
}
