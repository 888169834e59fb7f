import TestSupport

@testable import HearthCore

extension SessionSimulation {
  private func refreshToken(_ credential: Credential) -> Fingerprint? { credential.grant.refreshToken?.fingerprint }

  private var tokensInMemory: [Fingerprint?] {
    switch machine.credentialState {
    case .adopting(let adoption): return [refreshToken(adoption.credential)]
    case .active(let active):
      if case .storing(let next, _) = active.phase { return [refreshToken(active.credential), refreshToken(next)] }
      return [refreshToken(active.credential)]
    case .notHeld, .starting, .ending, .ended, .absent: return []
    }
  }

  // MARK: - What the world learns

  mutating func noteEvent(_ event: SessionInput, _ before: SessionMachine) throws(Violation) {
    switch event {
    case .credentialRead(let reading):
      ledger.lastReading = reading
      switch reading {
      case .missing: ledger.grounds.insert(.credentialMissing)
      case .corrupt: ledger.grounds.insert(.credentialCorrupt)
      case .tooNew: ledger.grounds.insert(.credentialTooNew)
      case .ended(let record, _):
        ledger.grounds.insert(record.reason)
        if let newest = ledger.newest, !tokensInMemory.contains(newest) { ledger.newest = nil }
      case .found, .neverSignedIn, .unreadable: break
      }
    case .refreshEnded(let generation, let outcome):
      noteRefresh(outcome, isOurs: generation == before.epoch.generation, before)
    case .endWritten(let result):
      if case .failure = result { ledger.endFailed = true } else { ledger.endFailed = false }
      if let mark = disk.known.end?.fingerprint { ledger.refusedOnRecord.insert(mark) }
    case .removed(let result):
      if case .failure = result { ledger.removalFailed = true } else { ledger.removalFailed = false }
    case .started, .woke, .clockChanged, .networkReturned, .configured, .signInBegan, .signInInterrupted, .stopping,
      .credentialHinted, .credentialWritten, .credentialSuperseded, .credentialSetAside, .lockRemembered, .identified,
      .roomMade,
      .obtained, .completed, .locked, .unlocked, .called:
      break
    }
  }

  private mutating func noteRefresh(_ outcome: RefreshOutcome, isOurs: Bool, _ before: SessionMachine) {
    // This also applies if a sign-in has replaced it meanwhile, which a crash may undo.
    if let answered = ledger.answered, answered.granted != nil, let token = answered.credential.flatMap(refreshToken) {
      ledger.spent.insert(token)
    }
    guard isOurs, case .active(let active) = before.credentialState, active.phase.isInFlight,
      before.refreshes.request == .sent
    else { return }
    if ledger.answered?.isMixedUp == true, case .granted = outcome {
      // The user's own token may be spent nevertheless.
      if let family = refreshToken(active.credential).flatMap(provider.family) { ledger.excusedFamilies.insert(family) }
      ledger.barred.insert(active.grant.accessToken.fingerprint)
      ledger.hadTrouble = true
      return
    }
    // What the provider has granted counts, and not how its answer was read.
    if let granted = ledger.answered?.granted {
      if provider.isCurrent(granted), let family = provider.family(of: granted.fingerprint) {
        ledger.excusedFamilies.remove(family)
      }
      ledger.newest = granted.fingerprint
    }
    if ledger.answered?.isFinal == true {
      ledger.grounds.formUnion([.refreshTokenRejected, .accountDisabled])
      if let token = refreshToken(active.credential) { ledger.refused.insert(token) }
    }
    if case .granted(let response) = outcome {
      ledger.tokenBefore[response.accessToken.fingerprint] = active.grant.accessToken.fingerprint
      tally[.refreshed] += 1
    } else {
      ledger.hadTrouble = true
    }
  }

  /// The network's return may shorten a wait once in each step, and only if no connection could be made.
  private mutating func checkNetworkReturn(_ before: SessionMachine) throws(Violation) {
    guard let planned = before.snapshot(at: now).nextAttemptAt, planned > now,
      machine.snapshot(at: now).nextAttemptAt != planned
    else { return }
    guard case .unreachable? = before.refreshes.history.trouble?.kind else {
      throw Violation("the network's return cuts a wait short that somebody asked for")
    }
    if let shortened = ledger.shortenedUntil, now < shortened {
      throw Violation("the network's return cuts one wait short twice")
    }
    ledger.shortenedUntil = planned
  }

