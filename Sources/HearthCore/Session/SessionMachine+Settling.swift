/// What a state asks for by itself, and when it will ask for more.
extension SessionMachine {
  package func state(at now: Timestamp) -> SessionState {
    switch credentialState {
    case .absent(let signedOut): return .unauthenticated(signedOut: signedOut)
    case .ended(let record): return .reauthRequired(record.reason)
    case .ending(_, let shown): return shown
    case .adopting(let adoption):
      switch adoption.shownAs {
      case .unauthenticated, .reauthRequired: return adoption.shownAs
      case .hydrating, .locked, .authenticated: break
      }
    case .unread, .withheld, .unreadable, .held, .starting: break
    }
    if let lock = Lock.allCases.first(where: locks.contains) { return .locked(.explicit(lock)) }
    switch credentialState {
    case .unreadable(let accessFailure): return .locked(.accessFailure(accessFailure))
    case .held(let held):
      if let accessFailure = held.accessFailure, settings.locksWhenUnreadable || held.grant.isExpired(at: now) {
        return .locked(.accessFailure(accessFailure))
      }
      return .authenticated
    case .starting: return .authenticated
    case .adopting(let adoption): return adoption.shownAs
    case .unread, .withheld, .absent, .ended, .ending: return .hydrating
    }
  }

  /// Does what the state asks for: each step may make room for the next.
  mutating func settle(at now: Timestamp) -> [SessionAction] {
    var actions = wipeWhereLocked()
    actions += endWhereRunOut(at: now)
    actions += lookWhereDue(at: now)
    // What is being read may be another program's grant, which is not written over.
    if !looking.isReading { actions += writeWhereDue(at: now) }
    actions += noteLockWhereDue(at: now)
    actions += answerCalls(at: now)
    actions += beginRefreshIfDue(at: now)
    actions += announceExpiry(at: now)
    actions += announceChange(at: now)
    return actions
  }

  private mutating func wipeWhereLocked() -> [SessionAction] {
    guard !writing.isWriting else { return [] }
    if case .starting(isInFlight: false) = credentialState, !locks.isEmpty { credentialState = .withheld }
    if case .held(let held) = credentialState {
      // Where the same tokens lie on the disk and only how they lie there cannot be changed now, nothing is lost. That
      // is known once it has been looked at.
      let isLookedAt = !looking.isReading && !looking.isWanted && held.accessFailure == nil
      let isSafe = held.isStored || isLookedAt && writing.failures > 0 && onDisk == GrantMarks(held.grant)
      guard isSafe, held.phase == .idle else { return [] }
      if let accessFailure = held.accessFailure, settings.locksWhenUnreadable {
        credentialState = .unreadable(accessFailure)
      } else if !locks.isEmpty {
        credentialState = .withheld
        looking.againAt = nil
      }
    }
    guard !locks.isEmpty, mayHoldKey, !isAdopting else { return [] }
    mayHoldKey = false
    return [.lockStore]
  }

  /// A read may bring another grant: it is waited for.
  private mutating func endWhereRunOut(at now: Timestamp) -> [SessionAction] {
    guard case .held(let held) = credentialState, held.phase == .idle, locks.isEmpty, !looking.isReading,
      !looking.isWanted, !writing.isWriting, held.grant.isExpired(at: now)
    else { return [] }
    if let format = held.newerFormat, held.isStored {
      request?.isAbandoned = true
      endTooNew(format, at: now)
      return []
    }
    guard held.accessFailure == nil, !isRenewable(held.grant, at: now) else { return [] }
    return end(held.grant.refreshToken == nil ? .noRefreshToken : .refreshTokenExpired, at: now)
  }

  private mutating func lookWhereDue(at now: Timestamp) -> [SessionAction] {
    if let again = looking.againAt, again <= now {
      looking.againAt = nil
      looking.isWanted = true
    }
    if credentialState == .withheld, locks.isEmpty {
      credentialState = .unread
      looking.isWanted = true
    }
    // Whatever has been settled meanwhile, what is remembered is still to be heard of.
    if !isStarted, !looking.isReading, looking.againAt == nil { looking.isWanted = true }
    guard looking.isWanted, !looking.isReading, !writing.isWriting else { return [] }
    if case .ending = credentialState { return [] }
    looking.isWanted = false
    looking.isReading = true
    guard isStarted else { return [.recall] }
    mayHoldKey = true
    return [.read]
  }

