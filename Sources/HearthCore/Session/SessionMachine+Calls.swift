/// Calls: what clients ask of a session, and when each can be answered.
extension SessionMachine {
  /// How long a call waits for a credential that has not been read yet.
  package static let hydrationPatience: Duration = .seconds(2)

  /// A token that was granted no longer ago than this was "just issued".
  static let justIssued: Duration = .seconds(120)

  /// What a caller without a wish of its own gets: at least this long a validity, where that can be had.
  static let usualValidity: Duration = .seconds(60)

  mutating func called(_ id: CallID, _ call: SessionCall, at now: Timestamp) -> [SessionAction] {
    if isStopping, !call.needsNoRefresh { return [.answer(id, .refused(.stopping))] }
    func waiting(_ kind: WaitingCall.Kind) -> WaitingCall { WaitingCall(id: id, kind: kind, askedAt: now) }
    switch call {
    case .token(let minValidity):
      calls.append(waiting(.token(minValidity: minValidity)))
    case .refresh:
      calls.append(waiting(.refresh))
    case .reportUnauthorized(let refusal):
      return refused(refusal, waiting(.refusal(refusal.fingerprint)), at: now)
    case .rehydrate:
      looking.isWanted = true
      calls.append(waiting(.look))
    case .settle:
      calls.append(waiting(.look))
      let isRead = credentialState != .unread && (credentialState != .withheld || !locks.isEmpty)
      if isRead, !looking.isReading, !looking.isWanted {
        calls[calls.endIndex - 1].outcome = .succeeded
      }
    case .signOut(let revoke):
      return signOut(id, revoke: revoke, at: now)
    case .requestGrant:
      guard settings.renewsWithoutRefreshToken else { return [.answer(id, .refused(.needsSignIn))] }
      switch credentialState {
      case .ended(let record) where record.reason != .credentialTooNew: startAnew()
      case .absent: startAnew()
      case .unread, .withheld, .unreadable, .held, .starting, .adopting, .ending, .ended: break
      }
      calls.append(waiting(.refresh))
    case .adopt(let credential, let isFresh, let since):
      guard since.map({ $0.generation == epoch.generation }) ?? true else {
        return [.answer(id, .refused(.superseded))] + (isFresh ? [.revoke(credential)] : [])
      }
      let superseded = supersedeAdoption()
      let unlocks = since.map { $0.userLocks == epoch.userLocks } ?? true
      calls.append(waiting(.adoption))
      return superseded + adopt(credential, unlocks: unlocks, isFresh: isFresh, at: now)
    }
    return []
  }

  private mutating func startAnew() {
    leaveSignIn()
    history = RefreshHistory(lastAttemptAt: history.lastAttemptAt)
    credentialState = .starting(isInFlight: false)
  }

  /// Writes a grant of a new sign-in; what clients see changes once it is on disk.
  mutating func adopt(
    _ credential: Credential, unlocks: Bool, isFresh: Bool, at now: Timestamp
  ) -> [SessionAction] {
    let shown = state(at: now)
    leaveSignIn()
    credentialState = .adopting(Adoption(credential: credential, unlocks: unlocks, isFresh: isFresh, shownAs: shown))
    return write(credential)
  }

  /// A sign-in that is being written is overtaken by a sign-out or another sign-in: whoever brought it is told.
  private mutating func supersedeAdoption() -> [SessionAction] {
    let overtaken = calls.filter { $0.kind == .adoption }
    calls.removeAll { $0.kind == .adoption }
    return overtaken.map { .answer($0.id, .refused(.superseded)) }
  }

  private mutating func refused(
    _ refusal: APIRejection, _ call: WaitingCall, at now: Timestamp
  ) -> [SessionAction] {
    guard case .held(let held) = credentialState, case .authenticated = state(at: now),
      held.grant.bearer(settings.bearer).fingerprint == refusal.fingerprint
    else { return [.answer(call.id, .done)] }
    let isKnown = self.refusal?.fingerprint == refusal.fingerprint
    let news: [SessionAction] = isKnown ? [] : [.announce(.unauthorized(refusal))]
    // Some providers take a token back the moment they grant the next one: that one is on its way.
    guard held.phase == .idle else {
      calls.append(call)
      return news
    }
    let isRenewable = isRenewable(held.grant, at: now)
    let isJustIssued = now - held.grant.issuedAt <= Self.justIssued
    if isJustIssued, held.followsRefusal || !isRenewable, !refusal.isAcceptedElsewhere {
      calls.append(call)
      return news + end(.rejectedByServer, at: now)
    }
    // An older token that nothing can renew is what there is: one API's 401 does not end the session of all.
    guard isRenewable else {
      updateHeld { held, _ in held.isRefused = !refusal.isAcceptedElsewhere }
      return news + [.answer(call.id, .done)]
    }
    // While a failure is being waited out no refresh is sent for it; the token is given to nobody until one succeeds.
    let isWaitedOut = whyNoRefresh(held, at: now) != nil
    if !(isWaitedOut && refusal.isAcceptedElsewhere) { self.refusal = refusal }
    if isWaitedOut { return news + [.answer(call.id, .done)] }
    calls.append(call)
    return news
  }

