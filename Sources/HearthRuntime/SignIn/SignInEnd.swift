package import HearthCore

/// Why a sign-in failed. The previous session continues.
package enum SignInEnd: Error, Hashable, Sendable {
  /// The grant could not be requested, was refused, or could not be stored.
  case rejected(SessionRejection)
  case interrupted(SignInInterruption)

  /// Returns a sentence that tells the user what happened.
  func sentence(_ account: AccountName) -> String {
    switch self {
    case .rejected(.signIn(let failure)): failure.message
    case .rejected(.provider(let failure)): failure.message
    case .rejected(.storage(let failure)): "Hearth could not store the credential: \(failure.detail)."
    case .rejected(.state(let state)): state.message(for: account)
    case .rejected(.superseded):
      "The sign-in was discarded, because another sign-in, a sign-out or another program replaced the session first."
    case .rejected(.stopping): "Hearth is stopping."
    case .rejected(.refreshUnavailable(let message, _)): message
    case .rejected(.needsSignIn): "A user has to sign in. Run \"hearthctl login \(account)\"."
    case .interrupted(let interruption): interruption.sentence(account)
    }
  }
}

extension SignInInterruption {
  func sentence(_ account: AccountName) -> String {
    switch self {
    case .cancelled: "The sign-in was cancelled."
    case .superseded: "This sign-in was replaced by a newer one for \(account)."
    case .signedOut: "You signed out of \(account) in the meantime."
    case .reconfigured: "The configuration of \(account) has changed in the meantime."
    case .stopping: "Hearth is stopping."
    case .locked(let state): state.message(for: account)
    case .expired(nil): "The sign-in timed out. Run \"hearthctl login \(account)\" to try again."
    case .expired(let reason?):
      "The sign-in timed out before Hearth could confirm it with the provider (\(reason.withoutStop)). "
        + "Run \"hearthctl login \(account)\" to try again."
    }
  }
}

extension String {
  /// The text without its final full stop, for use within a sentence.
  var withoutStop: String { hasSuffix(".") ? String(dropLast()) : self }
}
