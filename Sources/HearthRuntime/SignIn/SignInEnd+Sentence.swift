import HearthCore

extension SignInEnd {
  /// What happened, for people.
  func sentence(_ account: AccountName) -> String {
    switch self {
    case .failed(let failure): failure.message
    case .notAdopted(.signIn(let failure)): failure.message
    case .notAdopted(.provider(let failure)): failure.message
    case .notAdopted(.storage(let failure)): "Nothing was stored: \(failure.detail)."
    case .notAdopted(.locked(let state)): state.message(for: account)
    case .notAdopted(.superseded): "Another sign-in, a sign-out or another program's grant came in between."
    case .notAdopted(.stopping), .stopping: "Hearth is stopping."
    case .cancelled: "The sign-in was given up."
    case .superseded: "Another sign-in of \(account) was begun and takes the place of this one."
    case .signedOut: "You signed out of \(account) meanwhile."
    case .reconfigured: "The configuration of \(account) was changed meanwhile."
    }
  }
}
