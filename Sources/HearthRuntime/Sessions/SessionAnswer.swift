package import HearthCore

/// What a session answered to a call, and its status at that time: nobody need ask again and meet a later one.
package struct SessionAnswer: Sendable {
  package let response: SessionResponse
  package let status: SessionStatus
  package let at: Timestamp

  /// Whether this answers a sign-out, and no credential is still to be removed.
  var isCompleteSignOut: Bool { if case .signedOut(_, let isComplete) = response { isComplete } else { false } }
}

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

  /// The user whose the account's items are. Without a name they belong to the sign-in, also once that has ended by
  /// itself.
  package var outboxUser: Subject? {
    switch state {
    case .authenticated, .locked, .reauthRequired: subject ?? .unnamed
    case .hydrating, .unauthenticated: subject
    }
  }
}
