package import HearthControl
package import HearthCore

/// Converts session failures to protocol errors.
extension RPCError {
  package init(_ rejection: SessionRejection, _ status: SessionStatus) {
    let account = status.account
    switch rejection {
    case .state(let state): self = .state(state, status)
    case .refreshUnavailable(let message, let retryAfter):
      self = .unavailable(account, message, action: status.action, retryAfter)
    case .stopping: self = .shuttingDown
    case .superseded: self = .superseded(account)
    case .provider(let failure): self = .adoption(failure, account: account)
    case .storage(let accessFailure): self = .unwritable(accessFailure, status)
    case .signIn(let failure): self.init(failure, account: account)
    case .expired: self.init(.signInExpired, account: account, message: rejection.sentence(account))
    case .cancelled, .replaced, .signedOut, .reconfigured:
      self.init(.signInFailed, account: account, message: rejection.sentence(account))
    }
  }

  /// `retryAfter` is `nil` if the time of the next attempt is unknown.
  private static func unavailable(
    _ account: AccountName, _ message: String, action: SessionState.Action? = nil, _ retryAfter: Duration? = nil
  ) -> RPCError {
    RPCError(Failure(.refreshUnavailable, message, account: account, action: action, retryAfter: retryAfter))
  }

  private static func superseded(_ account: AccountName) -> RPCError {
    RPCError(
      .signInFailed, account: account,
      message:
        "This sign-in was discarded, because another sign-in, a sign-out or another program replaced the session first."
    )
  }

  /// Returns the error for a state in which the session has no token.
  static func state(_ state: SessionState, _ status: SessionStatus) -> RPCError {
    RPCError(Failure.state(state, status))
  }

  private init(_ failure: SignInFailure, account: AccountName) {
    switch failure {
    case .notSupported(let message): self.init(.flowNotSupported, account: account, message: message)
    case .unavailable(let message, let retryAfter): self = .unavailable(account, message, retryAfter)
    case .denied(let message): self.init(.signInDenied, account: account, message: message)
    case .expired(let message): self.init(.signInExpired, account: account, message: message)
    case .failed, .unusable: self.init(.signInFailed, account: account, message: failure.message)
    }
  }

  private static func adoption(_ failure: RefreshFailure, account: AccountName) -> RPCError {
    switch failure {
    case .unavailable(let message, let retryAfter), .unclear(let message, let retryAfter):
      unavailable(account, message, retryAfter)
    case .unanswered(let message), .unreachable(let message): unavailable(account, message)
    case .misconfigured(let message): unavailable(account, message, action: .fixConfiguration)
    case .rejected(_, let message):
      RPCError(.signInFailed, account: account, message: message)
    }
  }

  /// Returns the error for a new grant that cannot be stored. This failure does not lock the session.
  private static func unwritable(_ accessFailure: AccessFailure, _ status: SessionStatus) -> RPCError {
    switch accessFailure.kind {
    case .passphraseRequired, .storageError: break
    case .keyUnavailable, .permissionDenied, .volumeUnavailable:
      if case .locked = status.state { break }
      return RPCError(
        .storageUnavailable, account: status.account,
        message: "The credential file cannot be written (\(accessFailure.detail)), so Hearth did not request a token. "
          + "Fix this, then try again.")
    }
    return storage(accessFailure, status)
  }

  /// Returns the error for a credential that cannot be read or written.
  static func storage(_ accessFailure: AccessFailure, _ status: SessionStatus) -> RPCError {
    let account = status.account
    switch accessFailure.kind {
    case .passphraseRequired:
      return .passphraseNeeded(
        account, message: "\(account) needs its passphrase. Run \"hearthctl unlock \(account)\" to set or enter it.")
    case .keyUnavailable, .permissionDenied, .volumeUnavailable:
      return .state(.locked(.accessFailure(accessFailure)), status)
    case .storageError:
      return RPCError(
        .storageUnavailable, account: account,
        message: "Hearth cannot read or write the credential: \(accessFailure.detail).")
    }
  }

  /// Returns the error for a lock that a restart would remove.
  static func forgettableLock(_ failure: AccessFailure, of account: AccountName) -> RPCError {
    RPCError(
      .storageUnavailable, account: account,
      message: "\(account) is locked, but only until Hearth restarts, because Hearth cannot save the lock "
        + "(\(failure.detail)). Hearth will retry.")
  }

  init(_ failure: UnlockFailure, _ status: SessionStatus) {
    let account = status.account
    switch failure {
    case .wrongPassphrase: self = .wrongPassphrase(account, message: "The passphrase is wrong.")
    case .tooSoon(let wait):
      let seconds = wait.roundedUpSeconds
      self = .wrongPassphrase(
        account,
        message: "There were too many wrong passphrases, so Hearth did not check this one. Try again in \(seconds) s.",
        retryAfterSeconds: seconds)
    case .unavailable(let accessFailure): self = .storage(accessFailure, status)
    case .notSealed:
      self = .invalidParams("\(account)'s credential is not protected by a passphrase.")
    }
  }
}
