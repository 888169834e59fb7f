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
    locks.isEmpty && !isStopping && !isAsking && adoption == nil && !writing.isWriting && held.isStored
      && held.obstacle == nil && isRenewable(held.grant, at: now)
  }

  /// Whatever asks for it, no refresh is sent before this.
  var leastGapEnd: Timestamp {
    history.lastAttemptAt.map { $0 + RefreshSettings.leastGap } ?? Timestamp(milliseconds: 0)
  }

  /// The earliest moment at which a refresh that is wanted may be sent.
  private var earliestAttempt: Timestamp {
    guard let wait = history.wait else { return leastGapEnd }
    return isRefreshAsked ? Swift.min(wait.until, Swift.max(wait.floor, leastGapEnd)) : wait.until
  }

  /// When the next refresh will be sent by itself; nil: none is planned, or one is under way.
  func plannedRefresh(_ held: HeldGrant) -> Timestamp? {
    guard held.phase == .idle else { return nil }
    let earliest = earliestAttempt
    // One that failed is made good for, also where it was asked for long before it was due.
    if refusedToken != nil || callsWantRefresh || history.failures > 0 { return earliest }
    return held.refreshAt.map { Swift.max($0, earliest) }
  }

  /// Somebody asks for a refresh outright: that shortens the wait after a failure.
  private var isRefreshAsked: Bool { calls.contains { $0.kind == .refresh && $0.outcome == nil } }

  /// Calls that wait for a refresh which has not ended yet.
  var callsWantRefresh: Bool {
    calls.contains { call in
      switch call.kind {
      case .token, .refresh: call.outcome == nil
      case .refusal, .look, .signOut, .adoption: false
      }
    }
  }

  mutating func beginRefreshIfDue(at now: Timestamp) -> [SessionAction] {
    guard case .held(var held) = knowledge, canRefresh(held, at: now) else { return [] }
    guard let planned = plannedRefresh(held), planned <= now else { return [] }
    held.phase = .inFlight
    knowledge = .held(held)
    return ask(held.credential, at: now)
  }

  private mutating func ask(_ credential: Credential, at now: Timestamp) -> [SessionAction] {
    isAsking = true
    history.lastAttemptAt = now
    return [.refresh(credential, generation: generation)]
  }

  mutating func refreshEnded(
    _ outcome: RefreshOutcome, generation asked: Int, at now: Timestamp
  ) -> [SessionAction] {
    isAsking = false
    guard asked == generation, case .held(let held) = knowledge, held.phase == .inFlight else {
      // Another program's newer grant may come of the same sign-in, and be revoked with this one (RFC 7009, 2.1).
      guard case .granted(let response) = outcome, asked < signInGeneration else { return [] }
      let grant = Grant(response, after: nil, bearer: settings.bearer, receivedAt: now)
      return [.revoke(Credential(grant: grant, subject: response.subject, origin: response.origin))]
    }
    switch outcome {
    case .granted(let response):
      return granted(response, to: held, at: now)
    case .notAsked(let obstacle):
      looking.isWanted = true
      let actions = failed(
        "The credential could not be stored (\(obstacle.detail)), so nothing was asked.", at: now)
      history.needsPassphrase = obstacle.kind == .passphraseRequired
      return actions
    case .failed(.unanswered(let message)):
      guard history.repeatsLostReply else {
        // The provider may have rotated the token: at once with the same one, while its grace window is open.
        history.repeatsLostReply = true
        history.lastError = message
        return ask(held.credential, at: now)
      }
      return failed(message, at: now)
    case .failed(.unavailable(let message, let retryAfter)):
      return failed(message, retryAfter: retryAfter, at: now)
    case .failed(.misconfigured(let message)):
      return misconfigured(message, at: now)
    case .failed(.unreachable(let message)):
      return failed(message, at: now)
    case .failed(.unclear(let message, let retryAfter)):
      return failed(message, retryAfter: retryAfter, limit: RefreshSettings.unclearBackoffMax, at: now)
    case .failed(.rejected(let rejection, let message)):
      switch rejection {
      case .refreshToken: return rejected(.refreshTokenRejected, message: message, at: now)
      case .accountDisabled: return rejected(.accountDisabled, message: message, at: now)
      }
    }
  }

  private mutating func granted(
    _ response: TokenResponse, to held: HeldGrant, at now: Timestamp
  ) -> [SessionAction] {
    if let brought = response.subject, let known = held.credential.subject, brought != known {
      // What it brought is not ours; what we hold is not revoked with it.
      let grant = Grant(response, after: nil, bearer: settings.bearer, receivedAt: now)
      return [.revoke(Credential(grant: grant, subject: brought, origin: response.origin))]
        + misconfigured("The provider answered for another user (\(brought.id)) than \(known.id).", at: now)
    }
    let credential = Credential(
      grant: Grant(response, after: held.grant, bearer: settings.bearer, receivedAt: now),
      subject: held.credential.subject ?? response.subject, origin: response.origin)
    updateHeld { held, _ in held.phase = .storing(credential) }
    // The file is being read because it may have changed: another program's newer grant is not written over.
    return looking.isReading && !isStopping ? [] : write(credential)
  }

  /// The new grant is on disk, or kept in memory because it could not be written: now it may be seen.
  mutating func refreshed(_ credential: Credential, isStored: Bool, at now: Timestamp) -> [SessionAction] {
    guard case .held(let old) = knowledge else { return [] }
    let previous = old.grant.bearer(settings.bearer).fingerprint
    let isRenewed = !credential.grant.keepsIDToken(of: old.grant, as: settings.bearer)
    let refreshAt = settings.refresh.refreshTime(of: credential.grant, share: chance.share())
    var held = HeldGrant(
      credential: credential, isStored: isStored, obstacle: old.obstacle, refreshAt: refreshAt)
    held.followsRefusal = isRenewed ? refusedToken == previous : old.followsRefusal
    held.isTimedHere = isRenewed || old.isTimedHere
    held.expiryAnnounced = !isRenewed && old.expiryAnnounced
    knowledge = .held(held)
    if let origin = credential.origin { settings.home?.settle(at: origin) }
    let isNewlyKnown = credential.subject != nil && credential.subject != subject
    subject = credential.subject ?? subject
    var actions =
      isRenewed
      ? renewed(held.grant, after: previous, at: now)
      // Asked again at once, it would bring as little: what else it brought is kept.
      : misconfigured(
        "The provider brought no new ID token: use bearer = \"access_token\", or ask it for one.", at: now)
    if isNewlyKnown { actions.append(.announce(.statusChanged)) }
    if credential.subject == nil, settings.configuredSubject == nil {
      actions.append(.identify(credential, generation: generation))
    }
    return actions
  }

  private mutating func renewed(
    _ grant: Grant, after previous: Fingerprint, at now: Timestamp
  ) -> [SessionAction] {
    history = RefreshHistory(lastAttemptAt: history.lastAttemptAt)
    history.lastAt = now
    history.lastOutcome = .success
    refusedToken = nil
    finishRefreshCalls(.succeeded)
    let bearer = grant.bearer(settings.bearer).fingerprint
    return [.announce(.refreshed(bearer, previous: previous, expiresAt: grant.expiresAt))]
  }

  private mutating func failed(
    _ message: String, retryAfter: Duration? = nil, limit: Duration = .zero, at now: Timestamp
  ) -> [SessionAction] {
    history.failures += 1
    let backoff = settings.refresh.backoff(failures: history.failures, atLeastUpTo: limit, share: chance.share())
    let floor = retryAfter.map { Swift.min($0, RefreshSettings.retryAfterCap) } ?? .zero
    return wait(Swift.max(backoff, floor), floor: floor, isMisconfigured: false, .unavailable, message, at: now)
  }

  private mutating func misconfigured(_ message: String, at now: Timestamp) -> [SessionAction] {
    history.failures += 1
    let backoff = settings.refresh.configurationBackoff(share: chance.share())
    return wait(backoff, floor: .zero, isMisconfigured: true, .misconfigured, message, at: now)
  }

  private mutating func wait(
    _ duration: Duration, floor: Duration, isMisconfigured: Bool, _ outcome: RefreshHistory.Outcome,
    _ message: String, at now: Timestamp
  ) -> [SessionAction] {
    guard case .held(var held) = knowledge else { return [] }
    held.phase = .idle
    knowledge = .held(held)
    history.wait = RefreshWait(until: now + duration, floor: now + floor, isMisconfigured: isMisconfigured)
    history.repeatsLostReply = false
    history.needsPassphrase = false
    history.lastAt = now
    history.lastOutcome = outcome
    history.lastError = message
    refusedToken = nil
    finishRefreshCalls(.failed(message: message, retryAfter: duration))
    return [.announce(.refreshFailed(message: message, failures: history.failures))]
  }

  private mutating func rejected(_ reason: EndReason, message: String, at now: Timestamp) -> [SessionAction] {
    history.repeatsLostReply = false
    history.lastAt = now
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
      case .token, .refresh: calls[index].outcome = outcome
      case .refusal, .look, .signOut, .adoption: break
      }
    }
  }
}
