import HearthCore

extension SignInEnd {
  /// What happened, for people.
  func sentence(_ account: AccountName) -> String {
    switch self {
    case .failed(let failure): failure.message
    case .notAdopted(.signIn(let failure)): failure.message
    case .notAdopted(.provider(let failure)): failure.message
    case .notAdopted(.storage(let failure)): "Nothing was stored: \(failure.detail)."
    case .notAdopted(.locked(let state)), .rejected(.state(let state)): state.message(for: account)
    case .notAdopted(.superseded), .rejected(.superseded):
      "Another sign-in, a sign-out or another program's grant came in between."
    case .notAdopted(.stopping), .rejected(.stopping): "Hearth is stopping."
    case .rejected(.refreshUnavailable(let message, _)): message
    case .rejected(.needsSignIn): "The account gets no token by itself: sign in."
    case .interrupted(let interruption): interruption.sentence(account)
    }
  }
}

extension SignInInterruption {
  func sentence(_ account: AccountName) -> String {
    switch self {
    case .cancelled: "The sign-in was given up."
    case .superseded: "Another sign-in of \(account) was begun and takes the place of this one."
    case .signedOut: "You signed out of \(account) meanwhile."
    case .reconfigured: "The configuration of \(account) was changed meanwhile."
    case .stopping: "Hearth is stopping."
    case .locked(let state): state.message(for: account)
    case .expired(nil): "Nobody signed in within the time that there was: begin again."
    case .expired(let reason?):
      "The time is over, and the provider could not be asked whether you have signed in (\(reason.withoutStop)): "
        + "begin again."
    }
  }
}

extension String {
  /// Within a sentence.
  var withoutStop: String { hasSuffix(".") ? String(dropLast()) : self }
}
