/// Refreshing: whether it may begin, and what its end means.
extension SessionMachine {
  /// A refresh could bring a new token: there is something to refresh with that has not run out.
  func isRenewable(_ grant: Grant, at now: Timestamp) -> Bool {
    if settings.renewsWithoutRefreshToken { return true }
    guard grant.refreshToken != nil else { return false }
    return grant.refreshExpiresAt.map { now < $0 } ?? true
  }

  /// Nothing but the time keeps a refresh from being sent.
  func canRefresh(_ held: HeldGrant, at now: Timestamp) -> Bool {
    locks.isEmpty && !isStopping && adoption == nil && !writing.isWriting && held.isStored && held.obstacle == nil
      && isRenewable(held.grant, at: now)
  }

  /// The earliest moment at which a refresh that is wanted may be sent; nil while one is under way.
  private func earliestAttempt(_ held: HeldGrant) -> Timestamp? {
    switch held.phase {
    case .inFlight, .storing, .confirming: return nil
    case .idle: return Timestamp(milliseconds: 0)
    case .waiting(let wait):
      guard isRefreshAsked, !wait.isFloor, let last = history.lastAttemptAt else { return wait.until }
      return Swift.min(wait.until, last + RefreshSettings.leastGap)
    }
  }

  /// When the next refresh will be sent by itself; nil: none is planned.
  func plannedRefresh(_ held: HeldGrant) -> Timestamp? {
    guard let earliest = earliestAttempt(held) else { return nil }
    if refusedToken != nil || callsWantRefresh { return earliest }
    return held.refreshAt.map { Swift.max($0, earliest) }
  }

  /// Somebody asks for a refresh outright: that shortens the wait after a failure.
  private var isRefreshAsked: Bool { calls.contains { $0.kind == .refresh && $0.outcome == nil } }

  /// Calls that wait for a refresh which has not ended yet.
  var callsWantRefresh: Bool {
    calls.contains { call in
      switch call.kind {
      case .token, .refresh, .refusal: call.outcome == nil
      case .look, .signOut, .adoption: false
      }
    }
  }

  mutating func beginRefreshIfDue(at now: Timestamp) -> [SessionAction] {
    guard case .held(var held) = knowledge, canRefresh(held, at: now) else { return [] }
    guard let planned = plannedRefresh(held), planned <= now else { return [] }
    held.phase = .inFlight
    knowledge = .held(held)
    history.lastAttemptAt = now
    return [.refresh(held.credential, generation: generation)]
  }

  mutating func refreshEnded(
    _ outcome: RefreshOutcome, generation asked: Int, at now: Timestamp
  ) -> [SessionAction] {
    guard asked == generation, case .held(let held) = knowledge, held.phase == .inFlight else {
      guard case .granted(let response) = outcome else { return [] }
      let grant = Grant(response, after: nil, receivedAt: now)
      return [.revoke(Credential(grant: grant, subject: response.subject, origin: response.origin))]
    }
    switch outcome {
    case .granted(let response):
      return granted(response, to: held, at: now)
    case .notAsked(let obstacle):
      looking.isWanted = true
      return failed("The credential could not be stored (\(obstacle.detail)), so nothing was asked.", at: now)
    case .failed(.unanswered(let message)):
      guard history.repeatsLostReply else {
        // The provider may have rotated the token: at once with the same one, while its grace window is open.
        history.repeatsLostReply = true
        history.lastError = message
        return [.refresh(held.credential, generation: generation)]
      }
      return failed(message, at: now)
    case .failed(.unavailable(let message, let retryAfter)):
      return failed(message, retryAfter: retryAfter, at: now)
    case .failed(.misconfigured(let message)):
      return misconfigured(message, at: now)
    case .failed(.unclearRefusal(let message)):
      let first = history.unclearRefusalAt ?? now
      if now - first >= RefreshSettings.unclearRefusalWait { return rejected(.refreshTokenRejected, message: message) }
      let actions = failed(message, retryAfter: RefreshSettings.unclearRefusalWait, at: now)
      history.unclearRefusalAt = first
      return actions
    case .failed(.rejected(let rejection, let message)):
      switch rejection {
      case .refreshToken: return rejected(.refreshTokenRejected, message: message)
      case .accountDisabled: return rejected(.accountDisabled, message: message)
      }
    }
  }

  private mutating func granted(
    _ response: TokenResponse, to held: HeldGrant, at now: Timestamp
  ) -> [SessionAction] {
    let grant = Grant(response, after: held.grant, receivedAt: now)
    if let brought = response.subject, let known = held.credential.subject, brought != known {
      return [.revoke(Credential(grant: grant, subject: brought, origin: response.origin))]
        + misconfigured("The provider answered for another user (\(brought.id)) than \(known.id).", at: now)
    }
    var held = held
    let credential = Credential(
      grant: grant, subject: held.credential.subject ?? response.subject, origin: response.origin)
    held.phase = .storing(credential)
    knowledge = .held(held)
    writing.underWay += 1
    return [.write(credential, generation: generation)]
  }

