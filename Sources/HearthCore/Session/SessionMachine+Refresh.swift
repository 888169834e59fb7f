/// Refreshing: whether it may begin, and what its end means.
extension SessionMachine {
  /// A refresh could bring a new token: there is something to refresh with that has not run out.
  func isRenewable(_ grant: Grant, at now: Timestamp) -> Bool {
    if settings.renewsWithoutRefreshToken { return true }
    guard grant.refreshToken != nil else { return false }
    return grant.refreshExpiresAt.map { now < $0 } ?? true
  }

  /// Neither a lock nor work on the disk nor another request keeps the provider from being asked.
  var canAsk: Bool { locks.isEmpty && !isStopping && request == nil && !writing.isWriting }

  /// Nothing but the time keeps a refresh from being sent.
  func canRefresh(_ held: HeldGrant, at now: Timestamp) -> Bool {
    canAsk && held.isStored && held.accessFailure == nil && isRenewable(held.grant, at: now)
  }

  /// Whatever asks for it, no refresh is sent before this.
  var leastGapEnd: Timestamp {
    history.lastAttemptAt.map { $0 + RefreshSettings.leastGap } ?? Timestamp(milliseconds: 0)
  }

  /// The earliest moment at which a refresh that is wanted may be sent.
  var earliestAttempt: Timestamp {
    guard let trouble = history.trouble else { return leastGapEnd }
    return Swift.max(isRefreshAsked ? Swift.min(trouble.until, trouble.floor) : trouble.until, leastGapEnd)
  }

  /// When the next refresh will be sent by itself; nil: none is planned, or one is under way.
  func plannedRefresh(_ held: HeldGrant) -> Timestamp? {
    guard held.phase == .idle else { return nil }
    // One that failed is made good for, also where it was asked for long before it was due.
    if refusal != nil || callsWantRefresh || history.trouble != nil { return earliestAttempt }
    return held.refreshAt.map { Swift.max($0, earliestAttempt) }
  }

  /// When the next request will be sent by itself, if nothing changes.
  func plannedRequest(at now: Timestamp) -> Timestamp? {
    switch credentialState {
    case .held(let held): canRefresh(held, at: now) ? plannedRefresh(held) : nil
    case .starting(isInFlight: false): canAsk ? earliestAttempt : nil
    case .starting(isInFlight: true), .unread, .withheld, .unreadable, .adopting, .ending, .ended, .absent: nil
    }
  }

  /// When signing in becomes all that is left to do: the token has run out, and the provider is reached and has given
  /// neither a new one nor a final word for ten minutes.
  var signInAdvisedAt: Timestamp? {
    guard case .held(let held) = credentialState, !settings.renewsWithoutRefreshToken,
      let expiresAt = held.grant.expiresAt, let trouble = history.trouble, let since = trouble.refusingSince
    else { return nil }
    switch trouble.kind {
    case .unavailable, .unclear: return Swift.max(expiresAt, since + RefreshTrouble.patience)
    case .unreachable, .misconfigured, .passphraseNeeded: return nil
    }
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
    guard let planned = plannedRequest(at: now), planned <= now else { return [] }
    switch credentialState {
    case .held(var held):
      held.phase = .inFlight(isRepeated: false)
      credentialState = .held(held)
      return [.refresh(held.credential, generation: asked(at: now))]
    case .starting:
      credentialState = .starting(isInFlight: true)
      return [.requestGrant(generation: asked(at: now))]
    case .unread, .withheld, .unreadable, .adopting, .ending, .ended, .absent: return []
    }
  }

  private mutating func asked(at now: Timestamp) -> Int {
    request = RefreshRequest(generation: epoch.generation)
    history.lastAttemptAt = now
    return epoch.generation
  }

  mutating func refreshEnded(
    _ outcome: RefreshOutcome, generation asked: Int, at now: Timestamp
  ) -> [SessionAction] {
    let isAbandoned = request?.isAbandoned ?? true
    request = nil
    if asked == epoch.generation, !isAbandoned {
      switch credentialState {
      case .held(let held):
        if case .inFlight(let isRepeated) = held.phase {
          return ended(outcome, of: held, isRepeated: isRepeated, at: now)
        }
      case .starting(isInFlight: true): return firstGrantEnded(outcome, at: now)
      case .starting, .unread, .withheld, .unreadable, .adopting, .ending, .ended, .absent: break
      }
    }
    // Another program's newer grant may come of the same sign-in, and be revoked with this one (RFC 7009, section 2.1).
    guard case .granted(let response) = outcome, isAbandoned else { return [] }
    let grant = Grant(response, after: nil, bearer: settings.bearer, receivedAt: now)
    return [.revoke(Credential(grant: grant, subject: response.subject, origin: response.origin))]
  }

