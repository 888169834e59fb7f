import HearthCore

extension SessionRejection {
  /// Returns a sentence that tells the user why the sign-in failed.
  func sentence(_ account: AccountName) -> String {
    switch self {
    case .signIn(let failure): failure.message
    case .provider(let failure): failure.message
    case .storage(let failure): "Hearth could not store the credential: \(failure.detail)."
    case .state(let state): state.message(for: account)
    case .superseded:
      "The sign-in was discarded, because another sign-in, a sign-out or another program replaced the session first."
    case .stopping: "Hearth is stopping."
    case .refreshUnavailable(let message, _): message
    case .cancelled: "The sign-in was cancelled."
    case .replaced: "This sign-in was replaced by a newer one for \(account)."
    case .signedOut: "You signed out of \(account) during the sign-in."
    case .reconfigured: "\(account)'s configuration changed during the sign-in."
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
