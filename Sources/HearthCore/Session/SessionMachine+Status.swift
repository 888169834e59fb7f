/// The status that clients see.
extension SessionMachine {
  package func snapshot(at now: Timestamp) -> SessionStatus {
    let state = state(at: now)
    let visible = state == .authenticated ? active : nil
    let mismatch = visible.flatMap { settings.binding?.mismatch(of: $0.credential) }
    let stray = visible.flatMap { settings.binding?.strayEndpoint(of: $0.credential) }
    let trouble = state == .authenticated ? refreshes.history.trouble : nil
    let isUnsealed = visible?.isStored == false && file.write.lastFailure?.kind == .passphraseRequired
    let advice: SessionState.Action? =
      if mismatch != nil || trouble?.kind == .misconfigured {
        .fixConfiguration
      } else if isUnsealed || trouble?.kind == .passphraseNeeded
        || visible?.accessFailure?.kind == .passphraseRequired
      {
        .unlock
      } else if state == .authenticated, let advisedAt = signInAdvisedAt, advisedAt <= now {
        .signIn
      } else if stray != nil {
        .fixConfiguration
      } else {
        state.action
      }
    let accessFailure = credentialState.accessFailure
    return SessionStatus(
      account: account, subject: subject, formerSubject: user.former(at: settings.binding?.origin),
      issuer: settings.issuer, username: settings.username, state: state,
      message: state.message(for: account, detail: detail(trouble, mismatch, stray, isUnsealed: isUnsealed, advice)),
      action: advice, since: published.since, isForeign: mismatch != nil,
      isLocked: !locks.isEmpty, token: visible.map { tokenLife($0) },
      isRefreshing: isRefreshing, history: refreshes.history,
      nextAttemptAt: state == .authenticated ? plannedRequest(at: now).map { Swift.max($0, now) } : nil,
      // A file that requires its passphrase counts as readable.
      isReadable: credentialState != .notHeld(.unread) && [nil, .passphraseRequired].contains(accessFailure?.kind),
      isWritePending: isWritePending,
      credentialError: (accessFailure ?? file.write.lastFailure ?? locks.note.lastFailure)?.detail,
      signIn: shownSignIn)
  }

  /// Whether the grant in memory is not on disk because its write failed or has to wait for a read.
  private var isWritePending: Bool {
    guard let active, !active.isStored else { return false }
    return file.write.failures > 0 || !file.write.isUnderWay
  }

  private var isRefreshing: Bool {
    switch credentialState {
    case .active(let active): active.phase.isInFlight || active.phase.isStoring
    case .starting(let isInFlight): isInFlight
    case .notHeld, .adopting, .ending, .ended, .absent: false
    }
  }

  /// Returns the details for the status message: why the session ended, or why the token cannot be refreshed and what
  /// to do.
  private func detail(
    _ trouble: RefreshTrouble?, _ mismatch: String?, _ stray: String?, isUnsealed: Bool, _ advice: SessionState.Action?
  ) -> String? {
    switch credentialState {
    case .ended(let record): return record.detail
    case .ending(let record, _): return endFailure ?? record.detail
    case .starting: return "No token yet: " + whyNoToken(trouble, advice)
    case .notHeld, .active, .adopting, .absent: break
    }
    if isUnsealed, advice == .unlock {
      return "Signed in, but Hearth cannot seal or refresh the credential without the passphrase. "
        + SessionState.Action.unlock.advice(account)
    }
    guard trouble != nil || mismatch != nil || stray != nil || advice == .signIn || advice == .unlock else {
      return whyNotKept
    }
    let why = mismatch ?? refreshes.history.lastError ?? "no response"
    let signIn = SessionState.Action.signIn.advice(account)
    switch advice {
    case .unlock:
      let command = SessionState.Action.unlock.command(for: account)
      return "Signed in, but the token cannot be refreshed until you run \"\(command)\"."
    case .fixConfiguration where mismatch == nil && trouble?.kind != .misconfigured:
      return stray.map { "Signed in. " + $0 }
    case .fixConfiguration:
      return
        "Signed in, but the token cannot be refreshed until you fix the configuration or sign in again: \(why)"
    case .signIn where trouble?.kind == .otherUser: return "\(why) \(signIn)"
    case .signIn where active?.isRejected == true:
      return "An API rejected the token, and Hearth cannot refresh it. \(signIn)"
    case .signIn: return "The token has expired, and refreshing it keeps failing. \(signIn) Last error: \(why)"
    case .wait, nil: return "Signed in, but the last refresh failed, and Hearth will retry: \(why)"
    }
  }

  /// The time at which the session will end because the sign-in returned no refresh token, or `nil` if it will not
  /// end for this reason.
  var endWithoutRefreshToken: Timestamp? {
    guard let grant = active?.grant, grant.refreshToken == nil, !settings.renewsWithoutRefreshToken else { return nil }
    return grant.expiresAt
  }

  /// The message that explains the end without a refresh token and says what to do.
  private var whyNotKept: String? {
    guard endWithoutRefreshToken != nil else { return nil }
    let signIn = SessionState.Action.signIn.command(for: account)
    return
      "Signed in until the access token expires, because there is no refresh token. Allow refresh tokens for this "
      + "client at the provider, or request them with a scope (only oidc and oauth2, usually offline_access): "
      + "\"hearthctl account set \(account) --add scopes offline_access\". Then run \"\(signIn)\"."
  }

  /// Returns why the client's own first token has not arrived.
  private func whyNoToken(_ trouble: RefreshTrouble?, _ advice: SessionState.Action?) -> String {
    guard trouble != nil else { return "Hearth is requesting the first one." }
    let why = refreshes.history.lastError ?? "no response"
    switch advice {
    case .unlock: return "the passphrase is missing. \(SessionState.Action.unlock.advice(account))"
    case .fixConfiguration: return "the account's configuration is wrong: \(why)"
    case .signIn, .wait, nil: return "the request failed, and Hearth will retry: \(why)"
    }
  }

  private func tokenLife(_ active: ActiveGrant) -> SessionStatus.TokenLife {
    let grant = active.grant
    let margin = grant.lifetime.map { settings.refresh.margin(forLifetime: $0) }
    let isRenewable = isRenewable(active, at: grant.issuedAt) && !refreshes.isBarred
    let fingerprint = grant.bearer(settings.bearer).fingerprint
    return SessionStatus.TokenLife(
      fingerprint: fingerprint, lifetime: grant.expiresAt.map { $0 - grant.issuedAt },
      expiresAt: grant.expiresAt, refreshAt: isRenewable ? active.refreshAt : nil,
      refreshExpiresAt: settings.renewsWithoutRefreshToken ? nil : grant.refreshExpiresAt, isRenewable: isRenewable,
      isRejected: refreshes.isRejected(fingerprint),
      expiringFrom: grant.expiresAt.flatMap { expiresAt in margin.map { expiresAt - $0 } })
  }
}
