/// Decides everything about one account's session: events and the time in, actions out.
///
/// Each event is taken in (`+Credential`, `+Refresh`, `+Calls`), then `settle` does what the new state asks for: wipes,
/// ends, writes, refreshes, answers, announces. What is planned is derived from the state (`nextWake`), never kept.
package struct SessionMachine: Sendable {
  package let account: AccountName
  package internal(set) var settings: SessionSettings
  package internal(set) var knowledge = CredentialKnowledge.unread
  package internal(set) var locks: Set<Lock> = []
  /// Whose the session is; stays known while locked.
  package internal(set) var subject: Subject?
  package internal(set) var history = RefreshHistory()
  /// Counts sign-ins, sign-outs, ends and adoptions: what a request of an older one brings back is dropped.
  package internal(set) var generation = 0
  /// From which generation on the sign-in is the present one: what requests of older ones bring back is revoked, too.
  var signInGeneration = 0
  package internal(set) var since: Timestamp
  /// Counts sign-ins, sign-outs and adoptions, and no ends.
  var sessions = 0

  var shown = SessionState.hydrating
  /// The first look is for what is remembered, and begins with the session.
  var looking = LookPlan(isReading: true)
  /// Until what is remembered has been read, nobody knows whether the user has locked: nothing else is looked at.
  package internal(set) var isStarted = false
  var writing = WritePlan()
  /// Writing down whether the user has locked.
  var noting = WritePlan()
  var calls: [WaitingCall] = []
  /// The marks of the grant that lies on disk, as far as is known.
  var onDisk: GrantMarks?
  /// A signed-in credential on its way to the disk; nobody sees it before it is there.
  var adoption: Credential?
  /// The user's own lock may have been there when it was brought: it is taken away with the sign-in, and no later one.
  var adoptionUnlocks = false
  /// The API refused this token; a refresh is owed.
  var refusedToken: Fingerprint?
  /// A refresh was sent and has not ended, of whatever generation.
  var isAsking = false
  /// The store was used since it was last told to forget its key.
  var mayHoldKey = false
  var isStopping = false
  var chance: SeededGenerator

  package init(account: AccountName, settings: SessionSettings, seed: UInt64, at now: Timestamp) {
    self.account = account
    self.settings = settings
    self.since = now
    self.chance = SeededGenerator(seed: seed)
  }

  package mutating func handle(_ event: SessionEvent, at now: Timestamp) -> [SessionAction] {
    var actions = take(event, at: now)
    actions += settle(at: now)
    return actions
  }

  private mutating func take(_ event: SessionEvent, at now: Timestamp) -> [SessionAction] {
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
    switch knowledge {
    case .unread, .unreadable: break
    case .withheld, .held, .ending, .ended, .absent: return []
    }
    subject = remembered.subject ?? settings.configuredSubject
    if let end = remembered.end {
      if end.reason == .signedOut { subject = settings.configuredSubject }
      knowledge = end.reason == .signedOut ? .absent(signedOut: true) : .ended(end)
      if shown == .hydrating {
        since = end.at
        shown = end.reason == .signedOut ? .unauthenticated(signedOut: true) : .reauthRequired(end.reason)
      }
    }
    if let unwritten = remembered.unwritten { takeOver(unwritten) }
    return []
  }

  private mutating func locked(_ lock: Lock) -> [SessionAction] {
    guard locks.insert(lock).inserted, lock == .user else { return [] }
    return noteLock()
  }

  private mutating func unlocked(_ lock: Lock) -> [SessionAction] {
    if lock == .user, case .unreadable = knowledge { looking.isWanted = true }
    if lock == .user, history.needsPassphrase { history.wait = nil }
    if lock == .user, writing.lastObstacle?.kind == .passphraseRequired { writing.againAt = nil }
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
    updateHeld { held, chance in
      held.refreshAt = refresh.refreshTime(of: held.grant, share: chance.share())
    }
    if let wait = history.wait, wait.isMisconfigured { history.wait = nil }
    return []
  }

  private mutating func networkReturned(at now: Timestamp) -> [SessionAction] {
    guard var wait = history.wait, !wait.isMisconfigured else { return [] }
    wait.until = Swift.min(wait.until, Swift.max(wait.floor, leastGapEnd))
    history.wait = wait
    return []
  }

  private mutating func stopping() -> [SessionAction] {
    isStopping = true
    // What could not be written yet gets one more try before the memory that holds it is gone.
    writing.againAt = nil
    noting.againAt = nil
    guard case .held(let held) = knowledge else { return [] }
    if !held.isStored, held.obstacle != nil { looking.isWanted = true }
    // No reading is waited for any more.
    if case .storing(let next) = held.phase, adoption == nil, !writing.isWriting { return write(next) }
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
    adoption?.grant.move(by: step)
    updateHeld { held, _ in held.move(by: step) }
  }

  /// What a grant that a person brings, and that is tried first, is measured by when it has been.
  package var moment: SessionMoment {
    SessionMoment(session: sessions, mayBeLocked: locks.contains(.user) || !isStarted)
  }

  /// The sign-in is over or replaced: what its requests bring back is nobody's.
  mutating func leaveSignIn() {
    generation += 1
    signInGeneration = generation
  }

  /// Nothing is under way whose result would be lost with the process.
  package var isAtRest: Bool {
    if writing.isWriting || noting.isWriting || isAsking || adoption != nil { return false }
    switch knowledge {
    case .unread, .withheld, .unreadable, .ended, .absent: return true
    case .ending: return writing.againAt != nil
    case .held(let held):
      switch held.phase {
      case .inFlight, .storing, .confirming: return false
      case .idle: return held.isStored || !looking.isReading && (held.obstacle != nil || writing.againAt != nil)
      }
    }
  }

  /// Changes the grant in memory, where there is one.
  mutating func updateHeld(_ change: (inout HeldGrant, inout SeededGenerator) -> Void) {
    guard case .held(var held) = knowledge else { return }
    change(&held, &chance)
    knowledge = .held(held)
  }
}

extension SeededGenerator {
  /// From 0 up to 1.
  mutating func share() -> Double { Double.random(in: 0..<1, using: &self) }
}