  private mutating func signOut(_ id: CallID, revoke: Bool, at now: Timestamp) -> [SessionAction] {
    let newest = newestInMemory
    leaveSignIn()
    if credentialState == .absent(signedOut: true) { return [.answer(id, .signedOut(revoke: []))] }
    calls.append(WaitingCall(id: id, kind: .signOut(newest, revoke: revoke), askedAt: now))
    if case .ending(let record, _) = credentialState, record.reason == .signedOut { return [] }
    let superseded = supersedeAdoption()
    refusal = nil
    history = RefreshHistory(lastAttemptAt: history.lastAttemptAt)
    writing.succeeded()
    let record = EndRecord(reason: .signedOut, at: now, fingerprint: nil)
    credentialState = .ending(record, shownAs: state(at: now))
    return superseded + writeDown(record)
  }

  private var newestInMemory: Credential? {
    switch credentialState {
    case .held(let held): if case .storing(let credential, _) = held.phase { credential } else { held.credential }
    case .adopting(let adoption): adoption.credential
    case .unread, .withheld, .unreadable, .starting, .ending, .ended, .absent: nil
    }
  }

  mutating func answerCalls(at now: Timestamp) -> [SessionAction] {
    var actions: [SessionAction] = []
    calls = calls.filter { call in
      guard let answer = answer(to: call, at: now) else { return true }
      actions.append(.answer(call.id, answer))
      return false
    }
    return actions
  }

  /// Everything has a deadline: a refresh may take two requests, a look at the disk or a lock much less.
  func deadline(of call: WaitingCall, at now: Timestamp) -> Timestamp {
    let isShort =
      switch call.kind {
      case .look: true
      case .token, .refresh, .refusal: state(at: now) == .hydrating
      case .signOut, .adoption: false
      }
    return call.askedAt + (isShort ? Self.hydrationPatience : settings.refresh.requestTimeout * 2 + .seconds(10))
  }

  private func answer(to call: WaitingCall, at now: Timestamp) -> SessionResponse? {
    if let answer = answerWhenReady(to: call, at: now) { return answer }
    guard deadline(of: call, at: now) <= now else { return nil }
    func late(_ message: String) -> SessionResponse { .refused(.refreshUnavailable(message: message, retryAfter: nil)) }
    switch call.kind {
    case .token, .refresh:
      let message = history.lastError ?? "The provider did not answer."
      var call = call
      call.outcome = .failed(message: message, retryAfter: nil)
      return answerWhenReady(to: call, at: now) ?? late(message)
    case .refusal, .look: return .done
    case .signOut, .adoption: return late("It could not be written down yet.")
    }
  }

  private func answerWhenReady(to call: WaitingCall, at now: Timestamp) -> SessionResponse? {
    switch call.kind {
    case .signOut: return nil
    case .look, .adoption: return call.outcome == nil ? nil : .done
    case .token, .refresh, .refusal: break
    }
    switch credentialState {
    case .adopting: return nil
    case .ending: return answerWhileEnding(call, at: now)
    case .unread, .withheld, .unreadable, .held, .starting, .ended, .absent: break
    }
    let state = state(at: now)
    switch state {
    case .hydrating:
      if isStopping { return .refused(.stopping) }
      return deadline(of: call, at: now) <= now ? .refused(.state(state)) : nil
    case .locked, .unauthenticated, .reauthRequired:
      if case .refusal = call.kind { return .done }
      return .refused(.state(state))
    case .authenticated: break
    }
    if case .starting(let isInFlight) = credentialState {
      return answerBeforeFirstGrant(to: call, isInFlight: isInFlight, at: now)
    }
    guard case .held(let held) = credentialState else { return nil }
    switch call.kind {
    case .token(let minValidity) where isUsable(held, at: now) && lasts(held.grant, minValidity, at: now):
      return .token(held.credential)
    case .token, .refresh, .refusal, .look, .signOut, .adoption: break
    }
    if isStopping, call.outcome == nil, held.phase == .idle { return .refused(.stopping) }
    switch call.kind {
    case .token(let minValidity): return lesserTokenAnswer(call, held, minValidity, at: now)
    case .refresh: return refreshAnswer(call, held, at: now)
    case .refusal(let fingerprint):
      guard call.outcome == nil, held.grant.bearer(settings.bearer).fingerprint == fingerprint else { return .done }
      return refusal == nil && held.phase == .idle ? .done : nil
    case .look, .signOut, .adoption: return nil
    }
  }

