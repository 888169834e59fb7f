package import HearthCore

extension SessionStatus {
  /// What the session means for the account's outbox.
  package var outboxPermission: OutboxPermission {
    switch state {
    case .authenticated where isForeign: .blocked(reason: SessionState.Action.fixConfiguration.rawValue)
    case .authenticated: .sendable(under: subject)
    case .unauthenticated(let signedOut): .blocked(reason: signedOut ? "signedOut" : "neverSignedIn")
    case .hydrating, .locked, .reauthRequired: .blocked(reason: state.name)
    }
  }
}