  private mutating func ended(
    _ outcome: RefreshOutcome, of held: HeldGrant, isRepeated: Bool, at now: Timestamp
  ) -> [SessionAction] {
    switch outcome {
    case .granted(let response): return granted(response, to: held, at: now)
    case .failed(.unanswered(let message)) where !isRepeated && isStopping:
      // The next start asks again, and so do calls that a session of a new configuration takes over: here there may be no
      // time to hear the answer.
      updateHeld { held, _ in held.phase = .idle }
      history.lastError = message
      return []
    case .failed(.unanswered(let message)) where !isRepeated:
      // The provider may have rotated the token: at once with the same one, while its grace window is open.
      updateHeld { held, _ in held.phase = .inFlight(isRepeated: true) }
      history.lastError = message
      return [.refresh(held.credential, generation: self.asked(at: now))]
    case .failed(.rejected(let rejection, let message)):
      switch rejection {
      case .refreshToken: return rejected(.refreshTokenRejected, message: message, at: now)
      case .accountDisabled: return rejected(.accountDisabled, message: message, at: now)
      }
    case .failed(let failure): return failed(failure, at: now)
    case .notAsked(let accessFailure): return notAsked(accessFailure, at: now)
    }
  }

  /// When an answer came, for the lifetimes in it. No request waits longer than its time: where more has passed, the
  /// machine has slept, and the answer may be as old as the request.
  private func received(at now: Timestamp) -> Timestamp {
    guard let asked = history.lastAttemptAt, now - asked > settings.refresh.stopPatience else { return now }
    return asked
  }

  /// The client's own first grant: it is written like one that a person brought.
  private mutating func firstGrantEnded(_ outcome: RefreshOutcome, at now: Timestamp) -> [SessionAction] {
    switch outcome {
    case .granted(let response):
      let grant = Grant(response, after: nil, bearer: settings.bearer, receivedAt: received(at: now))
      if let flaw = response.flaw { return failed(.misconfigured(message: flaw), at: now) }
      return adopt(
        Credential(grant: grant, subject: response.subject, origin: response.origin), unlocks: false, isFresh: true,
        at: now)
    case .failed(let failure): return failed(failure, at: now)
    case .notAsked(let accessFailure): return notAsked(accessFailure, at: now)
    }
  }

  private mutating func granted(
    _ response: TokenResponse, to held: HeldGrant, at now: Timestamp
  ) -> [SessionAction] {
    var credential = Credential(
      grant: Grant(response, after: held.grant, bearer: settings.bearer, receivedAt: received(at: now)),
      subject: response.subject, origin: response.origin)
    var flaw = response.flaw
    if let known = held.credential.subject {
      credential.subject = response.subject.map { known.refined(by: $0) } ?? known
      if let told = response.subject, !told.isSameUser(as: known) {
        // The configured subject stands in only for as long as the provider tells none.
        if settings.configuredSubject?.isSameUser(as: known) == true {
          credential.subject = told
        } else {
          flaw = Self.otherUser(told, than: known)
        }
      }
    }
    if flaw != nil {
      // Whatever is wrong with it, it may have cost the refresh token before it: the new one is kept.
      credential = held.credential
      if let token = response.refreshToken {
        credential.grant.refreshToken = token
        credential.grant.refreshExpiresAt = response.refreshLifetime.map { now + $0 }
      }
    } else if credential.grant.keepsIDToken(of: held.grant, as: settings.bearer) {
      // Asked again at once, it would bring as little: what else it brought is kept.
      flaw = "The provider brought no new ID token: use bearer = \"access_token\", or ask it for one."
    }
    updateHeld { held, _ in held.phase = .storing(credential, flaw: flaw) }
    // The file is being read because it may have changed: another program's newer grant is not written over.
    return looking.isReading && !isStopping ? [] : write(credential)
  }

  private static func otherUser(_ told: Subject, than known: Subject) -> String {
    let isSameID = told.id == known.id
    let (new, old) = isSameID ? (" of \(told.issuer)", " of \(known.issuer)") : ("", "")
    return "The provider answered for another user (\(told.id)\(new)) than \(known.id)\(old); nothing of that is used."
  }

  /// The new grant is on disk, or kept in memory because it could not be written: now it may be seen.
  mutating func refreshed(
    _ credential: Credential, flaw: String?, isStored: Bool, at now: Timestamp
  ) -> [SessionAction] {
    guard case .held(let old) = credentialState else { return [] }
    let previous = old.grant.bearer(settings.bearer).fingerprint
    let isRenewed = flaw == nil
    let refreshAt = settings.refresh.refreshTime(of: credential.grant, share: random.share())
    var held = HeldGrant(
      credential: credential, isStored: isStored, accessFailure: old.accessFailure, refreshAt: refreshAt)
    held.followsRefusal = isRenewed ? refusal?.fingerprint == previous : old.followsRefusal
    held.isTimedHere = isRenewed || old.isTimedHere
    held.expiryAnnounced = !isRenewed && old.expiryAnnounced
    credentialState = .held(held)
    if let origin = credential.origin { settings.binding?.settle(at: origin) }
    let isNewlyKnown = credential.subject != nil && credential.subject != subject
    subject = credential.subject ?? subject
    var actions =
      flaw.map { failed(.misconfigured(message: $0), at: now) } ?? renewed(held.grant, after: previous, at: now)
    if isNewlyKnown { actions.append(.announce(.statusChanged)) }
    if credential.subject == nil, settings.configuredSubject == nil {
      actions.append(.identify(credential, generation: epoch.generation))
    }
    return actions
  }

