package import HearthCore

extension SessionStatus {
  /// What the session means for the account's outbox.
  package var outboxPermission: OutboxPermission {
    switch state {
    case .authenticated where isForeign: .blocked(reason: SessionState.Action.fixConfiguration.rawValue)
    case .authenticated: .sendable(under: outboxUser)
    case .unauthenticated(let signedOut): .blocked(reason: signedOut ? OutboxPermission.signedOut : "neverSignedIn")
    case .hydrating, .locked, .reauthRequired: .blocked(reason: state.name)
    }
  }

  /// Whose the account's items are. Without a name they belong to the sign-in, also once that has ended by itself.
  package var outboxUser: Subject? {
    switch state {
    case .authenticated, .locked, .reauthRequired: subject ?? .unnamed
    case .hydrating, .unauthenticated: subject
    }
  }
}
