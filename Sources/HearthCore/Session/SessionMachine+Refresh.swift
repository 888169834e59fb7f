/// Decides when to refresh, and handles the result.
extension SessionMachine {
  // MARK: - Whether and when

  /// Returns whether a refresh could return a new token. Returns false only if the refresh token is missing or has
  /// certainly expired.
  func isRenewable(_ active: ActiveGrant, at now: Timestamp) -> Bool {
    if settings.renewsWithoutRefreshToken { return true }
    guard active.grant.refreshToken != nil else { return false }
    guard let end = active.grant.refreshExpiresAt, active.timing.refresh.isCertain else { return true }
    return now < end
  }

  /// Returns whether to ask the provider for the time, because the token cannot be renewed and may have expired.
  private func isDoubtful(_ active: ActiveGrant, at now: Timestamp) -> Bool {
    !isRenewable(active, at: now) && active.grant.isExpired(at: now) && !active.timing.access.isCertain
  }

  /// Returns whether a request could return a new token, or show whether the current token has expired.
  func canAskAbout(_ active: ActiveGrant, at now: Timestamp) -> Bool {
    isRenewable(active, at: now) || isDoubtful(active, at: now)
  }

  /// Returns when to refresh the grant. Ignores a refresh token in a client's own grant, because it is not used.
  mutating func refreshTime(of grant: Grant) -> Timestamp? {
    var grant = grant
    if settings.renewsWithoutRefreshToken { grant.refreshToken = nil }
    return settings.refresh.refreshTime(of: grant, share: random.share())
  }

  /// Whether the session is ready to send a request. It is not ready while it is stopping, while another request or a
  /// write is in progress, while it has to read another program's grant, or while its store has to be replaced. Locks
  /// need no check, because a locked session's grant is not in memory or not on disk.
  var canAsk: Bool {
    !isStopping && refreshes.request == .none && !file.write.isUnderWay && !file.isSuperseded
      && file.storeChange != .due
  }

  /// Returns whether nothing but the time prevents a refresh.
  func canRefresh(_ active: ActiveGrant, at now: Timestamp) -> Bool {
    canAsk && !refreshes.isBarred && active.isStored && active.accessFailure == nil && canAskAbout(active, at: now)
  }

  /// The earliest time at which the next request may be sent.
  var earliestAttempt: Timestamp { refreshes.earliestAttempt(isDemanded: calls.demandRefresh) }

  /// Returns when the next refresh will be sent, or `nil` if none is planned or one is in progress.
  private func plannedRefresh(_ active: ActiveGrant) -> Timestamp? {
    guard active.phase == .idle else { return nil }
    // A failed refresh is repeated, even if a client requested it before the token was due.
    if refreshes.apiRejection != nil || calls.wantRefresh || refreshes.history.trouble != nil { return earliestAttempt }
    return active.refreshAt.map { Swift.max($0, earliestAttempt) }
  }

  /// Returns when the next request will be sent if nothing changes, or `nil` if none is planned.
  func plannedRequest(at now: Timestamp) -> Timestamp? {
    switch credentialState {
    case .active(let active): canRefresh(active, at: now) ? plannedRefresh(active) : nil
    // Wait until it is known whether the user has locked the account.
    case .starting(isInFlight: false): canAsk && locks.areKnown ? earliestAttempt : nil
    case .starting(isInFlight: true), .notHeld, .adopting, .ending, .ended, .absent: nil
    }
  }

  /// The time at which to advise the user to sign in: when the token has expired and the provider has failed to
  /// refresh it for ten minutes without a final rejection. If an API has rejected a token that cannot be renewed, or
  /// if the provider has returned another user's token, the advice is due immediately.
  var signInAdvisedAt: Timestamp? {
    if let active, active.isRejected || refreshes.isBarred { return active.grant.issuedAt }
    guard !settings.renewsWithoutRefreshToken, let expiresAt = active?.grant.expiresAt else { return nil }
    return refreshes.signInAdvisedAt(expiresAt)
  }

  /// Why a request is sent now, as the end of a log sentence ("because …").
  package var refreshCause: String {
    if let rejection = refreshes.apiRejection { return "an API has rejected token \(rejection.fingerprint)" }
    if calls.demandRefresh { return "a client requested a refresh" }
    if let trouble = refreshes.history.trouble { return "the delay after a failure ended at \(trouble.until)" }
    if calls.wantRefresh { return "a client needs a token that is valid for longer" }
    guard let active else { return "there is no token yet" }
    guard let refreshAt = active.refreshAt else { return "it is unknown whether the token is still valid" }
    return "the refresh has been due since \(refreshAt)"
  }

  // MARK: - The request

  mutating func refreshWhereDue(at now: Timestamp) -> [SessionAction] {
    guard let planned = plannedRequest(at: now), planned <= now else { return [] }
    if let active { return ask(about: active, isRepeated: false, at: now) }
    credentialState = .starting(isInFlight: true)
    refreshes.begin(for: subject, at: now)
    return [.requestGrant(generation: epoch.generation)]
  }