  private mutating func renewed(
    _ grant: Grant, after previous: Fingerprint, at now: Timestamp
  ) -> [SessionAction] {
    history = RefreshHistory(lastAttemptAt: history.lastAttemptAt)
    history.lastAt = now
    history.lastOutcome = .success
    refusal = nil
    finishRefreshCalls(.succeeded)
    let bearer = grant.bearer(settings.bearer).fingerprint
    return [.announce(.refreshed(bearer, previous: previous, expiresAt: grant.expiresAt))]
  }

  private mutating func notAsked(_ accessFailure: AccessFailure, at now: Timestamp) -> [SessionAction] {
    looking.isWanted = true
    let message = "The credential could not be stored (\(accessFailure.detail)), so nothing was asked."
    return wait(accessFailure.kind == .passphraseRequired ? .passphraseNeeded : .unavailable, message, at: now)
  }

  private mutating func failed(_ failure: RefreshFailure, at now: Timestamp) -> [SessionAction] {
    switch failure {
    case .unreachable(let message):
      // Ahead of time: the step goes on as it was, and is not cut short again.
      if let trouble = history.trouble, trouble.kind == .unreachable(triedEarly: true), now < trouble.stepEnd {
        return wait(.unreachable(triedEarly: true), message, until: trouble.stepEnd, at: now)
      }
      return wait(.unreachable(triedEarly: false), message, at: now)
    case .unanswered(let message): return wait(.unavailable, message, isRefusing: true, at: now)
    case .unavailable(let message, let retryAfter):
      return wait(.unavailable, message, retryAfter: retryAfter, isRefusing: true, at: now)
    case .unclear(let message, let retryAfter):
      return wait(.unclear, message, retryAfter: retryAfter, isRefusing: true, at: now)
    // The client's own grant has no refresh token that could be refused: the client itself is.
    case .misconfigured(let message), .rejected(_, let message): return wait(.misconfigured, message, at: now)
    }
  }

  private mutating func wait(
    _ kind: RefreshTrouble.Kind, _ message: String, retryAfter: Duration? = nil, until stepEnd: Timestamp? = nil,
    isRefusing: Bool = false, at now: Timestamp
  ) -> [SessionAction] {
    if case .held(var held) = credentialState {
      held.phase = .idle
      credentialState = .held(held)
    } else {
      credentialState = .starting(isInFlight: false)
    }
    if stepEnd == nil { history.failures += 1 }
    let floor = retryAfter.map { Swift.min($0, RefreshSettings.retryAfterCap) } ?? .zero
    let until = stepEnd ?? now + Swift.max(backoff(after: kind), floor)
    let since = history.trouble?.refusingSince ?? (isRefusing ? now : nil)
    history.trouble = RefreshTrouble(
      kind: kind, until: until, floor: now + floor, refusingSince: since, stepEnd: until)
    history.lastAt = now
    history.lastOutcome = kind == .misconfigured ? .misconfigured : .unavailable
    history.lastError = message
    // A token that was refused is not given out again, but where others are let in with it.
    if refusal?.isAcceptedElsewhere == true { refusal = nil }
    finishRefreshCalls(.failed(message: message, retryAfter: until - now))
    return [.announce(.refreshFailed(message: message, failures: history.failures))]
  }

  private mutating func backoff(after kind: RefreshTrouble.Kind) -> Duration {
    let share = random.share()
    switch kind {
    case .misconfigured: return settings.refresh.configurationBackoff(share: share)
    case .unclear:
      return settings.refresh.backoff(
        failures: history.failures, atLeastUpTo: RefreshSettings.unclearBackoffMax, share: share)
    case .unreachable, .unavailable, .passphraseNeeded:
      return settings.refresh.backoff(failures: history.failures, share: share)
    }
  }

  private mutating func rejected(_ reason: EndReason, message: String, at now: Timestamp) -> [SessionAction] {
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
    guard case .held(let held) = credentialState, case .confirming(let reason) = held.phase else { return [] }
    return end(reason, at: now)
  }

  mutating func finishRefreshCalls(_ outcome: WaitingCall.Outcome) {
    for index in calls.indices where calls[index].outcome == nil {
      switch calls[index].kind {
      case .token, .refresh, .refusal: calls[index].outcome = outcome
      case .look, .signOut, .adoption: break
      }
    }
  }
}
