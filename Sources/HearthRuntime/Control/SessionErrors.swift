package import HearthControl
package import HearthCore

/// The contract's error for what a session cannot do.
extension RPCError {
  /// For a provider that did not say when to ask again, in seconds.
  private static let usualRetry = 5

  package init(_ refusal: SessionRejection, _ snapshot: SessionStatus) {
    let account = snapshot.account.description
    switch refusal {
    case .state(let state): self = .state(state, snapshot)
    case .refreshUnavailable(let message, let retryAfter):
      self = .refreshUnavailable(
        account: account, message: message, action: snapshot.action?.rawValue,
        retryAfterSeconds: retryAfter?.roundedUpSeconds ?? Self.usualRetry)
    case .stopping: self = .shuttingDown
    case .superseded: self = .superseded(account)
    case .needsSignIn: self = .state(.unauthenticated(signedOut: false), snapshot)
    }
  }

  private static func superseded(_ account: String) -> RPCError {
    .signInFailed(
      account: account,
      message: "Another sign-in, a sign-out or another program's grant came in between: this one was dropped.")
  }

  /// For a state in which there is no token to be had.
  static func state(_ state: SessionState, _ snapshot: SessionStatus) -> RPCError {
    let account = snapshot.account.description
    // The snapshot may know more than the state says, such as where the credential was.
    var message = snapshot.state == state ? snapshot.message : state.message(for: snapshot.account)
    if case .reauthRequired = state, snapshot.state == .authenticated {
      message = "The token cannot be renewed. Run \"hearthctl login \(account)\"."
    }
    let action = state.action?.rawValue
    return switch state {
    case .unauthenticated: .unauthenticated(account: account, message: message, action: action)
    case .reauthRequired: .reauthRequired(account: account, message: message, action: action)
    case .locked, .hydrating: .locked(account: account, message: message, action: action)
    case .authenticated: .internalError("The session of \(account) changed meanwhile; ask again.")
    }
  }

  init(_ failure: AdoptionFailure, _ snapshot: SessionStatus) {
    let account = snapshot.account.description
    switch failure {
    case .provider(let failure): self = .adoption(failure, account: account)
    case .storage(let accessFailure): self = .storage(accessFailure, snapshot)
    case .stopping: self = .shuttingDown
    case .superseded: self = .superseded(account)
    }
  }

  private static func adoption(_ failure: RefreshFailure, account: String) -> RPCError {
    switch failure {
    case .unavailable(let message, let retryAfter), .unclear(let message, let retryAfter):
      .refreshUnavailable(
        account: account, message: message, retryAfterSeconds: retryAfter?.roundedUpSeconds ?? Self.usualRetry)
    case .unanswered(let message), .unreachable(let message):
      .refreshUnavailable(account: account, message: message, retryAfterSeconds: usualRetry)
    case .misconfigured(let message):
      .refreshUnavailable(
        account: account, message: message, action: SessionState.Action.fixConfiguration.rawValue,
        retryAfterSeconds: usualRetry)
    case .rejected(_, let message):
      .signInFailed(account: account, message: "The provider refused the grant: \(message)")
    }
  }

  /// For a place that cannot be read or written.
  static func storage(_ accessFailure: AccessFailure, _ snapshot: SessionStatus) -> RPCError {
    let account = snapshot.account.description
    switch accessFailure.kind {
    case .passphraseRequired:
      return .passphraseNeeded(
        account: account, message: "Set or give the passphrase first: run \"hearthctl unlock \(account)\".")
    case .keyUnavailable, .permissionDenied, .volumeUnavailable:
      return .state(.locked(.accessFailure(accessFailure)), snapshot)
    case .storageError:
      return .storageUnavailable(account: account, message: "Nothing was stored: \(accessFailure.detail).")
    }
  }

  init(_ failure: UnlockFailure, _ snapshot: SessionStatus) {
    let account = snapshot.account.description
    switch failure {
    case .wrongPassphrase: self = .wrongPassphrase(account: account, message: "The passphrase is wrong.")
    case .tooSoon(let wait):
      let seconds = wait.roundedUpSeconds
      self = .wrongPassphrase(
        account: account, message: "Not tried, because too many passphrases were wrong; try again in \(seconds) s.",
        retryAfterSeconds: seconds)
    case .unavailable(let accessFailure): self = .storage(accessFailure, snapshot)
    case .notSealed:
      self = .invalidParams("The credential of \(account) is not protected by a passphrase.")
    }
  }
}

extension Duration {
  /// One second at least.
  fileprivate var roundedUpSeconds: Int { Swift.max(Int((wholeMilliseconds + 999) / 1000), 1) }
}