  private mutating func ask(about active: ActiveGrant, isRepeated: Bool, at now: Timestamp) -> [SessionAction] {
    self.active?.phase = .inFlight(isRepeated: isRepeated)
    refreshes.begin(for: active.credential.subject ?? subject, at: now)
    if isDoubtful(active, at: now) { return [.askTime(generation: epoch.generation)] }
    return [.refresh(active.credential, generation: epoch.generation)]
  }

  /// Handles the result of the only request in progress. If the grant was replaced in the meantime, the new grant
  /// does not wait for this result.
  mutating func refreshEnded(_ outcome: RefreshOutcome, at now: Timestamp) -> [SessionAction] {
    let isExpected = refreshes.end()
    if case .superseded = outcome { refreshes.takeBack() }
    switch credentialState {
    case .active(let active):
      if case .inFlight(let isRepeated) = active.phase {
        return ended(outcome, of: active, isRepeated: isRepeated, at: now)
      }
    case .starting(isInFlight: true): return firstGrantEnded(outcome, at: now)
    case .starting, .notHeld, .adopting, .ending, .ended, .absent: break
    }
    // Revoke the grant only if its request was abandoned. Otherwise, another program's newer grant may come from the
    // same sign-in and would be revoked, too (RFC 7009, section 2.1).
    guard case .granted(var response) = outcome, !isExpected else { return [] }
    // A grant that was issued for another user belongs to that user, so it is not revoked.
    if let owner = refreshes.owner, let named = response.subject, !named.isSameUser(as: owner) { return [] }
    response.subject = response.subject ?? refreshes.owner
    return [.revoke(credential(response, after: nil, at: now))]
  }

  private mutating func ended(
    _ outcome: RefreshOutcome, of active: ActiveGrant, isRepeated: Bool, at now: Timestamp
  ) -> [SessionAction] {
    switch outcome {
    case .granted(let response): return granted(response, to: active, at: now)
    case .told(let time):
      refreshes.restart()
      self.active?.phase = .idle
      // If the machine slept during the request, the response's age is unknown, so the time is requested again.
      if receivedAt(now) == now { self.active?.compare(providerAhead: time - now, at: now) }
      return []
    case .failed(let failure) where failure.isRepeated(again: isRepeated):
      refreshes.replyLost(failure.message)
      // If the session is stopping, there may not be enough time for another response, so the request is repeated
      // after the next start. While the account is locked, a query for the provider's clock can wait, because it sent
      // no refresh token that the provider could have rotated.
      if isStopping || isDoubtful(active, at: now) && !locks.isEmpty {
        self.active?.phase = .idle
        return []
      }
      return ask(about: active, isRepeated: true, at: now)
    case .failed(.rejected(let rejection, let message)):
      refreshes.rejected(message, at: now)
      // Another program may have rotated the token. If so, the file contains a newer grant, which is used instead.
      switch rejection {
      case .refreshToken: self.active?.phase = .confirming(.refreshTokenRejected)
      case .accountDisabled: self.active?.phase = .confirming(.accountDisabled)
      }
      file.read.request()
      return []
    case .failed(let failure): return failed(failure, at: now)
    case .notAsked(let accessFailure): return notSent(accessFailure, at: now)
    case .superseded:
      self.active?.phase = .idle
      file.supersede()
      return []
    }
  }

  /// Handles the client's own first grant, which is written like the grant of a sign-in.
  private mutating func firstGrantEnded(_ outcome: RefreshOutcome, at now: Timestamp) -> [SessionAction] {
    switch outcome {
    case .granted(let response):
      if let error = response.error { return failed(error, at: now) }
      let credential = credential(response, after: nil, at: now)
      settings.binding?.resolve(to: response.origin)
      return adopt(credential, unlocks: false, isFresh: true, at: now)
    case .failed(let failure): return failed(failure, at: now)
    case .notAsked(let accessFailure): return notSent(accessFailure, at: now)
    case .superseded:
      credentialState = .starting(isInFlight: false)
      file.supersede()
      return []
    case .told:
      credentialState = .starting(isInFlight: false)
      return []
    }
  }

  /// If the provider has rejected the token, ends the session, because a read found no newer grant.
  mutating func confirmRejection(at now: Timestamp) -> [SessionAction] {
    guard case .confirming(let reason)? = active?.phase else { return [] }
    return end(reason, at: now)
  }

  // MARK: - A grant

  private func receivedAt(_ now: Timestamp) -> Timestamp {
    refreshes.receivedAt(now, timeout: settings.refresh.stopTimeout)
  }

  private func credential(_ response: TokenResponse, after old: Grant?, at now: Timestamp) -> Credential {
    var response = response
    let receivedAt = receivedAt(now)
    // The response's age is unknown. Drop the refresh token's expiry, because it would be a guess that counts as
    // certain.
    if receivedAt != now { response.refreshLifetime = nil }
    return Credential(response, after: old, bearer: settings.bearer, receivedAt: receivedAt)
  }

