/// Makes every decision about one account's session, by turning inputs and the time into actions.
///
/// The extensions `+Reading`, `+Refresh`, `+Writing`, `+Ending`, `+SignIn` and `+Import` follow a session's
/// life. `+Calls` handles calls, `+Configured` a reload, and `+State` and `+Status` derive what clients see. `nextWake`
/// derives the next timer from the state, so no timer is stored.
package struct SessionMachine: Sendable {
  package let account: AccountName
  package internal(set) var settings: SessionSettings
  package internal(set) var credentialState = CredentialState.notHeld(.unread)
  package internal(set) var locks = SessionLocks()
  var file = FileAccess()
  var refreshes = RefreshCycle()
  var calls = WaitingCalls()
  /// The grants of imports and sign-ins that are not written yet.
  var incoming: [CallID: IncomingGrant] = [:]
  private(set) var published: PublishedState
  var user = SessionUser()
  /// Identifies the current sign-in. Results of requests from an earlier generation are dropped.
  package internal(set) var epoch = SessionEpoch()
  private(set) var isStopping = false
  private(set) var recalled = RecalledGrant()
  var signIns: [CallID: SignIn] = [:]
  var random: SeededGenerator

  package init(account: AccountName, settings: SessionSettings, seed: UInt64, at now: Timestamp) {
    self.account = account
    self.settings = settings
    published = PublishedState(at: now)
    random = SeededGenerator(seed: seed)
  }

  /// Applies an input, then does what the new state requires. The order matters, because a step may enable the next.
  package mutating func handle(_ input: SessionInput, at now: Timestamp) -> [SessionAction] {
    var actions = apply(input, at: now)
    actions += replaceStoreWhereDue()
    actions += wipeWhereLocked()
    actions += endWhereExpired(at: now)
    actions += readWhereDue(at: now)
    actions += writeWhereDue(at: now)
    actions += locks.rewriteNoteIfDue(at: now)
    actions += continueSignIns(at: now)
    actions += answerSuperseded()
    actions += answerCalls(at: now)
    actions += refreshWhereDue(at: now)
    actions += publishExpiry(at: now)
    actions += publishState(at: now)
    return closeSignIns(actions)
  }

  private mutating func apply(_ input: SessionInput, at now: Timestamp) -> [SessionAction] {
    switch input {
    case .started(let remembered): started(remembered, at: now)
    case .credentialHinted: file.read.request()
    case .credentialRead(let reading): return leave(reading.removed) + credentialRead(reading, at: now)
    case .credentialSetAside(let result, let why): return wasSetAside(result, why: why, at: now)
    case .identified(let generation, let provider, let subject, let origin, let origins):
      guard provider == epoch.provider else { return [] }
      return identified(subject, at: origin, endpoints: origins, generation: generation)

    case .refreshEnded(_, let outcome): return refreshEnded(outcome, at: now)
    case .credentialWritten(let generation, let result): return written(result, generation: generation, at: now)
    case .credentialSuperseded(let generation): superseded(generation: generation)

    case .endWritten(let result): return endWritten(result, at: now)
    case .removed(let result): return removed(result, at: now)

    case .roomMade(let id, let result): return roomMade(id, result, at: now)
    case .obtained(let id, let result): return obtained(id, result, at: now)
    case .completed(let id, let credential): return completed(id, credential, at: now)
    case .signInBegan(let id, let result): return began(id, result, at: now)
    case .signInInterrupted(let id, let why): return interrupt(id, why)

    case .called(let id, let call): return called(id, call, at: now)
    case .locked(let lock):
      guard settings.locks.contains(lock) else { return [] }
      if lock == .user {
        epoch.userLocked()
        if case .adopting(var adoption) = credentialState {
          adoption.unlocks = false
          credentialState = .adopting(adoption)
        }
      }
      return locks.add(lock)
    case .unlocked(let lock): return unlocked(lock, at: now)
    case .lockRemembered(let result): locks.noteWritten(result, at: now, &random)

    case .woke: break
    case .clockChanged(let step): clockMoved(by: step)
    case .networkReturned: refreshes.networkReturned()
    case .configured(let settings, let changed):
      let ended = changed.contains(.provider) ? endSignIns(.reconfigured(account)) : []
      return ended + configured(settings, changed, at: now)
    case .stopping: return endSignIns(.shuttingDown) + stopping()
    }
    return []
  }

  mutating func started(_ remembered: RememberedAccount, at now: Timestamp) {
    file.read.end()
    file.read.request()
    // A sign-out does not remove the lock, so restore it in every state.
    locks.restore(lockedByUser: remembered.lockedByUser)
    refreshes.restoreBar(remembered.barred)
    recalled.restore(remembered)
    switch credentialState {
    case .notHeld(.unread), .notHeld(.unreadable): break
    case .notHeld(.locked), .active, .starting, .adopting, .ending, .ended, .absent: return
    }
    user.becomes(remembered.subject ?? settings.configuredSubject)
    if let end = remembered.end, !isRecoverable(end.reason) {
      if end.reason == .signedOut { user.becomes(settings.configuredSubject) }
      credentialState = CredentialState(end)
      published.restore(end)
    }
  }

  /// Returns whether the client requests its own grant again after this end.
  func isRecoverable(_ end: EndReason) -> Bool {
    switch end {
    case .signedOut, .rejectedByServer, .credentialTooNew: false
    case .refreshTokenRejected, .refreshTokenExpired, .noRefreshToken, .accountDisabled, .credentialMissing,
      .credentialCorrupt:
      settings.renewsWithoutRefreshToken
    }
  }

  package var subject: Subject? { user.subject }

  /// The grant in memory, if there is one. Setting `nil` has no effect.
  var active: ActiveGrant? {
    get { if case .active(let active) = credentialState { active } else { nil } }
    set { if let newValue { credentialState = .active(newValue) } }
  }

  mutating func activate(_ next: ActiveGrant, at now: Timestamp) {
    let grant = next.grant
    // The same token remains rejected, even if a lock has wiped it in the meantime.
    let bearer = grant.bearer(settings.bearer).fingerprint
    if refreshes.apiRejection?.fingerprint != bearer { refreshes.forgetRejection() }
    let accessToken = grant.accessToken.fingerprint
    if refreshes.barred.contains(accessToken), !refreshes.isBarred {
      let why = "The provider returned a token for another user earlier, so Hearth does not refresh this grant."
      refreshes.bar(accessToken, why, at: now)
    }
    credentialState = .active(next)
    if recalled.rejected == bearer {
      if isRenewable(next, at: now) {
        refreshes.tokenRejected(APIRejection(bearer))
      } else {
        active?.isRejected = true
      }
    }
    recalled = RecalledGrant()
    let refreshAt = refreshTime(of: grant)
    active?.refreshAt = refreshAt
  }

  private mutating func wipeWhereLocked() -> [SessionAction] {
    guard !file.write.isUnderWay else { return [] }
    if case .starting(isInFlight: false) = credentialState, !locks.isEmpty { credentialState = .notHeld(.locked) }
    if let active {
      guard active.phase == .idle, file.holdsTokens(of: active) else { return [] }
      if let accessFailure = active.accessFailure, settings.locksWhenUnreadable {
        recalled.wipe(active)
        credentialState = .notHeld(.unreadable(accessFailure))
      } else if !locks.isEmpty {
        recalled.wipe(active)
        credentialState = .notHeld(.locked)
        file.read.cancelRetry()
      }
    }
    return locks.isEmpty || credentialState.isAdopting ? [] : file.wipeKey()
  }

  private mutating func unlocked(_ lock: Lock, at now: Timestamp) -> [SessionAction] {
    if lock == .user {
      if case .notHeld(.unreadable) = credentialState { file.read.request() }
      refreshes.passphraseMayHaveCome(at: now)
      if file.write.lastFailure?.kind == .passphraseRequired { file.write.retryNow() }
    }
    file.keyMayHaveCome()
    return locks.remove(lock)
  }

  private mutating func stopping() -> [SessionAction] {
    isStopping = true
    // Retry failed writes once more, because the process is about to exit and memory may hold the only copy.
    file.write.retryNow()
    locks.note.retryNow()
    guard let active else { return [] }
    if !active.isStored, active.accessFailure != nil { file.read.request() }
    // There is no time left to wait for a read in progress.
    if case .storing(let next, _) = active.phase, !file.write.isUnderWay { return write(next) }
    return []
  }

  private mutating func publishState(at now: Timestamp) -> [SessionAction] {
    let state = state(at: now)
    let advisesSignIn = state == .authenticated && signInAdvisedAt.map { $0 <= now } ?? false
    return published.publish(state, advisesSignIn: advisesSignIn, at: now)
  }

  /// Shifts all times after the clock was set, so that delays and timeouts keep their lengths.
  private mutating func clockMoved(by step: Duration) {
    guard step != .zero else { return }
    published.move(by: step)
    recalled.move(by: step)
    calls.move(by: step)
    file.move(by: step)
    locks.note.move(by: step)
    refreshes.move(by: step)
    active?.move(by: step)
    for id in incoming.keys { incoming[id]?.move(by: step) }
    for id in signIns.keys { signIns[id]?.move(by: step) }
    if case .adopting(var adoption) = credentialState {
      adoption.timing.move(&adoption.credential.grant, by: step)
      credentialState = .adopting(adoption)
    }
  }

  /// Starts a new generation, because the grant is being replaced or signed out. The results of its pending requests
  /// will be dropped.
  mutating func leaveSignIn() {
    epoch.grantReplaced()
    user.leave()
    refreshes.abandon()
  }

  /// Whether no operation is in progress whose result would be lost if the process exited.
  package var isAtRest: Bool {
    if file.write.isUnderWay || locks.note.isUnderWay || refreshes.request != .none || !incoming.isEmpty {
      return false
    }
    switch credentialState {
    case .notHeld, .starting, .ended, .absent: return true
    case .adopting: return false
    case .ending: return file.write.retryAt != nil
    case .active(let active):
      switch active.phase {
      case .inFlight, .storing, .confirming: return false
      case .idle:
        if active.isStored { return true }
        return !file.read.isUnderWay && (active.accessFailure != nil || file.write.retryAt != nil)
      }
    }
  }
}
