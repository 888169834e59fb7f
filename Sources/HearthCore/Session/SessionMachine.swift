/// Decides everything about one account's session: events and the time in, actions out.
///
/// Each event is taken in (`+Credential`, `+Refresh`, `+Calls`), then `settle` does what the new state asks for: wipes,
/// ends, writes, refreshes, answers, announces. What is planned is derived from the state (`nextWake`), never kept.
package struct SessionMachine: Sendable {
  package let account: AccountName
  package internal(set) var settings: SessionSettings
  package internal(set) var credentialState = CredentialState.unread
  package internal(set) var locks: Set<Lock> = []
  /// Whose the session is; stays known while locked.
  package internal(set) var subject: Subject?
  package internal(set) var history = RefreshHistory()
  /// What a request of an earlier generation brings back is dropped.
  package internal(set) var epoch = SessionEpoch()
  package internal(set) var since: Timestamp

  var shown = SessionState.hydrating
  /// Clients have been told that signing in is all that is left to do.
  var isSignInAdvised = false
  /// The first look is for what is remembered, and begins with the session.
  var looking = ReadRetry(isReading: true)
  /// Until what is remembered has been read, nobody knows whether the user has locked: nothing else is looked at.
  package internal(set) var isStarted = false
  var writing = WriteRetry()
  /// Writing down whether the user has locked.
  var noting = WriteRetry()
  var calls: [WaitingCall] = []
  /// The marks of the grant that lies on disk, as far as is known.
  var onDisk: GrantMarks?
  /// What the API said of the token in use, where it refused it: a refresh is owed.
  var refusal: APIRejection?
  var request: RefreshRequest?
  /// The store was used since it was last told to forget its key.
  var mayHoldKey = false
  var isStopping = false
  var random: SeededGenerator

  package init(account: AccountName, settings: SessionSettings, seed: UInt64, at now: Timestamp) {
    self.account = account
    self.settings = settings
    self.since = now
    self.random = SeededGenerator(seed: seed)
  }

  package mutating func handle(_ event: SessionInput, at now: Timestamp) -> [SessionAction] {
    var actions = take(event, at: now)
    actions += settle(at: now)
    return actions
  }

  private mutating func take(_ event: SessionInput, at now: Timestamp) -> [SessionAction] {
    switch event {
    case .started(let remembered): return started(remembered)
    case .woke: return []
    case .clockChanged(let step):
      clockMoved(by: step)
      return []
    case .networkReturned: return networkReturned(at: now)
    case .settingsChanged(let refresh): return settingsChanged(refresh, at: now)
    case .stopping: return stopping()
    case .credentialHinted:
      looking.isWanted = true
      return []
    case .credentialRead(let reading): return credentialRead(reading, at: now)
    case .credentialWritten(let generation, let result): return written(result, generation: generation, at: now)
    case .credentialSetAside(let result, let why): return wasSetAside(result, why: why, at: now)
    case .endWritten(let result): return endWritten(result, at: now)
    case .removed(let result): return removed(result, at: now)
    case .lockRemembered(let result): return lockRemembered(result, at: now)
    case .refreshEnded(let generation, let outcome):
      return refreshEnded(outcome, generation: generation, at: now)
    case .identified(let generation, let subject, let origin):
      return identified(subject, at: origin, generation: generation)
    case .locked(let lock): return locked(lock)
    case .unlocked(let lock): return unlocked(lock)
    case .called(let id, let call): return called(id, call, at: now)
    }
  }

  private mutating func started(_ remembered: RememberedAccount) -> [SessionAction] {
    isStarted = true
    looking.isReading = false
    looking.isWanted = true
    // What is still to be noted is newer; a sign-out before this leaves the lock.
    if remembered.lockedByUser, !noting.isWriting, noting.failures == 0 { locks.insert(.user) }
    switch credentialState {
    case .unread, .unreadable: break
    case .withheld, .held, .starting, .adopting, .ending, .ended, .absent: return []
    }
    subject = remembered.subject ?? settings.configuredSubject
    if let end = remembered.end, !isOvercome(end.reason) {
      if end.reason == .signedOut { subject = settings.configuredSubject }
      credentialState = end.reason == .signedOut ? .absent(signedOut: true) : .ended(end)
      if shown == .hydrating {
        since = end.at
        shown = end.reason == .signedOut ? .unauthenticated(signedOut: true) : .reauthRequired(end.reason)
      }
    }
    if let unwritten = remembered.unwritten { takeOver(unwritten) }
    return []
  }

  /// An end that the client's own grant gets over by itself: it is asked for again.
  func isOvercome(_ end: EndReason) -> Bool {
    switch end {
    case .signedOut, .rejectedByServer, .credentialTooNew: false
    case .refreshTokenRejected, .refreshTokenExpired, .noRefreshToken, .accountDisabled, .credentialMissing,
      .credentialCorrupt:
      settings.renewsWithoutRefreshToken
    }
  }

  private mutating func locked(_ lock: Lock) -> [SessionAction] {
    if lock == .user { epoch.userLocks += 1 }
    guard locks.insert(lock).inserted, lock == .user else { return [] }
    return noteLock()
  }

  private mutating func unlocked(_ lock: Lock) -> [SessionAction] {
    if lock == .user, case .unreadable = credentialState { looking.isWanted = true }
    if lock == .user, history.trouble?.kind == .passphraseNeeded { history.trouble?.clearWait() }
    if lock == .user, writing.lastFailure?.kind == .passphraseRequired { writing.againAt = nil }
    // A passphrase may have come with it.
    mayHoldKey = true
    if lock == .user { return takeUsersLockAway() }
    locks.remove(lock)
    return []
  }

  /// Noted also where nobody knows yet whether there is one.
  mutating func takeUsersLockAway() -> [SessionAction] {
    locks.remove(.user) != nil || !isStarted ? noteLock() : []
  }

  private mutating func settingsChanged(_ refresh: RefreshSettings, at now: Timestamp) -> [SessionAction] {
    settings.refresh = refresh
    updateHeld { held, random in
      held.refreshAt = refresh.refreshTime(of: held.grant, share: random.share())
    }
    if history.trouble?.isMisconfigured == true { history.trouble?.clearWait() }
    return []
  }

  /// Addresses and routes come and go all day: each step of the back-off is cut short once, and only where no
  /// connection could be made. What a provider asks to wait is waited.
  private mutating func networkReturned(at now: Timestamp) -> [SessionAction] {
    guard var trouble = history.trouble, trouble.kind == .unreachable(triedEarly: false) else { return [] }
    trouble.kind = .unreachable(triedEarly: true)
    trouble.until = Swift.min(trouble.until, leastGapEnd)
    history.trouble = trouble
    return []
  }

  private mutating func stopping() -> [SessionAction] {
    isStopping = true
    // What could not be written yet gets one more try before the memory that holds it is gone.
    writing.againAt = nil
    noting.againAt = nil
    guard case .held(let held) = credentialState else { return [] }
    if !held.isStored, held.accessFailure != nil { looking.isWanted = true }
    // No reading is waited for any more.
    if case .storing(let next, _) = held.phase, !writing.isWriting { return write(next) }
    return []
  }

  /// Waits, deadlines and tokens last as long as they were meant to.
  private mutating func clockMoved(by step: Duration) {
    guard step != .zero else { return }
    since = since + step
    for index in calls.indices { calls[index].askedAt = calls[index].askedAt + step }
    looking.againAt = looking.againAt.map { $0 + step }
    writing.againAt = writing.againAt.map { $0 + step }
    noting.againAt = noting.againAt.map { $0 + step }
    history.move(by: step)
    writing.isOvertaken = true
    if case .adopting(var adoption) = credentialState {
      adoption.credential.grant.move(by: step)
      credentialState = .adopting(adoption)
    }
    updateHeld { held, _ in held.move(by: step) }
  }

  var isAdopting: Bool {
    if case .adopting = credentialState { true } else { false }
  }

  /// The sign-in is replaced or signed out: what its requests bring back is nobody's.
  mutating func leaveSignIn() {
    epoch.generation += 1
    request?.isAbandoned = true
  }

  /// Nothing is under way whose result would be lost with the process.
  package var isAtRest: Bool {
    if writing.isWriting || noting.isWriting || request != nil { return false }
    switch credentialState {
    case .unread, .withheld, .unreadable, .starting, .ended, .absent: return true
    case .adopting: return false
    case .ending: return writing.againAt != nil
    case .held(let held):
      switch held.phase {
      case .inFlight, .storing, .confirming: return false
      case .idle: return held.isStored || !looking.isReading && (held.accessFailure != nil || writing.againAt != nil)
      }
    }
  }

  /// Changes the grant in memory, where there is one.
  mutating func updateHeld(_ change: (inout HeldGrant, inout SeededGenerator) -> Void) {
    guard case .held(var held) = credentialState else { return }
    change(&held, &random)
    credentialState = .held(held)
  }
}

extension SeededGenerator {
  /// From 0 up to 1.
  mutating func share() -> Double { Double.random(in: 0..<1, using: &self) }
}
