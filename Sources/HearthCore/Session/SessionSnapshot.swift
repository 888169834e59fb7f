/// A session at one moment, without its secrets: what every client is shown.
package struct SessionSnapshot: Hashable, Sendable {
  package let account: AccountName
  package let subject: Subject?
  /// The same user, by the issuer that was or would have been assumed; nil where the provider has told none, or it is the
  /// same.
  package let formerSubject: Subject?
  package let state: SessionState
  package let message: String
  package let action: SessionState.Action?
  package let since: Timestamp
  /// The grant came from elsewhere than the configuration names: it is sent nowhere.
  package let isForeign: Bool
  package let token: TokenLife?
  package let isRefreshing: Bool
  package let history: RefreshHistory
  package let nextAttemptAt: Timestamp?
  package let isReadable: Bool
  package let isWritePending: Bool
  package let credentialError: String?

  /// The life of the token that is held.
  package struct TokenLife: Hashable, Sendable {
    package let fingerprint: Fingerprint
    package let issuedAt: Timestamp
    package let expiresAt: Timestamp?
    package let refreshAt: Timestamp?
    package let refreshExpiresAt: Timestamp?
    package let isRenewable: Bool
    /// From here on the token counts as expiring.
    package let expiringFrom: Timestamp?

    package enum Health: String, Sendable {
      case fresh, expiring, expired
    }

    package func health(at now: Timestamp) -> Health {
      if let expiresAt, expiresAt <= now { return .expired }
      return expiringFrom.map { $0 <= now } ?? false ? .expiring : .fresh
    }
  }
}

extension SessionMachine {
  package func snapshot(at now: Timestamp) -> SessionSnapshot {
    let state = state(at: now)
    let held: HeldGrant? = if case .held(let held) = knowledge, state == .authenticated { held } else { nil }
    let foreign = held.flatMap { settings.home?.refusal(of: $0.credential) }
    let trouble = state == .authenticated ? history.trouble : nil
    let isUnsealed = held?.isStored == false && writing.lastObstacle?.kind == .passphraseRequired
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
    let obstacle: Obstacle?
    switch knowledge {
    case .unreadable(let found): obstacle = found
    case .held(let held): obstacle = held.obstacle
    case .unread, .withheld, .starting, .adopting, .absent, .ending, .ended: obstacle = nil
    }
    let isWritePending: Bool =
      if case .held(let held) = knowledge { !held.isStored && writing.failures > 0 } else { false }
    return SessionSnapshot(
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
      isReadable: (obstacle == nil || obstacle?.kind == .passphraseRequired) && knowledge != .unread,
      isWritePending: isWritePending,
      credentialError: (obstacle ?? writing.lastObstacle ?? noting.lastObstacle)?.detail)
  }

  private var formerSubject: Subject? {
    guard let subject, !subject.isIssuerAssumed, let origin = settings.home?.origin else { return nil }
    let former = Subject(issuer: origin.description, id: subject.id, isIssuerAssumed: true)
    return former == subject ? nil : former
  }

  private var isRefreshing: Bool {
    switch knowledge {
    case .held(let held): held.phase.isInFlight || held.phase.isStoring
    case .starting(let isInFlight): isInFlight
    case .unread, .withheld, .unreadable, .adopting, .ending, .ended, .absent: false
    }
  }

  /// What is to be said beyond the state: why a session ended, or why it cannot be refreshed and what helps.
  private func detail(
    _ trouble: RefreshTrouble?, foreign: String?, isUnsealed: Bool, _ advice: SessionState.Action?
  ) -> String? {
    switch knowledge {
    case .ended(let record): return record.detail
    case .ending(let record, _): return endObstacle ?? record.detail
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

  private func tokenLife(_ held: HeldGrant) -> SessionSnapshot.TokenLife {
    let grant = held.grant
    let margin = grant.lifetime.map { settings.refresh.margin(forLifetime: $0) }
    let isRenewable = isRenewable(grant, at: grant.issuedAt)
    return SessionSnapshot.TokenLife(
      fingerprint: grant.bearer(settings.bearer).fingerprint, issuedAt: grant.issuedAt, expiresAt: grant.expiresAt,
      refreshAt: isRenewable ? held.refreshAt : nil, refreshExpiresAt: grant.refreshExpiresAt, isRenewable: isRenewable,
      expiringFrom: grant.expiresAt.flatMap { expiresAt in margin.map { expiresAt - $0 } })
  }
}
