/// Decides everything about one account's session: inputs and the time come in, actions go out.
///
/// The extensions follow a session's life: `+Start`, `+Reading`, `+Refresh`, `+Writing`, `+Ending`, `+Import`, and
/// `+Calls` for the clients' calls. Plans are derived from the state (`nextWake`) and never stored.
package struct SessionMachine: Sendable {
  package let account: AccountName
  package internal(set) var settings: SessionSettings
  package internal(set) var credentialState = CredentialState.unread
  package internal(set) var locks = SessionLocks()
  var file = FileAccess()
  var refreshes = RefreshCycle()
  var calls = PendingCalls()
  /// The grants of imports and sign-ins that are not written yet.
  var incoming: [CallID: IncomingGrant] = [:]
  var published: PublishedState
  /// The session's user, who stays known while it is locked.
  package internal(set) var subject: Subject?
  /// The configured subject, if the provider has named the user only later in this sign-in. What was written under it
  /// belongs to that user. Another sign-in may be another user's.
  var provisionalSubject: Subject?
  /// The results of requests of an earlier generation are dropped.
  package internal(set) var epoch = SessionEpoch()
  /// Whether what is remembered about the account has been read. Until then it is unknown whether the user has locked
  /// it, and no credential is read.
  package internal(set) var isStarted = false
  var isStopping = false
  /// The grant that a lock has wiped last.
  var wiped: WipedGrant?
  /// How far the clock was set since the stored grant got its times. `nil` once this process has read that grant.
  var clockStep: ClockStep?
  /// The token that an API had rejected when this process began. `nil` once a grant is in use.
  var rejected: Fingerprint?
  /// The sign-in under way, or `nil`.
  var signIn: SignInProgress?
  var random: SeededGenerator

  package init(account: AccountName, settings: SessionSettings, seed: UInt64, at now: Timestamp) {
    self.account = account
    self.settings = settings
    published = PublishedState(at: now)
    random = SeededGenerator(seed: seed)
  }

  /// Applies an input, and then does what the new state requires. Each step may make room for the next.
  package mutating func handle(_ input: SessionInput, at now: Timestamp) -> [SessionAction] {
    var actions = apply(input, at: now)
    actions += replaceStoreWhereDue()
    actions += wipeWhereLocked()
    actions += endWhereExpired(at: now)
    actions += readWhereDue(at: now)
    actions += writeWhereDue(at: now)
    actions += locks.rewriteNoteIfDue(at: now)
    actions += answerSuperseded()
    actions += answerCalls(at: now)
    actions += refreshWhereDue(at: now)
    actions += publishExpiry(at: now)
    actions += publishState(at: now)
    return actions
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

    case .roomMade(let id, let result): return roomMade(id, result)
    case .obtained(let id, let result): return obtained(id, result, at: now)
    case .completed(let id, let credential, let isWanted):
      return completed(id, credential, isWanted: isWanted, at: now)

    case .called(let id, let call): return called(id, call, at: now)
    case .locked(let lock):
      guard settings.locks.contains(lock) else { return [] }
      if lock == .user {
        epoch.userLocks += 1
        if case .adopting(var adoption) = credentialState {
          adoption.unlocks = false
          credentialState = .adopting(adoption)
        }
      }
      return locks.add(lock)
    case .unlocked(let lock): return unlocked(lock)
    case .signInChanged(let progress): signIn = progress
    case .lockRemembered(let result): locks.noteWritten(result, at: now, &random)

    case .woke: break
    case .clockChanged(let step): clockMoved(by: step)
    case .networkReturned: refreshes.networkReturned()
    case .configured(let settings, let changed): return configured(settings, changed)
    case .stopping: return stopping()
    }
    return []
  }

  /// The grant in memory, if there is one. Setting `nil` has no effect.
  var active: ActiveGrant? {
    get { if case .active(let active) = credentialState { active } else { nil } }
    set { if let newValue { credentialState = .active(newValue) } }
  }

  private mutating func unlocked(_ lock: Lock) -> [SessionAction] {
    if lock == .user {
      if case .unreadable = credentialState { file.read.request() }
      refreshes.passphraseMayHaveCome()
      if file.write.lastFailure?.kind == .passphraseRequired { file.write.retryNow() }
    }
    file.keyMayHaveCome()
    return locks.remove(lock, isRemembered: isStarted)
  }

  private mutating func stopping() -> [SessionAction] {
    isStopping = true
    // What could not be written yet gets one more try before the memory that holds it is gone.
    file.write.retryNow()
    locks.rewriteNoteNow()
    guard let active else { return [] }
    if !active.isStored, active.accessFailure != nil { file.read.request() }
    // Does not wait for a read under way any more.
    if case .storing(let next, _) = active.phase, !file.write.isUnderWay { return write(next) }
    return []
  }

  /// Called when the clock was set. Waits, deadlines and tokens keep their lengths.
  private mutating func clockMoved(by step: Duration) {
    guard step != .zero else { return }
    published.move(by: step)
    wiped?.move(by: step)
    clockStep?.step += step
    calls.move(by: step)
    file.move(by: step)
    locks.move(by: step)
    refreshes.move(by: step)
    active?.move(by: step)
    for id in incoming.keys { incoming[id]?.move(by: step) }
    if let signIn { self.signIn?.expiresAt = signIn.expiresAt + step }
    if case .adopting(var adoption) = credentialState {
      adoption.timing.move(&adoption.credential.grant, by: step)
      credentialState = .adopting(adoption)
    }
  }

  /// Called when the sign-in is replaced or signed out. The results of its requests are dropped.
  mutating func leaveSignIn() {
    epoch.generation += 1
    provisionalSubject = nil
    refreshes.abandon()
  }

  /// Whether nothing is under way whose result would be lost with the process.
  package var isAtRest: Bool {
    if file.write.isUnderWay || locks.isNoteUnderWay || refreshes.request != .none || !incoming.isEmpty { return false }
    switch credentialState {
    case .unread, .withheld, .unreadable, .starting, .ended, .absent: return true
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