  mutating func noteOutcome(_ event: SessionInput, _ before: SessionMachine) throws(Violation) {
    switch event {
    case .networkReturned: try checkNetworkReturn(before)
    case .clockChanged:
      ledger.shortenedUntil = nil
      noteAge(isNew: false)
    case .credentialRead(.found(let credential, .former))
    where before.active.map { $0.credential != credential } ?? false:
      let (held, now) = (before.active?.newest, machine.active?.newest)
      if let now, refreshToken(now) != held.flatMap(refreshToken) {
        throw Violation("a former grant takes the place of a later one")
      }
    case .credentialRead(.found(let credential, let standing)):
      let isFormer = standing == .former || ledger.isTampered && before.active == nil
      // Without a later grant it is tried, which the provider may treat as reuse, or accept and drop a later one.
      if isFormer, let token = refreshToken(credential) {
        ledger.excused.insert(token)
        ledger.refused.remove(token)
        if let family = provider.family(of: token) { ledger.excusedFamilies.insert(family) }
      }
      try checkAdopted(credential, before)
      let isNew = before.active?.grant.accessToken != machine.active?.grant.accessToken
      if isNew { ledger.seemsYounger = false }
      let maySeemYounger = maySeemYounger(credential, before)
      noteAge(isNew: isNew && maySeemYounger)
      let isActive = tokensInMemory == [refreshToken(credential)]
      let isEnding = if case .ending = machine.credentialState { true } else { false }
      if isActive || isEnding || machine.credentialState == .notHeld(.locked) {
        ledger.newest = isEnding ? nil : refreshToken(credential)
        ledger.isTampered = false
      }
      // While a sign-in is written, the grant is still read, and the sign-in replaces it.
      let isReplaced = if case .adopting = machine.credentialState { true } else { false }
      if isActive || isEnding || machine.credentialState == .notHeld(.locked) || isReplaced {
        ledger.strangers.remove(credential.grant.accessToken.fingerprint)
      }
    case .credentialWritten(let generation, _):
      if generation == before.epoch.generation,
        let credential = ledger.adopting.first(where: { tokensInMemory.contains(refreshToken($0)) })
      {
        ledger.newest = refreshToken(credential)
        ledger.adopting = []
        ledger.grounds = []
      }
    case .credentialSuperseded:
      // The provider continues from a grant that has been replaced by the one that was put back.
      if case .active(let active) = before.credentialState, case .storing(let next, _) = active.phase,
        let family = refreshToken(next).flatMap(provider.family)
      {
        ledger.excusedFamilies.insert(family)
      }
    case .completed:
      if case .adopting(let adoption) = machine.credentialState { ledger.newest = refreshToken(adoption.credential) }
    case .refreshEnded(_, .told): noteAge(isNew: isWrittenYounger)
    case .configured: try checkConfigured(before)
    case .started, .woke, .signInBegan, .signInInterrupted, .stopping, .credentialHinted, .credentialRead,
      .credentialSetAside, .lockRemembered, .endWritten, .removed, .refreshEnded, .identified, .roomMade, .obtained,
      .locked, .unlocked,
      .called:
      break
    }
  }

  /// Called at a crash: everything acknowledged must be on disk, unless it could not be written.
  mutating func ledgerCrash() throws(Violation) {
    let isUnwritten = machine.snapshot(at: now).isWritePending || !machine.isAtRest
    if let newest = ledger.newest, disk.grant.flatMap(refreshToken) != newest {
      guard isUnwritten || ledger.isTampered else {
        throw Violation("a crash lost an acknowledged refresh token that was reported as stored")
      }
      if isUnwritten { tally[.lostUnwritten] += 1 }
    }
    // If the file was removed, somebody may put back the grant that is known to be the last one.
    for token in [disk.grant.flatMap(refreshToken), disk.known.grants.current].compactMap(\.self)
    where ledger.spent.contains(token) { ledger.excused.insert(token) }
    for flight in flights {
      // It was sent, and nobody waits for the answer any more.
      if let token = flight.credential.flatMap(refreshToken) { ledger.excused.insert(token) }
    }
    ledger.newest = disk.grant.flatMap(refreshToken)
    ledger.hadTrouble = true
    ledger.shortenedUntil = nil
    ledger.adopting = []
    ledger.refused = []
    ledger.inFlight = 0
    ledger.lastAttemptAt = nil
    ledger.isRepetition = false
    ledger.isTampered = false
    // What is on record also applies in the next process.
    ledger.barred = disk.known.barred.map { [$0] } ?? []
    ledger.rejected = disk.known.rejected
  }

