/// Handles the clients' calls, and decides when each call can be answered.
extension SessionMachine {
  /// How long a call waits for a credential that has not been read yet.
  package static let hydrationTimeout: Duration = .seconds(2)

  /// The maximum age of a token that counts as just issued.
  private static let justIssued: Duration = .seconds(120)

  // MARK: - A call arrives

  mutating func called(_ id: CallID, _ call: SessionCall, at now: Timestamp) -> [SessionAction] {
    // A stopping session still gives its token and signs out.
    switch call {
    case .token, .signOut: break
    case .adopt, .signIn, .redirected, .requestGrant, .refresh, .reportUnauthorized, .rehydrate, .awaitReading:
      if isStopping { return [.answer(id, .rejected(.shuttingDown))] }
    }
    switch call {
    case .token(let minValidity): calls.add(id, .token(minValidity: minValidity), at: now)
    case .refresh: calls.add(id, .refresh, at: now)
    case .reportUnauthorized(let rejection): return apiRejected(rejection, id, at: now)
    case .rehydrate:
      file.read.request()
      calls.add(id, .read, at: now)
    case .awaitReading:
      let isRead = credentialState != .notHeld(.unread) && (credentialState != .notHeld(.locked) || !locks.isEmpty)
      let isDone = isRead && !file.read.isUnderWay && !file.read.isRequested
      calls.add(id, .read, at: now, outcome: isDone ? .succeeded : nil)
    case .signOut(let revoke): return signOut(id, revoke: revoke, at: now)
    case .requestGrant:
      guard settings.renewsWithoutRefreshToken else {
        let why = SignInFailure.notSupported(message: "Only client-credentials accounts support this flow.")
        return [.answer(id, .rejected(Failure(why, account)))]
      }
      switch credentialState {
      case .ended(let record) where record.reason != .credentialTooNew: startAnew()
      case .absent: startAnew()
      case .active where refreshes.isBarred: startAnew()
      case .notHeld, .active, .starting, .adopting, .ending, .ended: break
      }
      calls.add(id, .refresh, at: now)
    case .adopt(let credential, let isCounted):
      return adopt(IncomingGrant(credential, isCounted: isCounted, since: epoch), for: id, at: now)
    case .signIn(let flow, let replacesLocked, let endsEarlier):
      let signIn = SignIn(
        flow, to: account, replacesLocked: replacesLocked, endsEarlier: endsEarlier, since: epoch)
      return start(signIn, for: id, at: now)
    case .redirected(let signIn, let reading): return redirected(signIn, reading, by: id, at: now)
    }
    return []
  }

  private mutating func startAnew() {
    leaveSignIn()
    refreshes.restart()
    credentialState = .starting(isInFlight: false)
  }

  /// Handles a 401 from an API. Ignores it if the token is no longer in use, or if the API requires more than a fresh
  /// token. If the 401 concerns only one request, responds with the same token.
  private mutating func apiRejected(_ rejection: APIRejection, _ id: CallID, at now: Timestamp) -> [SessionAction] {
    guard !rejection.isChallenge, let active, case .authenticated = state(at: now),
      active.grant.bearer(settings.bearer).fingerprint == rejection.fingerprint
    else { return [.answer(id, .done)] }
    if active.phase == .idle, refreshes.isAboutRequest(rejection, at: now) { return [.answer(id, token(of: active))] }
    let isKnown = refreshes.apiRejection?.fingerprint == rejection.fingerprint
    let wasRejected = isRejected(rejection.fingerprint)
    let events: [SessionAction] = isKnown ? [] : [.publish(.unauthorized(rejection))]
    // Wait for the refresh in progress, because some providers revoke a token as soon as they issue the next one.
    guard active.phase == .idle else {
      calls.add(id, .apiRejection(rejection.fingerprint), at: now)
      return events
    }
    let isRenewable = isRenewable(active, at: now)
    let isJustIssued = now - active.grant.issuedAt <= Self.justIssued
    if isJustIssued, active.followsRejection || !isRenewable, !rejection.isAcceptedElsewhere {
      calls.add(id, .apiRejection(rejection.fingerprint), at: now)
      return events + end(.rejectedByServer, at: now)
    }
    // Otherwise, a token that cannot be renewed stays in use, because one API's 401 must not end the session for all
    // APIs.
    guard isRenewable else {
      self.active?.isRejected = !rejection.isAcceptedElsewhere
      return events + noteRejection(of: rejection.fingerprint, after: wasRejected)
        + [.answer(id, rejection.isAcceptedElsewhere ? token(of: active) : .done)]
    }
    // If no refresh can be sent now, for example during the delay after a failure, the token is still withheld unless
    // it is accepted elsewhere.
    let isWaitedOut = whyNoRefresh(active, at: now) != nil
    if !(isWaitedOut && rejection.isAcceptedElsewhere) { refreshes.tokenRejected(rejection) }
    let actions = events + noteRejection(of: rejection.fingerprint, after: wasRejected)
    if isWaitedOut { return actions + [.answer(id, .done)] }
    calls.add(id, .apiRejection(rejection.fingerprint), at: now)
    return actions
  }