  private mutating func granted(
    _ response: TokenResponse, to active: ActiveGrant, at now: Timestamp
  ) -> [SessionAction] {
    var next = credential(response, after: active.grant, at: now)
    // Endpoints that the provider names later must not extend the set that the user signed in to.
    next.origins = active.credential.origins ?? response.origins
    if !refreshes.isOfFormerProvider, let endpoints = response.origins { settings.binding?.endpoints = endpoints }
    var error = response.error
    if let known = active.credential.subject {
      next.subject = response.subject.map { known.refined(by: $0) } ?? known
      if let named = response.subject, !named.isSameUser(as: known) {
        // None of the returned tokens belongs to the user. The user's own refresh token may no longer be valid, so only
        // a sign-in helps.
        let barred = active.grant.accessToken.fingerprint
        refreshes.bar(barred, Self.otherUser(named, than: known), at: now)
        return [.remember(.barred(barred))] + refreshFailed(retryAfter: nil)
      }
    }
    if error != nil {
      // The request may have used up the previous refresh token, so store the new one even though the access token
      // cannot be used.
      next = active.credential
      if let token = response.refreshToken {
        next.grant.refreshToken = token
        next.grant.refreshExpiresAt = response.refreshLifetime.map { now + $0 }
      }
    } else if next.grant.keepsIDToken(of: active.grant, as: settings.bearer) {
      // Another request would not help. The rest of the response is stored.
      error = .misconfigured(
        message:
          "The provider did not issue a new ID token. Set bearer = \"access_token\", or configure the provider to issue "
          + "one with each refresh."
      )
    } else if next.grant.lifetime == .zero {
      error = .unavailable(message: "The provider issued a token that had already expired.", retryAfter: nil)
    }
    if !refreshes.isOfFormerProvider, let origin = next.origin { settings.binding?.resolve(to: origin) }
    self.active?.phase = .storing(next, error: error)
    // If the file is being read, wait for the result, so that another program's newer grant is not overwritten.
    return file.read.isUnderWay && !isStopping ? [] : write(next)
  }

  private static func otherUser(_ named: Subject, than known: Subject) -> String {
    let isSameID = Name(named.id) == Name(known.id)
    let (new, old) = isSameID ? (" of \(named.issuer)", " of \(known.issuer)") : ("", "")
    return
      "The provider returned a token for another user (\(named.id)\(new), not \(known.id)\(old)). Hearth ignores it."
  }

  /// Makes the new grant visible after its write has ended. `error` says why its token cannot be used.
  mutating func refreshed(
    _ old: ActiveGrant, to credential: Credential, error: RefreshFailure?, isStored: Bool, at now: Timestamp
  ) -> [SessionAction] {
    let previous = old.grant.bearer(settings.bearer).fingerprint
    let isRenewed = error == nil
    let followsRejection = isRenewed ? refreshes.apiRejection?.fingerprint == previous : old.followsRejection
    credentialState = .active(
      ActiveGrant(
        credential: credential, isStored: isStored, accessFailure: old.accessFailure,
        refreshAt: refreshTime(of: credential.grant), followsRejection: followsRejection,
        timing: old.timing.of(credential.grant, after: old.grant),
        isExpiryPublished: !isRenewed && old.isExpiryPublished))
    let isNewlyKnown =
      credential.subject.map { user.learn($0, of: old.credential, configured: settings.configuredSubject) } ?? false
    var actions =
      error.map { failed($0, at: now) } ?? renewed(credential.grant, after: previous, at: now)
    if isNewlyKnown { actions.append(.publish(.statusChanged)) }
    if credential.subject == nil, settings.configuredSubject == nil {
      actions.append(identify(credential))
    }
    return actions
  }

  private mutating func renewed(_ grant: Grant, after previous: Fingerprint, at now: Timestamp) -> [SessionAction] {
    refreshes.succeeded(at: now)
    calls.finishRefreshes(.succeeded)
    let bearer = grant.bearer(settings.bearer).fingerprint
    return [.publish(.refreshed(bearer, previous: previous, expiresAt: grant.expiresAt))]
  }

  // MARK: - No grant

  private mutating func failed(_ failure: RefreshFailure, at now: Timestamp) -> [SessionAction] {
    refreshFailed(retryAfter: refreshes.failed(failure, settings.refresh, at: now, &random))
  }

  private mutating func notSent(_ accessFailure: AccessFailure, at now: Timestamp) -> [SessionAction] {
    file.read.request()
    return refreshFailed(retryAfter: refreshes.notSent(accessFailure, settings.refresh, at: now, &random))
  }

  private mutating func refreshFailed(retryAfter wait: Duration?) -> [SessionAction] {
    if active == nil { credentialState = .starting(isInFlight: false) }
    active?.phase = .idle
    let message = refreshes.history.lastError ?? ""
    calls.finishRefreshes(.failed(message: message, retryAfter: wait))
    return [.publish(.refreshFailed(message: message, failures: refreshes.history.failures))]
  }
}