  /// An end may replace the grant that it is about, and a grant may replace its predecessor. Only a sign-in may replace
  /// a grant that was never read.
  func checkOverwritten(_ before: Credential?, by job: SimulatedDisk.Job) throws(Violation) {
    guard let before, ledger.strangers.contains(before.grant.accessToken.fingerprint) else { return }
    switch (disk.file, job) {
    case (.ended(let record), _):
      throw Violation("another program's grant is overwritten by an end: \(record.reason)")
    case (.grant(let now), .write(_, _, over: .grant)) where now != before && !isOver(before):
      throw Violation("another program's grant is overwritten by a refreshed one")
    case (.grant, _), (.nothing, _), (.garbage, _), (.tooNew, _): break
    }
  }

  /// Whether reading the grant would not revive its session.
  private func isOver(_ credential: Credential) -> Bool {
    var disk = disk
    disk.file = .grant(credential)
    return if case .read(.found) = disk.step(.read, 0) { false } else { true }
  }

  // MARK: - What the machine does

  mutating func checkSending(_ credential: Credential?) throws(Violation) {
    ledger.inFlight += 1
    if ledger.inFlight > 1 { throw Violation("two refreshes overlap") }
    guard let token = credential.flatMap(refreshToken) else { return }
    if ledger.signedOut.contains(token) { throw Violation("a token that was signed out is sent") }
    if ledger.refused.contains(token) { throw Violation("a refused token was sent again") }
    if ledger.refusedOnRecord.contains(token) { throw Violation("a refused token was sent again after its end") }
  }

  mutating func checkAction(
    _ action: SessionAction, of event: SessionInput, _ before: SessionMachine
  ) throws(Violation) {
    switch action {
    case .refresh(let credential, let generation): try checkRefresh(credential, generation, of: event)
    case .requestGrant(let generation): try checkRefresh(nil, generation, of: event)
    case .writeEnd(let record):
      if case .credentialRead(.corrupt) = event { throw Violation("an end is written over a corrupt file") }
      try checkEnd(record, before)
    case .remove:
      guard ledger.signOutAsked else { throw Violation("a credential is removed, though nobody signed out") }
    case .setAside:
      guard case .corrupt = ledger.lastReading else { throw Violation("a file is set aside that was not corrupt") }
    case .write(let credential, _):
      if credential.grant.tokens.contains(where: { ledger.others.contains($0.fingerprint) }) {
        throw Violation("a token is stored that came for another user")
      }
      if case .active(let active) = machine.credentialState, active.accessFailure != nil, case .woke = event {
        throw Violation("a file that cannot be read is replaced")
      }
    case .lockStore:
      if case .active(let active) = machine.credentialState, !active.isStored {
        throw Violation("the key is wiped while the only copy of a grant is in memory")
      }
    case .answer(let id, let answer): try checkAnswer(id, answer, event)
    case .publish(let event): try checkPublished(event, before)
    case .askTime:
      if !locks.isEmpty || isStopping { throw Violation("the time is asked for where nothing may be asked") }
    case .replaceStore: try checkReplaced()
    case .recall, .read, .identify, .makeRoom, .obtain, .beginSignIn, .showSignIn, .complete, .rememberLockedByUser,
      .remember, .revoke, .revokeAtOnce:
      break
    }
  }

  private mutating func checkRefresh(
    _ credential: Credential?, _ generation: Int, of event: SessionInput
  ) throws(Violation) {
    let isRepetition = if case .refreshEnded(generation, .failed(.unanswered)) = event { true } else { false }
    if let credential, ledger.isBarred(credential.grant) {
      throw Violation("a refresh is sent, though the last answer was for another user")
    }
    if !locks.isEmpty, !isRepetition { throw Violation("a refresh is sent while locked") }
    if isStopping, !isRepetition { throw Violation("a refresh is sent while stopping") }
    if let credential, !ledger.durable.contains(credential.grant.accessToken.fingerprint) {
      throw Violation("a refresh is sent with a grant that is not on disk")
    }
    if !isRepetition, let last = ledger.lastAttemptAt, elapsed - last < .milliseconds(500) {
      throw Violation("attempts \(elapsed - last) apart")
    }
    if isRepetition, ledger.isRepetition { throw Violation("a lost answer is repeated at once, and again") }
    ledger.isRepetition = isRepetition
    ledger.attemptBefore = ledger.lastAttemptAt
    ledger.lastAttemptAt = elapsed
  }