  private func isRejected(_ token: Fingerprint) -> Bool { active?.isRejected == true || refreshes.isRejected(token) }

  private func noteRejection(of token: Fingerprint, after wasRejected: Bool) -> [SessionAction] {
    let isRejected = isRejected(token)
    return isRejected == wasRejected ? [] : [.remember(.rejected(isRejected ? token : nil))]
  }

  // MARK: - A call is answered

  mutating func answerCalls(at now: Timestamp) -> [SessionAction] {
    let late = calls.all.filter { $0.kind == .room && deadline(of: $0, at: now) <= now }
    let silence = AccessFailure(.storageError, detail: "the storage did not respond in time")
    let dropped = late.flatMap { roomMade($0.id, .failure(silence), at: now) }
    let answers = calls.all.compactMap { call in response(to: call, at: now).map { (id: call.id, $0) } }
    calls.remove(answers.map(\.id))
    return dropped + answers.map { .answer($0, $1) }
  }

  /// Returns the call's deadline. A refresh may need two requests, whereas reading the credential takes much less time.
  func deadline(of call: WaitingCall, at now: Timestamp) -> Timestamp {
    let isShort =
      switch call.kind {
      case .read: true
      case .token, .refresh, .apiRejection: state(at: now) == .hydrating
      case .signOut, .room, .adoption: false
      }
    return call.askedAt + (isShort ? Self.hydrationTimeout : settings.refresh.requestTimeout * 2 + .seconds(10))
  }

  /// Returns the response to a call, or `nil` while the call has to wait.
  private func response(to call: WaitingCall, at now: Timestamp) -> SessionResponse? {
    if let response = responseIfReady(to: call, at: now) { return response }
    guard deadline(of: call, at: now) <= now else { return nil }
    let message: String
    switch call.kind {
    case .token, .refresh:
      message = refreshes.history.lastError ?? "The provider did not respond."
      var call = call
      call.outcome = .failed(message: message, retryAfter: nil)
      if let response = responseIfReady(to: call, at: now) { return response }
    case .room: return nil
    case .signOut, .adoption: message = "Hearth could not save the change yet and will retry."
    case .apiRejection, .read: return .done
    }
    return .rejected(unavailable(message, at: now))
  }

  private func responseIfReady(to call: WaitingCall, at now: Timestamp) -> SessionResponse? {
    switch call.kind {
    case .signOut, .room: return nil
    case .read, .adoption: return call.outcome == nil ? nil : .done
    case .token, .refresh, .apiRejection: break
    }
    switch credentialState {
    case .adopting: return nil
    case .ending: return responseWhileEnding(call, at: now)
    case .notHeld, .active, .starting, .ended, .absent: break
    }
    let state = state(at: now)
    switch state {
    case .hydrating:
      if isStopping { return .rejected(.shuttingDown) }
      return deadline(of: call, at: now) <= now ? .rejected(failure(in: state, at: now)) : nil
    case .locked, .unauthenticated, .reauthRequired:
      if case .apiRejection = call.kind { return .done }
      return .rejected(failure(in: state, at: now))
    case .authenticated: break
    }
    switch credentialState {
    case .starting(let isInFlight): return responseBeforeFirstGrant(to: call, isInFlight: isInFlight, at: now)
    case .active(let active): return response(to: call, from: active, at: now)
    case .notHeld, .adopting, .ending, .ended, .absent: return nil
    }
  }

  /// Returns the response while the end is being written. Rejects calls if the last write has failed.
  private func responseWhileEnding(_ call: WaitingCall, at now: Timestamp) -> SessionResponse? {
    guard let message = endFailure, !file.write.isUnderWay else { return nil }
    if case .apiRejection = call.kind { return .done }
    return .rejected(unavailable(message, retryAfter: file.write.retryAt.map { $0 - now }, at: now))
  }

  /// Returns the response while the first token is due or being requested.
  private func responseBeforeFirstGrant(to call: WaitingCall, isInFlight: Bool, at now: Timestamp) -> SessionResponse? {
    if case .apiRejection = call.kind { return .done }
    if case .failed(let message, let retryAfter)? = call.outcome {
      return .rejected(unavailable(message, retryAfter: retryAfter, at: now))
    }
    if isInFlight { return nil }
    if isStopping { return .rejected(.shuttingDown) }
    guard let trouble = refreshes.history.trouble, now < trouble.until else { return nil }
    guard call.kind == .refresh else { return .rejected(waitedOut(trouble, at: now)) }
    return responseToDemand(trouble, at: now)
  }

  private func waitedOut(_ trouble: RefreshTrouble, at now: Timestamp) -> Failure {
    unavailable(
      refreshes.history.lastError ?? "", retryAfter: refreshes.isBarred ? nil : trouble.until - now, at: now)
  }

  /// Returns the failure for a state in which the session provides no token.
  func failure(in state: SessionState, at now: Timestamp) -> Failure { .state(state, snapshot(at: now)) }

