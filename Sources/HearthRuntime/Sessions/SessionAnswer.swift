package import HearthCore

/// A session's answer to a call, together with its status at that time. If callers asked for the status separately, it
/// might have changed in the meantime.
package struct SessionAnswer<Answer: Sendable>: Sendable {
  package let result: Result<Answer, Failure>
  package let status: SessionStatus
  package let at: Timestamp
}

extension SessionStatus {
  /// The permission for the account's outbox in the session's current state.
  package var outboxPermission: OutboxPermission {
    switch state {
    case .authenticated where isForeign: .blocked(reason: SessionState.Action.fixConfiguration.rawValue)
    case .authenticated: .sendable(under: outboxUser)
    case .unauthenticated(let signedOut): .blocked(reason: signedOut ? OutboxPermission.signedOut : "neverSignedIn")
    case .hydrating, .locked, .reauthRequired: .blocked(reason: state.name)
    }
  }

  /// The user who owns the account's new items. If the provider did not name the user, this is an unnamed user until
  /// the account is signed out.
  package var outboxUser: Subject? {
    switch state {
    case .authenticated, .locked, .reauthRequired: subject ?? .unnamed
    case .hydrating, .unauthenticated: subject
    }
  }
}
