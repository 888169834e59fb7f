/// Handles sign-ins. The response to the call is the sign-in's outcome. `+Import` obtains the grant.
extension SessionMachine {
  /// The sign-in that the status shows: the latest one that has been shown to the user.
  var shownSignIn: SignInProgress? {
    signIns.filter { $0.value.progress != nil }.max { $0.key.number < $1.key.number }?.value.progress
  }

  /// Returns whether the sign-in waits for the user.
  package func isWaiting(_ id: CallID) -> Bool { signIns[id]?.phase == .waiting }

  mutating func start(_ signIn: SignIn, for id: CallID, at now: Timestamp) -> [SessionAction] {
    if let lock = lock(against: signIn, at: now) { return [.answer(id, .rejected(lock))] }
    signIns[id] = signIn
    // Reserve disk space first, so that nobody signs in for a grant that cannot be stored.
    return makeRoom(for: id, at: now)
  }

  /// Starts the sign-in at the provider, or requests the grant if the user does not have to do anything.
  mutating func begin(_ signIn: SignIn, _ id: CallID, at now: Timestamp) -> [SessionAction] {
    if case .beginning(let why?) = signIn.phase { return end(id, why) }
    let ended = signIn.endsEarlier ? endSignIns(before: id, .signInReplaced(account)) : []
    switch signIn.flow {
    case .browser, .device: return ended + [.beginSignIn(id)]
    case .password:
      requestGrant(for: id)
      return ended + [.obtain(id)]
    case .clientCredentials:
      signIns[id] = nil
      return ended + called(id, .requestGrant, at: now)
    }
  }

  mutating func began(
    _ id: CallID, _ result: Result<SignInSteps, SignInFailure>, at now: Timestamp
  ) -> [SessionAction] {
    guard case .beginning(let interruption)? = signIns[id]?.phase else { return [] }
    switch result {
    case .failure(let failure): return end(id, Failure(failure, account))
    case .success(let steps):
      if let interruption { return end(id, interruption) }
      signIns[id]?.began(steps, at: now)
      let shown = signIns[id]?.progress.map { [SessionAction.showSignIn(id, steps, $0)] } ?? []
      return endSignIns(before: id, .signInReplaced(account)) + shown
    }
  }

  /// Handles a browser's request. If the request contains the code, its answer is the sign-in's outcome.
  mutating func redirected(
    _ id: CallID, _ reading: RedirectReading, by browser: CallID, at now: Timestamp
  ) -> [SessionAction] {
    guard isWaiting(id) else { return [.answer(browser, .rejected(.signInOver(account)))] }
    if let why = signIns[id]?.redirected(reading, by: browser) {
      return [.answer(browser, .rejected(why))] + end(id, why)
    }
    guard signIns[id]?.code != nil else { return [.answer(browser, .done)] }
    requestGrant(for: id)
    return makeRoom(for: id, at: now)
  }

  /// Polls the sign-ins that are due, and ends those that have timed out or that a lock stops.
  mutating func continueSignIns(at now: Timestamp) -> [SessionAction] {
    signIns.keys.sorted { $0.number < $1.number }.flatMap { id in
      if let signIn = signIns[id], let lock = lock(against: signIn, at: now), let why = signIns[id]?.interrupt(lock) {
        return end(id, why)
      }
      if let why = signIns[id]?.timeUp(at: now) { return end(id, why) }
      guard signIns[id]?.isPollDue(at: now) == true else { return [] }
      requestGrant(for: id)
      return makeRoom(for: id, at: now)
    }
  }

  /// Interrupts the sign-ins that began before the call `id`, or all sign-ins if `id` is `nil`.
  mutating func endSignIns(before id: CallID? = nil, _ why: Failure) -> [SessionAction] {
    signIns.keys.filter { $0.number < id?.number ?? .max }.flatMap { interrupt($0, why) }
  }

  mutating func interrupt(_ id: CallID, _ why: Failure) -> [SessionAction] {
    signIns[id]?.interrupt(why).map { end(id, $0) } ?? []
  }

  /// Ends a sign-in or an import. If its grant is being requested, the grant will be revoked when it arrives.
  mutating func end(_ id: CallID, _ why: Failure) -> [SessionAction] {
    calls.remove([id])
    incoming[id]?.answered()
    return closeSignIns([.answer(id, .rejected(why))])
  }

  /// Forgets the sign-ins whose calls are answered, and answers their browsers.
  mutating func closeSignIns(_ actions: [SessionAction]) -> [SessionAction] {
    if signIns.isEmpty { return actions }
    return actions
      + actions.compactMap { action in
        guard case .answer(let id, let response) = action else { return nil }
        return signIns.removeValue(forKey: id)?.browser.map { .answer($0, response) }
      }
  }

  /// Prepares for the grant. A sign-out, another sign-in or another program's grant supersedes it from now on.
  private mutating func requestGrant(for id: CallID) {
    signIns[id]?.asks()
    incoming[id] = IncomingGrant(since: epoch)
  }

  /// Returns the lock that applies to the sign-in, or `nil` if no lock applies. If the state shows no lock, because
  /// there is no session, the user's lock applies only if it was set after the sign-in began.
  func lock(against signIn: SignIn, at now: Timestamp) -> Failure? {
    if signIn.replacesLocked { return nil }
    let state = state(at: now)
    if case .locked = state { return failure(in: state, at: now) }
    let isLocked = locks.contains(.user) && signIn.since.userLocks != epoch.userLocks
    return isLocked ? failure(in: .locked(.explicit(.user)), at: now) : nil
  }
}
