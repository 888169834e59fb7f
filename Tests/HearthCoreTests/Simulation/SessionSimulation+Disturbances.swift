import TestSupport

@testable import HearthCore

/// What users, other programs, the system and time do to a session.
extension SessionSimulation {
  mutating func disturb() throws(Violation) {
    let kind = Int.random(in: 0..<24, using: &random)
    if kind > 4 { ledger.hadTrouble = true }
    switch kind {
    case 0...4: try ask()
    case 22: try reload()
    case 23: for _ in 0..<4 { try deliver(.networkReturned) }
    case 5: try setLock()
    case 6, 7: try takeLockAway()
    case 8: try suspend()
    case 9: try stepClock()
    case 10: try deliver(.networkReturned)
    case 11: weather = Weather.allCases.randomElement(using: &random) ?? .fine
    case 12: weather = .fine
    case 13, 14: try changeDisk()
    case 15: try interfere()
    case 16, 17: try crash()
    case 18: try stopAndStart()
    case 19:
      // Woken late.
      elapsed += .seconds(Int.random(in: 0...7200, using: &random))
      try deliver(.woke)
    case 20: try reload()
    default: try revokeOrHint()
    }
  }

  private mutating func ask() throws(Violation) {
    switch Int.random(in: 0..<16, using: &random) {
    case 0...3: try call(.token(minValidity: nil))
    case 4, 5: try call(.token(minValidity: .seconds(Int.random(in: 0...100_000, using: &random))))
    case 6, 7: try call(.refresh)
    case 8, 9: try reportUnauthorized()
    case 10: try call(.rehydrate)
    case 11: try call(.awaitReading)
    case 12:
      ledger.signOutAsked = true
      ledger.newest = nil
      let revokes = chances(1, in: 2)
      try call(.signOut(revoke: revokes))
    case 13, 14: if settings.renewsWithoutRefreshToken { try call(.requestGrant) } else { try signIn() }
    default:
      for _ in 0..<5 { try call(.token(minValidity: .seconds(60))) }
    }
  }

  mutating func call(_ call: SessionCall) throws(Violation) {
    callCount += 1
    let isShort: Bool
    switch call {
    case .rehydrate, .awaitReading: isShort = true
    case .token, .refresh, .requestGrant, .reportUnauthorized, .signOut, .adopt, .signIn, .redirected: isShort = false
    }
    let id = CallID(callCount)
    calls[id] = Call(askedAt: elapsed, isShort: isShort)
    switch call {
    case .adopt, .signIn: calls[id]?.isAdoption = true
    case .redirected(let signIn, _): calls[id]?.signIn = signIn
    case .token, .refresh, .requestGrant, .reportUnauthorized, .signOut, .rehydrate, .awaitReading: break
    }
    try deliver(.called(id, call))
  }

  private mutating func reportUnauthorized() throws(Violation) {
    guard case .active(let active) = machine.credentialState else { return }
    let token = chances(3, in: 4) ? active.grant.accessToken : Token.sample(2)
    if chances(1, in: 4) {
      // It is no ground for an end, so it is not noted.
      let before = machine.refreshes.apiRejection
      try call(.reportUnauthorized(APIRejection(token.fingerprint, isChallenge: true)))
      guard machine.refreshes.apiRejection == before else { throw Violation("a challenge is taken for a rejection") }
      return
    }
    let isRenewable = machine.isRenewable(active, at: now)
    ledger.noteReport(
      of: token.fingerprint, current: active.grant.accessToken.fingerprint, isRenewable: isRenewable,
      age: provider.issuedAt[token.fingerprint].map { elapsed - $0 })
    try call(.reportUnauthorized(APIRejection(token.fingerprint)))
  }

  /// A token that an API rejected before a crash is given out only if nothing can replace it.
  func checkRejected(_ token: Fingerprint) throws(Violation) {
    guard token == ledger.rejected, let active = machine.active, machine.isRenewable(active, at: now) else { return }
    throw Violation("a token is given out that an API had rejected before the restart")
  }

  private mutating func setLock() throws(Violation) {
    let lock = settings.locks.sorted { $0.rawValue < $1.rawValue }.randomElement(using: &random) ?? .user
    locks.insert(lock)
    try deliver(.locked(lock))
  }

  private mutating func takeLockAway() throws(Violation) {
    guard let lock = Lock.allCases.filter(locks.contains).randomElement(using: &random) else {
      if disk.isSealed { enterPassphrase() }
      return
    }
    if lock == .user, disk.isSealed { return enterPassphrase() }
    locks.remove(lock)
    try deliver(.unlocked(lock))
  }

  /// The passphrase is tried in the order of the store's work, as in the service. The lock is removed after it.
  private mutating func enterPassphrase() { enqueue(.unlock) }

  private mutating func suspend() throws(Violation) {
    let isLocked = chances(1, in: 2) && settings.locks.contains(.suspend)
    if isLocked {
      locks.insert(.suspend)
      try deliver(.locked(.suspend))
    }
    elapsed += .seconds(Int.random(in: 1...200_000, using: &random))
    try deliver(.clockChanged(by: .zero))
    if isLocked {
      locks.remove(.suspend)
      try deliver(.unlocked(.suspend))
    }
  }

