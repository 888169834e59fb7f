/// The failures of sessions, sign-ins and imports. `SessionState.message` has the sentences for states.
extension Failure {
  // MARK: - The session provides no token

  /// Creates the failure for a state in which the session provides no token. `status` is the status of the session.
  package static func state(_ state: SessionState, _ status: SessionStatus) -> Failure {
    let account = status.account
    // Prefer the status's message, because it may contain details that the state does not, such as the credential's
    // path.
    var message = status.state == state ? status.message : state.message(for: account)
    if case .reauthRequired = state, status.state == .authenticated {
      message = "The token cannot be refreshed. \(SessionState.Action.signIn.advice(account))"
    }
    let kind: Kind
    switch state {
    case .unauthenticated: kind = .unauthenticated
    case .reauthRequired: kind = .reauthRequired
    case .locked, .hydrating: kind = .locked
    case .authenticated:
      return Failure(.internalError, "\(account)'s session changed during the call. Try again.")
    }
    return Failure(kind, message, account: account, action: state.action)
  }

  // MARK: - A sign-in ends early

  package static func signInCancelled(_ account: AccountName) -> Failure {
    Failure(.signInFailed, "The sign-in was cancelled.", account: account)
  }

  /// Another sign-in for the same account has started.
  package static func signInReplaced(_ account: AccountName) -> Failure {
    Failure(.signInFailed, "This sign-in was replaced by a newer one for \(account).", account: account)
  }

  package static func signedOutMeanwhile(_ account: AccountName) -> Failure {
    Failure(.signInFailed, "You signed out of \(account) during the sign-in.", account: account)
  }

  /// The account was removed, or its provider or client was changed.
  package static func reconfigured(_ account: AccountName) -> Failure {
    Failure(.signInFailed, "\(account)'s configuration changed during the sign-in.", account: account)
  }

  /// A sign-in or an import was overtaken.
  package static func superseded(_ account: AccountName) -> Failure {
    Failure(
      .signInFailed,
      "This sign-in was discarded, because another sign-in, a sign-out or another program replaced the session first.",
      account: account)
  }

  /// `silence` is a sentence that says why the last poll got no response, or `nil` if it got one.
  package static func signInTimedOut(_ account: AccountName, unanswered silence: String?) -> Failure {
    let unconfirmed = silence.map { " before Hearth could confirm it with the provider (\($0.withoutStop))" } ?? ""
    let advice = SessionState.Action.signIn.advice(account, "to try again")
    return Failure(.signInExpired, "The sign-in timed out\(unconfirmed). \(advice)", account: account)
  }

  /// A browser's request came too late.
  static func signInOver(_ account: AccountName) -> Failure {
    Failure(.unknownSignIn, "The sign-in is over.", account: account)
  }

  // MARK: - The provider issues no grant

  package init(_ failure: SignInFailure, _ account: AccountName) {
    switch failure {
    case .notSupported(let message): self.init(.flowNotSupported, message, account: account)
    case .unavailable(let message, let retryAfter):
      self.init(.refreshUnavailable, message, account: account, retryAfter: retryAfter)
    case .denied(let message): self.init(.signInDenied, message, account: account)
    case .expired(let message): self.init(.signInExpired, message, account: account)
    case .failed(let message), .unusable(_, let message): self.init(.signInFailed, message, account: account)
    case .refresh(let failure): self.init(failure, account)
    }
  }

  init(_ failure: RefreshFailure, _ account: AccountName) {
    switch failure {
    case .rejected(_, let message): self.init(.signInFailed, message, account: account)
    case .misconfigured(let message):
      self.init(.refreshUnavailable, message, account: account, action: .fixConfiguration)
    case .unavailable(let message, let retryAfter), .unclear(let message, let retryAfter):
      self.init(.refreshUnavailable, message, account: account, retryAfter: retryAfter)
    case .unanswered(let message), .unreachable(let message):
      self.init(.refreshUnavailable, message, account: account)
    }
  }

  // MARK: - The credential cannot be read or written

  package init(_ accessFailure: AccessFailure, _ account: AccountName) {
    switch accessFailure.kind {
    case .passphraseRequired: self = .passphraseNeeded(account, "to set or enter it")
    case .keyUnavailable, .permissionDenied, .volumeUnavailable:
      let state = SessionState.locked(.accessFailure(accessFailure))
      self.init(.locked, state.message(for: account), account: account, action: state.action)
    case .storageError:
      self.init(
        .storageUnavailable, "Hearth cannot read or write the credential: \(accessFailure.detail).", account: account)
    }
  }

  /// A new grant cannot be stored, which does not lock the session.
  static func unwritable(_ accessFailure: AccessFailure, _ account: AccountName) -> Failure {
    switch accessFailure.kind {
    case .passphraseRequired, .storageError: Failure(accessFailure, account)
    case .keyUnavailable, .permissionDenied, .volumeUnavailable:
      Failure(
        .storageUnavailable,
        "The credential file cannot be written (\(accessFailure.detail)), so Hearth did not request a token. Fix this, "
          + "then try again.", account: account)
    }
  }

  /// A restart would remove the user's lock.
  package static func forgettableLock(_ accessFailure: AccessFailure, _ account: AccountName) -> Failure {
    Failure(
      .storageUnavailable,
      "\(account) is locked, but only until Hearth restarts, because Hearth cannot save the lock "
        + "(\(accessFailure.detail)). Hearth will retry.", account: account)
  }

  // MARK: - The passphrase

  /// `purpose` is the end of the sentence that names the command.
  package static func passphraseNeeded(_ account: AccountName, _ purpose: String) -> Failure {
    let advice = SessionState.Action.unlock.advice(account, purpose)
    return Failure(.passphraseNeeded, "\(account) needs its passphrase. \(advice)", account: account, action: .unlock)
  }

  package static func wrongPassphrase(_ account: AccountName) -> Failure {
    Failure(.wrongPassphrase, "The passphrase is wrong.", account: account, action: .unlock)
  }

  /// Too many wrong passphrases were entered. Try again after `wait`.
  package static func tooManyPassphrases(_ account: AccountName, _ wait: Duration) -> Failure {
    Failure(
      .wrongPassphrase,
      "There were too many wrong passphrases, so Hearth did not check this one. Try again in "
        + "\(wait.roundedUpSeconds) s.", account: account, action: .unlock, retryAfter: wait)
  }
}
