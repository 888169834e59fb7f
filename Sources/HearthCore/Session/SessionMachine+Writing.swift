/// What is written: sign-ins and refreshed grants, which are seen once they are on disk, and that a session ends.
extension SessionMachine {
  /// Ends the session: the record is on its way to the disk, and told when it is there.
  mutating func end(
    _ reason: EndReason, detail: String? = nil, at now: Timestamp
  ) -> [SessionAction] {
    let record = EndRecord(reason: reason, at: now, fingerprint: mark(of: reason), detail: detail)
    request?.isAbandoned = true
    refusal = nil
    writing.succeeded()
    credentialState = .ending(record, shownAs: state(at: now))
    return writeDown(record)
  }

  /// The token that was refused; nil where none was, so that a credential that comes back is welcome.
  private func mark(of reason: EndReason) -> Fingerprint? {
    guard case .held(let held) = credentialState else { return nil }
    switch reason {
    case .refreshTokenRejected, .accountDisabled: return (held.grant.refreshToken ?? held.grant.accessToken).fingerprint
    case .rejectedByServer: return held.grant.bearer(settings.bearer).fingerprint
    case .refreshTokenExpired, .noRefreshToken: return held.grant.accessToken.fingerprint
    case .signedOut, .credentialMissing, .credentialCorrupt, .credentialTooNew: return nil
    }
  }

  mutating func written(
    _ result: Result<Void, AccessFailure>, generation written: Int, at now: Timestamp
  ) -> [SessionAction] {
    writing.underWay -= 1
    guard written == epoch.generation else { return [] }
    switch credentialState {
    case .held, .adopting: break
    case .unread, .withheld, .unreadable, .starting, .ending, .ended, .absent: return []
    }
    let hasLanded: Bool
    switch result {
    case .success:
      writing.succeeded()
      hasLanded = true
    case .failure(let accessFailure):
      writing.failed(accessFailure, at: now, share: random.share())
      hasLanded = false
    }
    let isStored = hasLanded && !writing.isOvertaken
    var actions: [SessionAction] = []
    if case .adopting(let adoption) = credentialState {
      actions += signedIn(adoption, isStored: isStored, at: now)
    } else if case .held(var held) = credentialState {
      if case .storing(let credential, let flaw) = held.phase {
        actions += refreshed(credential, flaw: flaw, isStored: isStored, at: now)
      } else {
        held.isStored = isStored
        credentialState = .held(held)
      }
    }
    if hasLanded, case .held(let held) = credentialState { onDisk = GrantMarks(held.grant) }
    if case .failure(let accessFailure) = result, writing.failures == 1 {
      actions.append(.announce(.credentialPendingWrite(accessFailure)))
    }
    return actions
  }

  private mutating func signedIn(_ adoption: Adoption, isStored: Bool, at now: Timestamp) -> [SessionAction] {
    let credential = adoption.credential
    history = RefreshHistory(lastAttemptAt: history.lastAttemptAt)
    if adoption.isFresh {
      history.lastAt = now
      history.lastOutcome = .success
      finishRefreshCalls(.succeeded)
    }
    hold(credential, isStored: isStored)
    if let origin = credential.origin { settings.binding?.settle(at: origin) }
    updateHeld { held, _ in held.isTimedHere = true }
    subject = credential.subject ?? settings.configuredSubject
    var actions: [SessionAction] = []
    if adoption.unlocks { actions += takeUsersLockAway() }
    actions.append(.announce(.signedIn(subject)))
    if subject == nil { actions.append(.identify(credential, generation: epoch.generation)) }
    for index in calls.indices where calls[index].kind == .adoption { calls[index].outcome = .succeeded }
    return actions
  }
}
