import TestSupport

@testable import HearthCore

/// What users, programs, providers, networks, the system and time do.
extension OutboxSimulation {
  func disturb() {
    switch number(0...53) {
    case 0...13: enqueue()
    case 14...16: changeItem()
    case 17: call(.changeAll(anyone, one(of: [.pending, .waiting, .dead, .held]), one(of: [.cancel, .retry])))
    case 18...20: pause(one(of: [true, false, false]))
    case 21, 22: flush(chances(1, in: 3) ? Set(configured.keys) : [anyone], timeout: number(1...120) * 1000)
    case 23: discard()
    case 24...28: changeSession()
    case 29: sessions[anyone]!.mood = one(of: SimulatedSession.Mood.allCases)
    case 30: sessions[anyone]!.isExpired = true
    case 31: sessions[anyone]!.isRevoked = true
    case 32...35:
      let origin = one(of: Self.apis)
      origins[origin]!.mood = one(of: SimulatedOrigin.Mood.allCases)
      note("\(origin.host) is \(origins[origin]!.mood)")
    case 36, 37: for origin in Self.apis { origins[origin]!.mood = .fine }
    case 38: isDiskFailing = chances(1, in: 2)
    case 39: slowestDisk = one(of: [0, 4, 200])
    case 40: stepClock(by: number(-100_000_000...100_000_000) / one(of: [1, 1000, 100_000]))
    case 41: sleep(number(1...200_000) * one(of: [1, 1000]))
    case 42: crash(losesPower: chances(1, in: 4))
    case 43: stop()
    case 44: reload()
    case 45: networkReturns()
    case 46 where chances(1, in: 4): enqueueMany()
    default: advance()
    }
  }

  private var anyone: AccountName { one(of: sessions.keys.sorted()) }

  func disturbed() { lastDisturbance = elapsed }

  // MARK: - Sessions

  /// Changes a session, which reports it a moment later.
  func change(_ name: AccountName, _ body: (inout SimulatedSession) -> Void) {
    body(&sessions[name]!)
    if daemon != nil { after(0...3, .sessionReported(name)) }
  }

  func signIn(_ name: AccountName, as user: Name) {
    // If nobody has a name, a sign-out is answered, and the next user comes, only once the store knows about it.
    let isHeard =
      daemon?.machine.names.contains(name) == true && daemon?.machine.leaving(name) == nil
      && daemon?.machine.isSessionReported(name) == true
    if sessions[name]!.isUnnamed, sessions[name]!.user == nil, sessions[name]!.signIns > 0, !isHeard { return }
    note("\(name): \(user) signs in")
    if daemon == nil { sessions[name]!.keptState = .signedIn }
    newToken(name)
    let isNamed = sessions[name]!.isNamed
    change(name) {
      if $0.isUnnamed, $0.user == nil { $0.signIns += 1 }
      $0.user = $0.isUnnamed ? "sign-in \($0.signIns)" : isNamed ? user : Self.users[0]
      ($0.state, $0.isSignInUntold) = (.signedIn, true)
    }
  }

  private func changeSession() {
    let name = anyone
    let state = sessions[name]!.state
    guard state != .hydrating else { return }
    disturbed()
    switch number(0...9) {
    // An account that is signed out shows no lock.
    case 0 where state != .signedOut: change(name) { $0.state = .locked }
    case 1: change(name) { $0.state = .signedOut }
    case 2 where state != .signedOut: change(name) { $0.state = .providerLost }
    case 3 where sessions[name]!.isNamed: change(name) { $0.issuer = "https://id.example.com" }
    case 4: signIn(name, as: one(of: Self.users))
    case 5: newToken(name)
    default: signIn(name, as: sessions[name]!.user ?? one(of: Self.users))
    }
    note("\(name) is \(sessions[name]!.state), \(sessions[name]!.subject.map { "\($0)" } ?? "nobody")")
  }

  func reportSession(_ name: AccountName) {
    guard daemon != nil, daemon!.machine.names.contains(name) else { return }
    if sessions[name]!.state == .hydrating { sessions[name]!.state = sessions[name]!.keptState }
    // From the moment that the outbox has heard of the sign-out, it is another user.
    if sessions[name]!.isUnnamed, sessions[name]!.state == .signedOut { sessions[name]!.user = nil }
    let session = sessions[name]!
    let token = session.state == .signedIn ? session.fingerprint : nil
    sessions[name]!.reportedToken = token
    daemon!.machine.sessionChanged(
      name, permission: session.permission, knownSubject: session.subject, formerly: session.former, token: token,
      at: now)
    if session.isSignInUntold { daemon!.machine.signedIn(name) }
    sessions[name]!.isSignInUntold = false
    sessions[name]!.isReportedSendable = session.state == .signedIn
    sessions[name]!.reportedUser = session.user
    sessions[name]!.keptState = session.state
    disturbed()
    note("\(name) reports \(session.state) \(session.user ?? "nobody")")
    follow()
  }