  /// The new grant is on disk, or kept in memory because it could not be written: now it may be seen.
  mutating func refreshed(_ credential: Credential, isStored: Bool, at now: Timestamp) -> [SessionAction] {
    guard case .held(let old) = knowledge else { return [] }
    let previous = old.grant.bearer(settings.bearer).fingerprint
    let followsRefusal = refusedToken == previous
    history = RefreshHistory()
    history.lastAttemptAt = now
    history.lastAt = now
    history.lastOutcome = .success
    refusedToken = nil
    let refreshAt = settings.refresh.refreshTime(of: credential.grant, share: chance.share())
    var held = HeldGrant(
      credential: credential, isStored: isStored, obstacle: old.obstacle, refreshAt: refreshAt)
    held.followsRefusal = followsRefusal
    knowledge = .held(held)
    let isNewlyKnown = subject == nil && credential.subject != nil
    subject = credential.subject ?? subject
    finishRefreshCalls(.succeeded)
    let bearer = credential.grant.bearer(settings.bearer).fingerprint
    var actions: [SessionAction] = [
      .announce(.refreshed(bearer, previous: previous, expiresAt: credential.grant.expiresAt))
    ]
    if isNewlyKnown { actions.append(.announce(.statusChanged)) }
    if credential.subject == nil, settings.configuredSubject == nil {
      actions.append(.identify(credential, generation: generation))
    }
    return actions
  }

  private mutating func failed(
    _ message: String, retryAfter: Duration? = nil, at now: Timestamp
  ) -> [SessionAction] {
    history.failures += 1
    let backoff = settings.refresh.backoff(failures: history.failures, share: chance.share())
    let floor = retryAfter.map { Swift.min($0, RefreshSettings.retryAfterCap) } ?? .zero
    return wait(
      Swift.max(backoff, floor), isFloor: floor > backoff, isMisconfigured: false, .unavailable, message, at: now)
  }

  private mutating func misconfigured(_ message: String, at now: Timestamp) -> [SessionAction] {
    history.failures += 1
    let backoff = settings.refresh.configurationBackoff(share: chance.share())
    return wait(backoff, isFloor: false, isMisconfigured: true, .misconfigured, message, at: now)
  }

  private mutating func wait(
    _ duration: Duration, isFloor: Bool, isMisconfigured: Bool, _ outcome: RefreshHistory.Outcome,
    _ message: String, at now: Timestamp
  ) -> [SessionAction] {
    guard case .held(var held) = knowledge else { return [] }
    let until = now + duration
    held.phase = .waiting(RefreshPhase.Wait(until: until, isFloor: isFloor, isMisconfigured: isMisconfigured))
    knowledge = .held(held)
    history.repeatsLostReply = false
    history.unclearRefusalAt = nil
    history.lastAt = now
    history.lastOutcome = outcome
    history.lastError = message
    refusedToken = nil
    finishRefreshCalls(.failed(message: message, retryAfter: duration))
    return [.announce(.refreshFailed(message: message, failures: history.failures, nextAttemptAt: until))]
  }

  private mutating func rejected(_ reason: EndReason, message: String) -> [SessionAction] {
    history.repeatsLostReply = false
    history.lastOutcome = .rejected
    history.lastError = message
    updateHeld { held, _ in held.phase = .confirming(reason) }
    // Another program may have rotated the token meanwhile: a newer grant in the file wins.
    looking.isWanted = true
    return []
  }

  /// The file was read after a refusal and holds no newer grant.
  mutating func confirmedRejection(at now: Timestamp) -> [SessionAction] {
    guard case .held(let held) = knowledge, case .confirming(let reason) = held.phase else { return [] }
    return end(reason, at: now)
  }

  private mutating func finishRefreshCalls(_ outcome: WaitingCall.Outcome) {
    for index in calls.indices where calls[index].outcome == nil {
      switch calls[index].kind {
      case .token, .refresh, .refusal: calls[index].outcome = outcome
      case .look, .signOut, .adoption: break
      }
    }
  }
}

extension Grant {
  /// What an answer makes of the grant before it: what the answer leaves out stays (RFC 6749, section 6).
  package init(_ response: TokenResponse, after old: Grant?, receivedAt now: Timestamp) {
    let refreshExpiresAt =
      response.refreshLifetime.map { now + $0 } ?? (response.refreshToken == nil ? old?.refreshExpiresAt : nil)
    self.init(
      accessToken: response.accessToken,
      refreshToken: response.refreshToken ?? old?.refreshToken,
      idToken: response.idToken ?? old?.idToken,
      tokenType: response.tokenType,
      scope: response.scope ?? old?.scope,
      issuedAt: now,
      expiresAt: response.lifetime.map { now + $0 },
      refreshExpiresAt: refreshExpiresAt)
  }
}
