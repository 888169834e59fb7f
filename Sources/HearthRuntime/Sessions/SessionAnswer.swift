package import HearthCore

/// A session's answer to a call, and its status at that time, so that callers need not ask again and see a later one.
package struct SessionAnswer: Sendable {
  package let response: SessionResponse
  package let status: SessionStatus
  package let at: Timestamp

  /// Whether this answers a sign-out after which no credential is left to remove.
  var isCompleteSignOut: Bool { if case .signedOut(_, let isComplete) = response { isComplete } else { false } }
}

extension SessionStatus {
  /// What the account's outbox may do in this state.
  package var outboxPermission: OutboxPermission {
    switch state {
    case .authenticated where isForeign: .blocked(reason: SessionState.Action.fixConfiguration.rawValue)
    case .authenticated: .sendable(under: outboxUser)
    case .unauthenticated(let signedOut): .blocked(reason: signedOut ? OutboxPermission.signedOut : "neverSignedIn")
    case .hydrating, .locked, .reauthRequired: .blocked(reason: state.name)
    }
  }

  /// The user who owns the account's items. Without a name they belong to the sign-in, even after that has ended by
  /// itself.
  package var outboxUser: Subject? {
    switch state {
    case .authenticated, .locked, .reauthRequired: subject ?? .unnamed
    case .hydrating, .unauthenticated: subject
    }
  }
}