  // MARK: - Time and the network

  func stepClock(by step: Int) {
    guard step != 0 else { return }
    note("the clock steps by \(step)")
    offset += step
    disturbed()
    if !isStoreApart { storeClockSteps(by: step) }
    guard daemon != nil else { return }
    (daemon!.told, daemon!.asked) = ([:], [])
    for id in daemon!.flights.keys { daemon!.flights[id]?.isTimeDoubtful = true }
    daemon!.machine.clockStepped(by: .milliseconds(step))
    follow()
  }

  private func storeClockSteps(by step: Int) {
    storeOffset += step
    if daemon == nil {
      untoldSteps += abs(step)
      // A backward step is noticed at the start: a wait lasts no longer than planned while a daemon ran.
      if step > 0 { forgetWaits() }
      for item in items.values where item.latestDue < .max { item.latestDue += 1_000_000 }
    } else {
      untoldShift += step
      // It treats the step as if it had known the clock before, so a wait is longer by the step, at most a day.
      if !daemon!.isRecovered { forgetWaits() }
    }
  }

  /// Forgets the planned waits, because the store could not follow a step.
  func forgetWaits() {
    for item in items.values { (item.floor, item.latestDue) = (0, .max) }
  }

  /// Time passes while nothing runs.
  private func sleep(_ time: Int) {
    note("the machine sleeps for \(time)")
    elapsed += time
    disturbed()
    daemon?.machine.clockStepped(by: .zero)
    follow()
  }

  func networkReturns() {
    daemon?.machine.networkReturned(at: now)
    for item in items.values { item.readySince = nil }
    follow()
  }

  // MARK: - The daemon

  private func stop() {
    guard daemon != nil, !daemon!.machine.isStopping else { return }
    note("the daemon is to stop")
    daemon!.machine.stop(grace: .milliseconds(one(of: [0, 2000])), at: now)
    daemon!.flushes = [:]
    follow()
  }

  private func reload() {
    for name in sessions.keys.sorted() {
      configured[name] =
        chances(1, in: 8) ? nil : Set(Self.apis.filter { _ in chances(3, in: 4) } + [one(of: Self.apis)])
      if configured[name] == nil, daemon != nil {
        daemon!.told[name] = nil
        daemon!.asked.remove(name)
      }
    }
    if let daemon, !daemon.senders.isEmpty {
      self.daemon!.concurrencyBefore = max(settings.concurrency, daemon.concurrencyBefore ?? 0)
    }
    settings.concurrency = one(of: [1, 3, 8])
    for name in sessions.keys.sorted() { overrides[name] = chances(1, in: 2) ? drawnOverrides() : nil }
    reloaded()
  }

  /// Any overrides that the configuration allows.
  func drawnOverrides() -> DeliveryOverrides {
    var outcomes: [Int: DeliveryOverrides.Outcome] = [:]
    for status in Self.overridable where chances(1, in: 2) {
      outcomes[status] = status < 500 ? one(of: DeliveryOverrides.Outcome.allCases) : one(of: [.retry, .dead])
    }
    return DeliveryOverrides(outcomes)
  }

  func reloaded() {
    note("reloads \(configured.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value.map(\.host).sorted())" })")
    disturbed()
    guard daemon != nil, !daemon!.machine.isStopping else { return }
    let known = daemon!.machine.names
    daemon!.machine.accountsChanged(apis, settings: settings, at: now)
    // Requests under way of an account that is no longer configured are judged as before.
    for name in configured.keys { daemon!.overrides[name] = overrides[name] }
    for name in daemon!.out.keys {
      daemon!.out[name] = daemon!.out[name]!.filter { configured[name]?.contains($0.key) == true }
    }
    for name in configured.keys.sorted() where !known.contains(name) { after(0...100, .sessionReported(name)) }
    for name in sessions.keys where configured[name] == nil { sessions[name]!.isReportedSendable = false }
    follow()
  }
}