  private mutating func checkAnswer(_ id: CallID, _ answer: SessionResponse, _ event: SessionInput) throws(Violation) {
    guard calls[id] != nil else { throw Violation("a call is answered twice, or was never asked") }
    switch answer {
    case .token(let bearer):
      let fingerprint = bearer.token.fingerprint
      if !locks.isEmpty { throw Violation("a token is given out while locked") }
      if ledger.others.contains(fingerprint) {
        throw Violation("a token is given out that came for another user")
      }
      // A token that a refresh has just brought is the best there is.
      let isFresh = if case .credentialWritten = event { true } else { false }
      if !isFresh, let expiresAt = bearer.expiresAt, expiresAt <= now {
        throw Violation("a token is given out that has run out")
      }
      // By the provider's own count, plus the time that its answer was under way.
      if !isFresh, !ledger.seemsYounger, let end = provider.runsOutAt[fingerprint],
        end + .seconds(45) < elapsed
      {
        throw Violation("a token is given out that ran out at the provider \(elapsed - end) ago")
      }
      try checkRejected(fingerprint)
      try checkDurable(fingerprint)
    case .signedOut:
      guard disk.known.end?.reason == .signedOut || ledger.removalFailed || disk.file == .nothing else {
        throw Violation("a sign-out is published before it is on record")
      }
    case .done, .rejected: break
    }
  }

  private func checkDurable(_ token: Fingerprint) throws(Violation) {
    // It expired, or another program's grant was found, before that could be published.
    let isOver = if case .ending = machine.credentialState { true } else { false }
    guard ledger.durable.contains(token) || isOver || machine.snapshot(at: now).isWritePending else {
      throw Violation("a token is seen before it is on disk")
    }
  }

  private mutating func checkPublished(_ event: SessionEvent, _ before: SessionMachine) throws(Violation) {
    switch event {
    case .refreshed(let token, _, _):
      ledger.grounds = []
      ledger.hadTrouble = !ledger.isQuietSinceSending
      ledger.seemsYounger = false
      try checkDurable(token)
    case .changed(_, .reauthRequired(let reason)):
      guard disk.known.end?.reason == reason || ledger.endFailed || reason == .credentialTooNew else {
        throw Violation("the end is published before it is on record: \(reason)")
      }
    case .changed(_, .unauthenticated(signedOut: true)):
      guard disk.known.end?.reason == .signedOut || ledger.removalFailed else {
        throw Violation("a sign-out is published before it is on record")
      }
    case .changed(_, .unauthenticated(signedOut: false)):
      guard ledger.lastReading == .neverSignedIn else { throw Violation("a session is gone without a reading") }
    case .signedIn:
      ledger.grounds = []
      ledger.signedIn(with: machine.active?.grant)
    case .statusChanged:
      // It is about another program's grant, and not only advice.
      if machine.epoch.generation != before.epoch.generation { ledger.grounds = [] }
    // Other events have no consequences here.
    default: break
    }
  }

  // MARK: - What must hold at any time

  mutating func checkRules() throws(Violation) {
    let wake = armed.map { Swift.max($0, now) }
    if let newest = ledger.newest, !ledger.isTampered, disk.grant.flatMap(refreshToken) != newest,
      !tokensInMemory.contains(newest)
    {
      throw Violation("the newest refresh token is neither on disk nor in memory: \(newest)")
    }
    for (id, call) in calls where !awaits(id) {
      if let signIn = call.signIn {
        if calls[signIn] == nil { throw Violation("the browser of a sign-in that is over is not answered") }
        continue
      }
      let limit = call.isShort ? SessionMachine.hydrationTimeout : settings.refresh.requestTimeout * 2 + .seconds(10)
      if lastEventAt - call.askedAt > limit + call.extra { throw Violation("call \(id.number) waits for too long") }
    }
    // The user's own lock is not known before the remembered state.
    let known = machine.locks.areKnown ? machine.locks.all : machine.locks.all.union(locks.intersection([.user]))
    if known != locks { throw Violation("the machine's locks are not those that were set") }
    let isQuiet = jobs.isEmpty && ledger.inFlight == 0 && awaited.isEmpty
    if isQuiet { try checkPlan(wake) }
    let snapshot = machine.snapshot(at: now)
    if snapshot.history.failures > 0, snapshot.history.lastError == nil { throw Violation("a failure is not shown") }
  }
}
