/// Derives the state that clients see, and handles changes that occur because time passes.
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
    case .notHeld, .active, .starting: break
    }
    if let lock = locks.first { return .locked(.explicit(lock)) }
    switch credentialState {
    case .notHeld(.unreadable(let accessFailure)): return .locked(.accessFailure(accessFailure))
    case .active(let active):
      if let accessFailure = active.accessFailure, settings.locksWhenUnreadable || active.grant.isExpired(at: now) {
        return .locked(.accessFailure(accessFailure))
      }
      return .authenticated
    case .starting: return .authenticated
    case .adopting(let adoption): return adoption.shownAs
    case .notHeld, .absent, .ended, .ending: return .hydrating
    }
  }

  /// Returns whether `leftover`, an unused grant of the account `owner`, may belong to the user who is signed in or
  /// signing in here. Many providers revoke all of a user's grants together (Google, "Revoking a token"), so revoking
  /// `leftover` could end this session.
  package func mayShareUser(with leftover: Credential, of owner: AccountName, at now: Timestamp) -> Bool {
    let place = active?.credential.origin ?? settings.binding?.origin
    let isSameProvider = owner == account || place == nil || place == leftover.origin
    if !incoming.isEmpty || credentialState.isAdopting { return isSameProvider }
    switch state(at: now) {
    case .unauthenticated, .reauthRequired: return false
    case .hydrating, .locked, .authenticated: break
    }
    guard let subject, let other = leftover.subject else { return isSameProvider }
    // Different assumed issuers are different providers.
    let areAssumed = subject.isIssuerAssumed && other.isIssuerAssumed
    return subject.isSameUser(as: other) && !(areAssumed && subject.issuer != other.issuer)
  }

  /// Returns when to publish that the token expires soon, or `nil` if there is nothing to publish, for example
  /// because a refresh is expected to replace the token in time.
  private func expiryNotice(_ active: ActiveGrant, at now: Timestamp) -> (at: Timestamp, isFinal: Bool)? {
    guard !active.isExpiryPublished, let expiresAt = active.grant.expiresAt, let lifetime = active.grant.lifetime,
      now < expiresAt
    else { return nil }
    let margin = settings.refresh.margin(forLifetime: lifetime)
    if !isRenewable(active, at: now) { return (expiresAt - margin, true) }
    let isHindered =
      refreshes.history.failures > 0 || active.accessFailure != nil || file.write.failures > 0
    return isHindered ? (expiresAt - margin / 2, false) : nil
  }

  mutating func publishExpiry(at now: Timestamp) -> [SessionAction] {
    guard let active, let expiresAt = active.grant.expiresAt, let notice = expiryNotice(active, at: now),
      notice.at <= now
    else { return [] }
    self.active?.isExpiryPublished = true
    return [.publish(.expiring(at: expiresAt, final: notice.isFinal))]
  }

  /// Returns the next time at which the session has to act, or `nil` if only another input can change its state.
  package func nextWake(after now: Timestamp) -> Timestamp? {
    var times: [Timestamp?] = calls.all.map { deadline(of: $0, at: now) }
    times += [file.read.retryAt, file.write.wakeAt, locks.note.wakeAt, signInAdvisedAt, plannedRequest(at: now)]
    times += signIns.values.map(\.wakeAt)
    if let active, locks.isEmpty {
      times += [expiryNotice(active, at: now)?.at, active.grant.refreshExpiresAt]
      if active.accessFailure != nil || !isRenewable(active, at: now) { times.append(active.grant.expiresAt) }
    }
    return times.compactMap(\.self).filter { now < $0 }.min()
  }
}

/// The last published state, and when it began.
struct PublishedState: Hashable, Sendable {
  private(set) var state = SessionState.hydrating
  private(set) var since: Timestamp
  /// Whether the last published status advises a sign-in.
  private var isSignInAdvised = false

  init(at now: Timestamp) { since = now }

  /// Restores a session that ended before this process started. This is the initial state, so no change is published.
  mutating func restore(_ end: EndRecord) {
    guard state == .hydrating else { return }
    since = end.at
    state = end.reason == .signedOut ? .unauthenticated(signedOut: true) : .reauthRequired(end.reason)
  }

  mutating func publish(_ new: SessionState, advisesSignIn: Bool, at now: Timestamp) -> [SessionAction] {
    let isNewAdvice = advisesSignIn != isSignInAdvised
    isSignInAdvised = advisesSignIn
    guard new != state else { return isNewAdvice && new == .authenticated ? [.publish(.statusChanged)] : [] }
    let previous = state
    state = new
    since = now
    return [.publish(.changed(from: previous, to: new))]
  }

  mutating func move(by step: Duration) { since = since + step }
}