  /// `retryAfter` is `nil` if the time of the next attempt is unknown.
  func unavailable(_ message: String, retryAfter: Duration? = nil, at now: Timestamp) -> Failure {
    Failure(
      .refreshUnavailable, message, account: account, action: snapshot(at: now).action, retryAfter: retryAfter)
  }

  // MARK: - From the grant in memory

  private func response(to call: WaitingCall, from active: ActiveGrant, at now: Timestamp) -> SessionResponse? {
    if case .token(let minValidity) = call.kind, isUsable(active, at: now),
      TokenValidity(of: active.grant, settings.refresh).covers(minValidity, at: now)
    {
      return token(of: active)
    }
    if isStopping, call.outcome == nil, active.phase == .idle { return .rejected(.shuttingDown) }
    switch call.kind {
    case .token(let minValidity): return lesserToken(call, active, minValidity, at: now)
    case .refresh: return refreshResponse(call, active, at: now)
    case .apiRejection(let fingerprint):
      guard call.outcome == nil, active.grant.bearer(settings.bearer).fingerprint == fingerprint else { return .done }
      return refreshes.apiRejection == nil && active.phase == .idle ? .done : nil
    case .read, .signOut, .room, .adoption: return nil
    }
  }

  /// Returns the token that the session would return to a call that `validity` covers, without changing the session.
  /// Returns `nil` if the call might have to wait or would be rejected.
  package func readyToken(at now: Timestamp) -> (bearer: Bearer, grant: Grant, validity: TokenValidity)? {
    guard !isStopping, let active, case .authenticated = state(at: now), isUsable(active, at: now) else { return nil }
    let validity = TokenValidity(of: active.grant, settings.refresh, until: nextWake(after: now))
    return (bearer(of: active), active.grant, validity)
  }

  private func token(of active: ActiveGrant) -> SessionResponse { .token(bearer(of: active)) }

  private func bearer(of active: ActiveGrant) -> Bearer {
    Bearer(active.credential, of: account, as: settings.bearer, subject: subject, issuer: settings.issuer)
  }

  private func isUsable(_ active: ActiveGrant, at now: Timestamp) -> Bool {
    let bearer = active.grant.bearer(settings.bearer)
    return !active.grant.isExpired(at: now) && !refreshes.isRejected(bearer.fingerprint)
      && !bearer.secret.isEmpty
  }

  /// Returns the response if the token expires too soon for the call. If the call does not set a minimum, the response
  /// can still be that token.
  private func lesserToken(
    _ call: WaitingCall, _ active: ActiveGrant, _ minValidity: Duration?, at now: Timestamp
  ) -> SessionResponse? {
    let isEnough = minValidity == nil && isUsable(active, at: now)
    switch call.outcome {
    case .succeeded: return token(of: active)
    case .failed(let message, let retryAfter):
      return isEnough ? token(of: active) : .rejected(unavailable(message, retryAfter: retryAfter, at: now))
    case nil:
      if isEnough, active.phase.isInFlight || active.phase.isStoring { return token(of: active) }
      return whyNoRefresh(active, at: now).map { isEnough ? token(of: active) : .rejected($0) }
    }
  }

  private func refreshResponse(_ call: WaitingCall, _ active: ActiveGrant, at now: Timestamp) -> SessionResponse? {
    switch call.outcome {
    case .succeeded: return .done
    case .failed(let message, let retryAfter):
      return .rejected(unavailable(message, retryAfter: retryAfter, at: now))
    case nil:
      guard let trouble = refreshes.history.trouble, canRefresh(active, at: now) else {
        return whyNoRefresh(active, at: now).map { .rejected($0) }
      }
      return responseToDemand(trouble, at: now)
    }
  }

  /// Rejects an explicitly requested refresh while the provider's `Retry-After` applies, but for no more than ten
  /// seconds. Returns `nil` if the refresh can be sent.
  private func responseToDemand(_ trouble: RefreshTrouble, at now: Timestamp) -> SessionResponse? {
    let earliest = Swift.min(trouble.floor, refreshes.earliestAttempt(isDemanded: true))
    return earliest <= now ? nil : .rejected(waitedOut(trouble, at: now))
  }

  /// Returns why no refresh will be sent for a call, or `nil` if a refresh is in progress or about to be sent.
  private func whyNoRefresh(_ active: ActiveGrant, at now: Timestamp) -> Failure? {
    // A call that joins a refresh in progress gets the refresh's result, even if the file has changed in the meantime.
    guard active.phase == .idle else { return nil }
    if let accessFailure = active.accessFailure { return failure(in: .locked(.accessFailure(accessFailure)), at: now) }
    if !canAskAbout(active, at: now) {
      // Waiting does not help, because only a sign-in can provide a new token.
      let reason = active.grant.refreshToken == nil ? EndReason.noRefreshToken : .refreshTokenExpired
      return failure(in: .reauthRequired(reason), at: now)
    }
    if !active.isStored, !file.write.isUnderWay {
      let why = file.write.lastFailure?.detail ?? "no write has completed yet"
      return unavailable("The credential cannot be written now (\(why)).", at: now)
    }
    guard let trouble = refreshes.history.trouble, now < trouble.until else { return nil }
    return waitedOut(trouble, at: now)
  }
}