  /// There is no token yet, and the provider is asked for the first one.
  private func answerBeforeFirstGrant(to call: WaitingCall, isInFlight: Bool, at now: Timestamp) -> SessionResponse? {
    if case .refusal = call.kind { return .done }
    if case .failed(let message, let retryAfter)? = call.outcome {
      return .refused(.refreshUnavailable(message: message, retryAfter: retryAfter))
    }
    if isInFlight { return nil }
    if isStopping { return .refused(.stopping) }
    guard let trouble = history.trouble, now < trouble.until, call.kind != .refresh || now < trouble.floor else {
      return nil
    }
    return .refused(.refreshUnavailable(message: history.lastError ?? "", retryAfter: trouble.until - now))
  }

  /// Until the end is on record nobody is told of it, and nobody is given a token either.
  private func answerWhileEnding(_ call: WaitingCall, at now: Timestamp) -> SessionResponse? {
    guard let why = endFailure, !writing.isWriting else { return nil }
    if case .refusal = call.kind { return .done }
    return .refused(.refreshUnavailable(message: why, retryAfter: writing.againAt.map { $0 - now }))
  }

  private func isUsable(_ held: HeldGrant, at now: Timestamp) -> Bool {
    let bearer = held.grant.bearer(settings.bearer)
    return !held.grant.isExpired(at: now) && refusal?.fingerprint != bearer.fingerprint && !bearer.secret.isEmpty
  }

  /// Where the token does not last as long as is asked.
  private func lesserTokenAnswer(
    _ call: WaitingCall, _ held: HeldGrant, _ minValidity: Duration?, at now: Timestamp
  ) -> SessionResponse? {
    let isUsable = isUsable(held, at: now)
    let failure: SessionRejection
    switch call.outcome {
    case .succeeded: return .token(held.credential)
    case .failed(let message, let retryAfter):
      failure = .refreshUnavailable(message: message, retryAfter: retryAfter)
    case nil:
      if isUsable, minValidity == nil, held.phase.isInFlight || held.phase.isStoring {
        return .token(held.credential)
      }
      guard let refusal = whyNoRefresh(held, at: now) else { return nil }
      failure = refusal
    }
    return isUsable && minValidity == nil ? .token(held.credential) : .refused(failure)
  }

  /// Whether a token lasts as long as is asked. More than its lifetime less the margin cannot be asked.
  private func lasts(_ grant: Grant, _ validity: Duration?, at now: Timestamp) -> Bool {
    guard let expiresAt = grant.expiresAt, let lifetime = grant.lifetime else { return true }
    return expiresAt - now
      >= Swift.min(validity ?? Self.usualValidity, lifetime - settings.refresh.margin(forLifetime: lifetime))
  }

  private func refreshAnswer(_ call: WaitingCall, _ held: HeldGrant, at now: Timestamp) -> SessionResponse? {
    switch call.outcome {
    case .succeeded: return .done
    case .failed(let message, let retryAfter):
      return .refused(.refreshUnavailable(message: message, retryAfter: retryAfter))
    case nil:
      // Asked outright, a refresh waits for the provider's floor alone, and not longer than it takes to ask.
      if let trouble = history.trouble, trouble.floor <= now, canRefresh(held, at: now) { return nil }
      return whyNoRefresh(held, at: now).map { .refused($0) }
    }
  }

  /// Why no refresh will be sent for a call that asks for one now; nil where one is under way or about to be.
  private func whyNoRefresh(_ held: HeldGrant, at now: Timestamp) -> SessionRejection? {
    // Whoever joins one that is under way gets its result, whatever has become of the place meanwhile.
    guard held.phase == .idle else { return nil }
    if let accessFailure = held.accessFailure { return .state(.locked(.accessFailure(accessFailure))) }
    if !isRenewable(held.grant, at: now) {
      // No patience helps here: what there is to do is to sign in.
      return .state(.reauthRequired(held.grant.refreshToken == nil ? .noRefreshToken : .refreshTokenExpired))
    }
    if !held.isStored, !writing.isWriting {
      let why = writing.lastFailure?.detail ?? "it is not on disk yet"
      return .refreshUnavailable(message: "The credential cannot be written now (\(why)).", retryAfter: nil)
    }
    if let trouble = history.trouble, now < trouble.until {
      return .refreshUnavailable(message: history.lastError ?? "", retryAfter: trouble.until - now)
    }
    return nil
  }
}

extension SessionCall {
  /// What a session that is being stopped can still do: give the token that it has, and take in what a provider has
  /// granted already.
  fileprivate var needsNoRefresh: Bool {
    switch self {
    case .token: true
    case .adopt(_, let isFresh, _): isFresh
    case .requestGrant, .refresh, .reportUnauthorized, .rehydrate, .settle, .signOut: false
    }
  }
}
