/// What every client is told of the session.
extension SessionMachine {
  package func snapshot(at now: Timestamp) -> SessionStatus {
    let state = state(at: now)
    let held: HeldGrant? = if case .held(let held) = credentialState, state == .authenticated { held } else { nil }
    let foreign = held.flatMap { settings.binding?.refusal(of: $0.credential) }
    let trouble = state == .authenticated ? history.trouble : nil
    let isUnsealed = held?.isStored == false && writing.lastFailure?.kind == .passphraseRequired
    let advice: SessionState.Action? =
      if foreign != nil || trouble?.isMisconfigured == true {
        .fixConfiguration
      } else if isUnsealed || trouble?.kind == .passphraseNeeded {
        .unlock
      } else if state == .authenticated, let advisedAt = signInAdvisedAt, advisedAt <= now {
        .signIn
      } else {
        state.action
      }
    let accessFailure: AccessFailure?
    switch credentialState {
    case .unreadable(let found): accessFailure = found
    case .held(let held): accessFailure = held.accessFailure
    case .unread, .withheld, .starting, .adopting, .absent, .ending, .ended: accessFailure = nil
    }
    let isWritePending: Bool =
      if case .held(let held) = credentialState { !held.isStored && writing.failures > 0 } else { false }
    return SessionStatus(
      account: account, subject: subject, formerSubject: formerSubject, state: state,
      message: state.message(for: account, detail: detail(trouble, foreign: foreign, isUnsealed: isUnsealed, advice)),
      action: advice,
      since: since,
      isForeign: foreign != nil,
      token: held.map { tokenLife($0) },
      isRefreshing: isRefreshing,
      history: history,
      nextAttemptAt: state == .authenticated ? plannedRequest(at: now).map { Swift.max($0, now) } : nil,
      // A file that waits for its passphrase was read.
      isReadable: (accessFailure == nil || accessFailure?.kind == .passphraseRequired) && credentialState != .unread,
      isWritePending: isWritePending,
      credentialError: (accessFailure ?? writing.lastFailure ?? noting.lastFailure)?.detail)
  }

  private var formerSubject: Subject? {
    guard let subject, !subject.isIssuerAssumed, let origin = settings.binding?.origin else { return nil }
    let former = Subject(issuer: origin.description, id: subject.id, isIssuerAssumed: true)
    return former == subject ? nil : former
  }

  private var isRefreshing: Bool {
    switch credentialState {
    case .held(let held): held.phase.isInFlight || held.phase.isStoring
    case .starting(let isInFlight): isInFlight
    case .unread, .withheld, .unreadable, .adopting, .ending, .ended, .absent: false
    }
  }

  /// What is to be said beyond the state: why a session ended, or why it cannot be refreshed and what helps.
  private func detail(
    _ trouble: RefreshTrouble?, foreign: String?, isUnsealed: Bool, _ advice: SessionState.Action?
  ) -> String? {
    switch credentialState {
    case .ended(let record): return record.detail
    case .ending(let record, _): return endFailure ?? record.detail
    case .starting where trouble == nil: return "The first token is being asked for."
    case .unread, .withheld, .unreadable, .starting, .adopting, .absent, .held: break
    }
    if isUnsealed, advice == .unlock {
      return "Signed in; the credential is neither sealed nor refreshed before its passphrase is entered. "
        + "Run \"hearthctl unlock \(account)\"."
    }
    guard trouble != nil || foreign != nil else { return nil }
    let why = foreign ?? history.lastError ?? "no answer"
    switch advice {
    case .unlock: return "Signed in; refreshing waits for the passphrase. Run \"hearthctl unlock \(account)\"."
    case .fixConfiguration:
      return
        "Signed in, but the token cannot be refreshed until the configuration is mended or you sign in again: \(why)"
    case .signIn:
      return
        "The token has run out and the provider goes on giving no new one. Run \"hearthctl login \(account)\": \(why)"
    case .wait, nil: return "Signed in; refreshing fails for now and is tried again: \(why)"
    }
  }

  private func tokenLife(_ held: HeldGrant) -> SessionStatus.TokenLife {
    let grant = held.grant
    let margin = grant.lifetime.map { settings.refresh.margin(forLifetime: $0) }
    let isRenewable = isRenewable(grant, at: grant.issuedAt)
    return SessionStatus.TokenLife(
      fingerprint: grant.bearer(settings.bearer).fingerprint, lifetime: grant.expiresAt.map { $0 - grant.issuedAt },
      expiresAt: grant.expiresAt,
      refreshAt: isRenewable ? held.refreshAt : nil, refreshExpiresAt: grant.refreshExpiresAt, isRenewable: isRenewable,
      expiringFrom: grant.expiresAt.flatMap { expiresAt in margin.map { expiresAt - $0 } })
  }
}