  private mutating func stepClock() throws(Violation) {
    let chance = Duration.seconds(Int.random(in: -100_000...100_000, using: &random) / (chances(1, in: 2) ? 1 : 1000))
    // The clock was wrong, and is corrected.
    let step = offset != .zero && chances(1, in: 2) ? .zero - offset : chance
    offset += step
    note("the clock steps by \(step)")
    // Their times are from the earlier clock, but are recorded as if from the current one.
    for case .write(let credential, _, _) in jobs { ledger.younger.insert(credential.grant.accessToken.fingerprint) }
    ledger.lastAttemptAt = nil
    ledger.hasClockStepped = true
    if step < .zero {
      for id in calls.keys { calls[id]?.extra += elapsed - lastEventAt }
    }
    try deliver(.clockChanged(by: step))
  }

  private mutating func changeDisk() throws(Violation) {
    switch Int.random(in: 0..<6, using: &random) {
    case 0: disk.isDenied = true
    case 1: disk.isAway = true
    case 2: disk.isFull = true
    case 3, 4: (disk.isDenied, disk.isAway, disk.isFull) = (false, false, false)
    default: disk.isDenied.toggle()
    }
    note("denied \(disk.isDenied), away \(disk.isAway), full \(disk.isFull)")
    if chances(1, in: 2) { try deliver(.credentialHinted) }
  }

  /// Another program, or a person, changes the file itself.
  private mutating func interfere() throws(Violation) {
    guard !disk.isDenied, !disk.isAway else { return }
    switch Int.random(in: 0..<10, using: &random) {
    case 8, 9:
      // A backup, or a sync program.
      guard let copy = ledger.own.randomElement(using: &random) else { return }
      disk.file = .grant(copy)
      tally[.putBack] += 1
    case 0...2:
      var credential = signedIn()
      if settings.renewsWithoutRefreshToken { credential.grant.refreshToken = nil }
      // Another machine's clock, or this one's before it was set.
      if chances(1, in: 4) {
        credential.grant.move(by: .seconds(Int.random(in: 1...1_000_000, using: &random)))
        ledger.hasClockStepped = true
      }
      disk.file = .grant(credential)
      ledger.durable.insert(credential.grant.accessToken.fingerprint)
      ledger.strangers.insert(credential.grant.accessToken.fingerprint)
    case 3: disk.file = .nothing
    case 4: disk.file = .garbage
    case 5: disk.file = .tooNew
    case 6:
      movedAway = disk.file
      disk.file = .nothing
    default:
      guard let back = movedAway else { return }
      disk.file = back
      movedAway = nil
    }
    note("somebody else: \(disk.file)")
    ledger.isTampered = true
    if chances(2, in: 3) { try deliver(.credentialHinted) }
  }

  private mutating func revokeOrHint() throws(Violation) {
    if chances(1, in: 3), let grant = disk.grant?.grant {
      provider.revoke(grant.accessToken)
    } else {
      try deliver(.credentialHinted)
    }
  }

  // MARK: - The end of a run

  /// Everything works again. Now the session has to recover by itself.
  mutating func heal() throws(Violation) {
    note("all is well again")
    weather = .fine
    (disk.isDenied, disk.isAway, disk.isFull) = (false, false, false)
    for lock in Lock.allCases where locks.contains(lock) {
      locks.remove(lock)
      try deliver(.unlocked(lock))
    }
    if disk.isSealed { enterPassphrase() }
    try deliver(.credentialHinted)
    // An hour's Retry-After, a refresh, and the remaining reads.
    let limit = elapsed + .seconds(7200) + Swift.min(provider.lifetime, .seconds(7200))
    var steps = 0
    while elapsed < limit, steps < 250 {
      // A store that has replaced another one has no passphrase yet.
      if disk.isSealed, !disk.hasKey, jobs.isEmpty { enterPassphrase() }
      try advance(until: limit)
      try checkRules()
      steps += 1
    }
    try checkHealed()
  }

  mutating func checkHealed() throws(Violation) {
    switch machine.state(at: now) {
    case .hydrating, .locked:
      // The file of a newer version stays unreadable until somebody updates.
      if disk.file == .tooNew { return }
      throw Violation("the session has not come back: \(machine.state(at: now))")
    case .reauthRequired(.rejectedByServer) where settings.renewsWithoutRefreshToken: return
    case .unauthenticated(signedOut: true) where settings.renewsWithoutRefreshToken:
      if !ledger.signOutAsked { throw Violation("nobody signed the client out") }
    case .unauthenticated, .reauthRequired:
      if settings.renewsWithoutRefreshToken, disk.file != .tooNew, ledger.lastReading != .tooNew(version: 9) {
        throw Violation("the client does not ask for its grant: \(machine.state(at: now))")
      }
      if let token = disk.grant?.grant.refreshToken, provider.isCurrent(token),
        provider.refreshEnds[token.fingerprint].map({ $0 > elapsed }) ?? true,
        !ledger.signedOut.contains(token.fingerprint), !ledger.refusedOnRecord.contains(token.fingerprint)
      {
        throw Violation("a living session lies on the disk and is not used: \(machine.state(at: now))")
      }
    case .authenticated:
      // An end may be on its way to the disk.
      guard case .active(let active) = machine.credentialState else {
        if case .starting = machine.credentialState { throw Violation("the client's own grant has not come") }
        return
      }
      if !active.isStored, disk.file != .tooNew, !machine.snapshot(at: now).isRefreshing {
        throw Violation("the grant is still not on disk")
      }
      if ledger.isBarred(active.grant) { return }
      if active.grant.isExpired(at: now), let token = active.grant.refreshToken, provider.isCurrent(token),
        active.phase == .idle, machine.snapshot(at: now).nextAttemptAt == nil
      {
        throw Violation("the token has run out and is not refreshed")
      }
    }
  }
}