  mutating func writeWhereDue(at now: Timestamp) -> [SessionAction] {
    guard !writing.isWriting, writing.againAt.map({ $0 <= now }) ?? true else { return [] }
    if case .ending(let record, _) = credentialState { return writing.failures > 0 ? writeDown(record) : [] }
    guard case .held(let held) = credentialState, held.phase == .idle, !held.isStored, held.accessFailure == nil else {
      return []
    }
    return write(held.credential)
  }

  mutating func write(_ credential: Credential) -> [SessionAction] {
    writing.underWay += 1
    writing.isOvertaken = false
    mayHoldKey = true
    return [.write(credential, generation: epoch.generation)]
  }

  /// Writes down whether the user has locked; the store keeps the order, so the last note counts.
  mutating func noteLock() -> [SessionAction] {
    noting.underWay += 1
    return [.rememberLockedByUser(locks.contains(.user))]
  }

  /// A note that failed is repeated until one lands.
  private mutating func noteLockWhereDue(at now: Timestamp) -> [SessionAction] {
    guard noting.failures > 0, !noting.isWriting, noting.againAt.map({ $0 <= now }) ?? true else { return [] }
    return noteLock()
  }

  mutating func lockRemembered(_ result: Result<Void, AccessFailure>, at now: Timestamp) -> [SessionAction] {
    noting.underWay -= 1
    switch result {
    case .success: noting.succeeded()
    case .failure(let accessFailure): noting.failed(accessFailure, at: now, share: random.share())
    }
    return []
  }

  /// When a token that no refresh is replacing is announced to be running out.
  private func expiryNotice(_ held: HeldGrant, at now: Timestamp) -> (at: Timestamp, final: Bool)? {
    guard !held.expiryAnnounced, let expiresAt = held.grant.expiresAt, let lifetime = held.grant.lifetime else {
      return nil
    }
    let margin = settings.refresh.margin(forLifetime: lifetime)
    if !isRenewable(held.grant, at: now) { return (expiresAt - margin, true) }
    let isKept = history.failures > 0 || held.accessFailure != nil || writing.failures > 0
    return isKept ? (expiresAt - margin / 2, false) : nil
  }

  private mutating func announceExpiry(at now: Timestamp) -> [SessionAction] {
    guard case .held(var held) = credentialState, let notice = expiryNotice(held, at: now), notice.at <= now,
      let expiresAt = held.grant.expiresAt, now < expiresAt
    else { return [] }
    held.expiryAnnounced = true
    credentialState = .held(held)
    return [.announce(.expiring(at: expiresAt, final: notice.final))]
  }

  private mutating func announceChange(at now: Timestamp) -> [SessionAction] {
    let state = state(at: now)
    let advised = state == .authenticated && signInAdvisedAt.map { $0 <= now } ?? false
    let isNewAdvice = advised != isSignInAdvised
    isSignInAdvised = advised
    guard state != shown else { return isNewAdvice && state == .authenticated ? [.announce(.statusChanged)] : [] }
    let previous = shown
    shown = state
    since = now
    return [.announce(.changed(from: previous, to: state))]
  }

  /// The next time at which something is due without any other event; nil: only events can change anything.
  package func nextWake(after now: Timestamp) -> Timestamp? {
    var times = calls.map { deadline(of: $0, at: now) }
    if let again = looking.againAt { times.append(again) }
    if let again = writing.againAt, !writing.isWriting { times.append(again) }
    if let again = noting.againAt, !noting.isWriting { times.append(again) }
    if case .starting(isInFlight: false) = credentialState, canAsk { times.append(earliestAttempt) }
    if let advised = signInAdvisedAt { times.append(advised) }
    if case .held(let held) = credentialState, locks.isEmpty {
      if canRefresh(held, at: now), let planned = plannedRefresh(held) { times.append(planned) }
      if let notice = expiryNotice(held, at: now), let expiresAt = held.grant.expiresAt, now < expiresAt {
        times.append(notice.at)
      }
      if held.accessFailure != nil || !isRenewable(held.grant, at: now), let expiresAt = held.grant.expiresAt {
        times.append(expiresAt)
      }
      if let refreshExpiresAt = held.grant.refreshExpiresAt { times.append(refreshExpiresAt) }
    }
    return times.filter { now < $0 }.min()
  }
}
