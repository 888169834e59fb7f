/// A session at one moment, without its secrets: what every client is shown.
package struct SessionSnapshot: Hashable, Sendable {
  package let account: AccountName
  package let subject: Subject?
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
    let isMisconfigured = held != nil && (history.lastOutcome == .misconfigured || foreign != nil)
    let isUnsealed = held?.isStored == false && writing.lastObstacle?.kind == .passphraseRequired
    let needsPassphrase = isUnsealed || held != nil && history.needsPassphrase
    let obstacle: Obstacle?
    switch knowledge {
    case .unreadable(let found): obstacle = found
    case .held(let held): obstacle = held.obstacle
    case .unread, .withheld, .absent, .ending, .ended: obstacle = nil
    }
    let isWritePending: Bool =
      if case .held(let held) = knowledge { !held.isStored && writing.failures > 0 } else { false }
    return SessionSnapshot(
      account: account, subject: subject, state: state,
      message: state.message(for: account, detail: detail(held, foreign, isMisconfigured: isMisconfigured)),
      action: isMisconfigured ? .fixConfiguration : needsPassphrase ? .unlock : state.action,
      since: since,
      isForeign: foreign != nil,
      token: held.flatMap { $0.isEmpty ? nil : tokenLife($0) },
      isRefreshing: held.map { $0.phase == .inFlight || $0.phase.isStoring } ?? false,
      history: history,
      nextAttemptAt: held.flatMap { canRefresh($0, at: now) ? plannedRefresh($0) : nil }.map { Swift.max($0, now) },
      // A file that waits for its passphrase was read.
      isReadable: (obstacle == nil || obstacle?.kind == .passphraseRequired) && knowledge != .unread,
      isWritePending: isWritePending,
      credentialError: (obstacle ?? writing.lastObstacle ?? noting.lastObstacle)?.detail)
  }

  private func detail(_ held: HeldGrant?, _ foreign: String?, isMisconfigured: Bool) -> String? {
    switch knowledge {
    case .ended(let record): return record.detail
    case .ending(let record, _): return endObstacle ?? record.detail
    case .unread, .withheld, .unreadable, .absent, .held: break
    }
    guard let held else { return nil }
    if !held.isStored, writing.lastObstacle?.kind == .passphraseRequired {
      return "Signed in; the credential is neither sealed nor refreshed before its passphrase is entered. "
        + "Run \"hearthctl unlock \(account)\"."
    }
    guard history.failures > 0 || foreign != nil else {
      return held.isEmpty ? "The first token is being asked for." : nil
    }
    let why = foreign ?? history.lastError ?? "no answer"
    if history.needsPassphrase {
      return "Signed in; refreshing waits for the passphrase. Run \"hearthctl unlock \(account)\"."
    }
    return isMisconfigured
      ? "Signed in, but the token cannot be refreshed until the configuration is mended or you sign in again: \(why)"
      : "Signed in; refreshing fails for now and is tried again: \(why)"
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
