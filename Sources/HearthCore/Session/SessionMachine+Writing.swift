/// Writes grants. The grant of a sign-in or a refresh becomes visible once its write has succeeded or failed.
extension SessionMachine {
  /// Writes the grant of a sign-in, an import or the client's own first request. Until the write has ended, clients
  /// see the previous state, or a new lock.
  mutating func adopt(
    _ credential: Credential, _ timing: GrantTiming = .counted, unlocks: Bool, isFresh: Bool, at now: Timestamp
  ) -> [SessionAction] {
    let shown = state(at: now)
    leaveSignIn()
    credentialState = .adopting(
      Adoption(credential: credential, timing: timing, unlocks: unlocks, isFresh: isFresh, shownAs: shown))
    return write(credential)
  }

  mutating func write(_ credential: Credential) -> [SessionAction] {
    file.beginWrite(credential, generation: epoch.generation)
  }

  /// Writes what is due, unless a read is in progress, which may find another program's grant.
  mutating func writeWhereDue(at now: Timestamp) -> [SessionAction] {
    file.read.isUnderWay ? [] : writeUnstored(at: now)
  }

  /// Writes a grant or an end that is only in memory.
  mutating func writeUnstored(at now: Timestamp) -> [SessionAction] {
    guard file.storeChange != .due, file.write.mayBegin(at: now) else { return [] }
    switch credentialState {
    case .ending(let record, _): return file.write.failures > 0 ? file.beginEnd(record) : []
    case .active(let active):
      guard active.phase == .idle, !active.isStored, active.accessFailure == nil else { return [] }
      return write(active.stored)
    case .notHeld, .starting, .adopting, .ended, .absent: return []
    }
  }

  mutating func written(
    _ result: Result<Void, AccessFailure>, generation written: Int, at now: Timestamp
  ) -> [SessionAction] {
    file.write.end()
    guard written == epoch.generation else { return [] }
    switch credentialState {
    case .active, .adopting: break
    case .notHeld, .starting, .ending, .ended, .absent: return []
    }
    let isStored = file.grantWritten(result, at: now, &random)
    var actions: [SessionAction] = []
    if case .adopting(let adoption) = credentialState {
      actions += signedIn(adoption, isStored: isStored, at: now)
    } else if let active, case .storing(let credential, let error) = active.phase {
      actions += refreshed(active, to: credential, error: error, isStored: isStored, at: now)
    } else {
      active?.isStored = isStored
    }
    switch result {
    case .success: if let active { file.noteContent(GrantMarks(active.grant)) }
    case .failure(let accessFailure):
      if file.write.failures == 1 { actions.append(.publish(.credentialPendingWrite(accessFailure))) }
    }
    return actions
  }

  /// The version that the next write replaces.
  package var storedVersion: StoredVersion {
    switch credentialState {
    case .adopting: .any
    case .active, .starting, .notHeld, .ending, .ended, .absent: .grant(file.onDisk)
    }
  }

  /// Handles a write that was refused because another program's grant is in the file. The session reads and uses that
  /// grant instead.
  mutating func superseded(generation written: Int) {
    file.write.end()
    if written == epoch.generation { file.supersede() }
  }

  private mutating func signedIn(_ adoption: Adoption, isStored: Bool, at now: Timestamp) -> [SessionAction] {
    let credential = adoption.credential
    if adoption.isFresh {
      refreshes.succeeded(at: now)
      calls.finishRefreshes(.succeeded)
    } else {
      refreshes.restart()
    }
    refreshes.liftBar(of: credential.grant.accessToken.fingerprint)
    activate(ActiveGrant(credential: credential, isStored: isStored, timing: adoption.timing), at: now)
    user.becomes(credential.subject ?? settings.configuredSubject)
    var actions: [SessionAction] = []
    if adoption.unlocks { actions += locks.remove(.user) }
    actions.append(.publish(.signedIn(subject)))
    if let end = endWithoutRefreshToken, now < end { actions.append(.publish(.expiring(at: end, final: true))) }
    if subject == nil { actions.append(identify(credential)) }
    calls.finish(.adoption)
    return actions
  }
}
