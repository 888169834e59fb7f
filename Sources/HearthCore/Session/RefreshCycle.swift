/// The refreshes of a session: the request in progress, the history, and the time of the next attempt.
struct RefreshCycle: Hashable, Sendable {
  /// The state of the request. Because this is an enum, only one request can be in progress.
  ///
  /// Transitions: none → sent → none, and sent → abandoned → none.
  enum Request: Hashable, Sendable {
    case none
    case sent
    /// The session has ended or was replaced. If the request still returns a grant, Hearth revokes that grant (RFC
    /// 7009, section 2.1), unless it belongs to another user.
    case abandoned
  }

  private(set) var request = Request.none
  private(set) var owner: Subject?
  /// Whether the configuration changed the provider while the last request was in progress.
  private(set) var isOfFormerProvider = false
  private(set) var history = RefreshHistory()
  private var attemptBefore: Timestamp?
  /// The API's rejection that makes a refresh of the current token necessary, or `nil` if there is none.
  private(set) var apiRejection: APIRejection?
  /// The time at which a refresh last replaced a rejected token.
  private var replacedAt: Timestamp?
  /// The access tokens whose refresh has returned another user's grant. Of those from earlier processes, only the
  /// last one is known.
  private(set) var barred: Set<Fingerprint> = []

  // MARK: - Next attempt

  /// The end of the minimum gap after the last attempt, which applies to every new request.
  private var leastGapEnd: Timestamp {
    history.lastAttemptAt.map { $0 + RefreshSettings.leastGap } ?? Timestamp(milliseconds: 0)
  }

  /// Returns the earliest time for the next request. `isDemanded` is true if a user explicitly asks for a refresh. In
  /// that case, the request waits only for the minimum gap and for the provider's own `Retry-After`, which counts for
  /// no more than ten seconds, because the value may be nonsense.
  func earliestAttempt(isDemanded: Bool) -> Timestamp {
    guard let trouble = history.trouble else { return leastGapEnd }
    guard isDemanded else { return Swift.max(trouble.until, leastGapEnd) }
    let named = Swift.min(trouble.until, trouble.floor)
    let personal = history.lastAttemptAt.map { $0 + RefreshSettings.personalGap } ?? named
    return Swift.max(Swift.min(named, personal), leastGapEnd)
  }

  /// Returns the time at which to advise a sign-in for a token that expires at `expiresAt`, or `nil` if the last
  /// refresh did not fail because of the provider.
  func signInAdvisedAt(_ expiresAt: Timestamp) -> Timestamp? {
    guard let trouble = history.trouble, trouble.kind.isFromProvider, let since = trouble.refusingSince else {
      return nil
    }
    return Swift.max(expiresAt, since + RefreshTrouble.timeout)
  }

  // MARK: - The request

  mutating func begin(for owner: Subject? = nil, at now: Timestamp) {
    request = .sent
    isOfFormerProvider = false
    self.owner = owner
    attemptBefore = history.lastAttemptAt
    history.lastAttemptAt = now
  }

  /// Undoes `begin` for a request that was not sent, so that the next request does not have to wait for the minimum
  /// gap.
  mutating func takeBack() { history.lastAttemptAt = attemptBefore }

  /// Records that the provider was changed in the configuration. The response to a request in progress still comes from
  /// the previous provider.
  mutating func providerChanged() { isOfFormerProvider = request != .none }

  /// Ends the request. Returns false if its result is no longer expected.
  mutating func end() -> Bool {
    defer { request = .none }
    return request == .sent
  }

  mutating func abandon() {
    if request == .sent { request = .abandoned }
  }

  /// Returns the time from which to measure the lifetimes in a response. This is usually `now`. If a request took
  /// longer than `timeout`, the machine was asleep and the response may be as old as the request, so this is the time
  /// of the request.
  func receivedAt(_ now: Timestamp, timeout: Duration) -> Timestamp {
    guard let sentAt = history.lastAttemptAt, now - sentAt > timeout else { return now }
    return sentAt
  }

  // MARK: - Results

  /// Starts a new history for another grant. Only the minimum gap after the last attempt still applies.
  mutating func restart() { history = RefreshHistory(lastAttemptAt: history.lastAttemptAt) }

  mutating func succeeded(at now: Timestamp) {
    restart()
    history.lastAt = now
    history.lastOutcome = .success
    if apiRejection != nil { replacedAt = now }
    apiRejection = nil
  }

  /// Records that the response was lost. This process, or the next one, repeats the request.
  mutating func replyLost(_ message: String) { history.lastError = message }

  /// Records that the provider has permanently rejected the refresh token.
  mutating func rejected(_ message: String, at now: Timestamp) {
    history.lastAt = now
    history.lastOutcome = .rejected
    history.lastError = message
  }

  /// Plans the next attempt after a failure, and returns the wait until then.
  mutating func failed(
    _ failure: RefreshFailure, _ settings: RefreshSettings, at now: Timestamp, _ random: inout SeededGenerator
  ) -> Duration {
    switch failure {
    case .unreachable:
      // A failed early attempt neither changes the back-off step nor allows another early attempt during this step.
      if let trouble = history.trouble, trouble.kind == .unreachable(triedEarly: true), now < trouble.stepEnd {
        return plan(trouble.kind, failure.message, until: trouble.stepEnd, floor: now, at: now)
      }
      return backOff(.unreachable(triedEarly: false), failure.message, settings, at: now, &random)
    case .unanswered: return backOff(.unavailable, failure.message, settings, at: now, &random)
    case .unavailable(_, let retryAfter):
      return backOff(.unavailable, failure.message, retryAfter: retryAfter, settings, at: now, &random)
    case .unclear(_, let retryAfter):
      return backOff(.unclear, failure.message, retryAfter: retryAfter, settings, at: now, &random)
    // `rejected` can only come from a request for the client's own grant. That request contains no refresh token, so
    // the provider must have rejected the client.
    case .misconfigured, .rejected: return backOff(.misconfigured, failure.message, settings, at: now, &random)
    }
  }

  /// Plans the next attempt after a request was not sent because its response could not have been stored.
  mutating func notSent(
    _ accessFailure: AccessFailure, _ settings: RefreshSettings, at now: Timestamp, _ random: inout SeededGenerator
  ) -> Duration {
    let kind: RefreshTrouble.Kind = accessFailure.kind == .passphraseRequired ? .passphraseNeeded : .unavailable
    let message =
      "The credential file cannot be written (\(accessFailure.detail)), so Hearth did not contact the provider."
    return backOff(kind, message, isFromProvider: false, settings, at: now, &random)
  }

  /// Stops refreshing the grant with this access token, because the provider has returned another user's grant for it.
  mutating func bar(_ grant: Fingerprint, _ message: String, at now: Timestamp) {
    barred.insert(grant)
    history.failures += 1
    _ = plan(.otherUser, message, until: .distantFuture, floor: .distantFuture, at: now)
  }

  mutating func restoreBar(_ grant: Fingerprint?) {
    if let grant { barred.insert(grant) }
  }

  /// Allows refreshing the grant with this access token again. Called when a user has signed in with it.
  mutating func liftBar(of grant: Fingerprint) { barred.remove(grant) }

  /// Whether refreshes are stopped until a user signs in.
  var isBarred: Bool { history.trouble?.kind == .otherUser }

  private mutating func backOff(
    _ kind: RefreshTrouble.Kind, _ message: String, retryAfter: Duration? = nil, isFromProvider: Bool? = nil,
    _ settings: RefreshSettings, at now: Timestamp, _ random: inout SeededGenerator
  ) -> Duration {
    history.failures += 1
    let floor = retryAfter.map { Swift.min($0, RefreshSettings.retryAfterCap) } ?? .zero
    let wait = Swift.max(settings.backoff(after: kind, failures: history.failures, share: random.share()), floor)
    let isFromProvider = isFromProvider ?? kind.isFromProvider
    return plan(kind, message, until: now + wait, floor: now + floor, isFromProvider: isFromProvider, at: now)
  }

  private mutating func plan(
    _ kind: RefreshTrouble.Kind, _ message: String, until: Timestamp, floor: Timestamp, isFromProvider: Bool = false,
    at now: Timestamp
  ) -> Duration {
    let since = history.trouble?.refusingSince ?? (isFromProvider ? now : nil)
    history.trouble = RefreshTrouble(kind: kind, until: until, floor: floor, refusingSince: since, stepEnd: until)
    history.lastAt = now
    history.lastOutcome = kind == .misconfigured || kind == .otherUser ? .misconfigured : .unavailable
    history.lastError = message
    // A token that is accepted elsewhere stays in use after the failed refresh, so forget the rejection.
    if apiRejection?.isAcceptedElsewhere == true { apiRejection = nil }
    return until - now
  }

  // MARK: - Other events

  /// Returns whether a token is withheld because an API has rejected it. If the rejection has `isAcceptedElsewhere`,
  /// the token is not withheld.
  func isRejected(_ token: Fingerprint) -> Bool {
    apiRejection.map { $0.fingerprint == token && !$0.isAcceptedElsewhere } ?? false
  }

  mutating func tokenRejected(_ rejection: APIRejection) { apiRejection = rejection }

  /// Returns whether a 401 concerns only one request and does not cause a refresh. This is the case if the sign-in's
  /// tokens are accepted elsewhere, but the path rejects every token or has again rejected a token just after a
  /// refresh.
  func isAboutRequest(_ rejection: APIRejection, at now: Timestamp) -> Bool {
    guard rejection.isAcceptedElsewhere else { return false }
    let isJustReplaced = replacedAt.map { now - $0 < RefreshSettings.rejectionGap } ?? false
    return rejection.isOfPath || rejection.isRepeated && isJustReplaced
  }

  mutating func forgetRejection() { apiRejection = nil }

  /// Allows an early attempt. Called when the network may be back. Network changes are frequent, so this works only
  /// once per back-off step, and only if no connection could be made.
  mutating func networkReturned() {
    guard var trouble = history.trouble, trouble.kind == .unreachable(triedEarly: false) else { return }
    trouble.kind = .unreachable(triedEarly: true)
    trouble.until = Swift.min(trouble.until, leastGapEnd)
    history.trouble = trouble
  }

  /// Ends the wait if the new configuration or endpoint may have fixed the failure. If the provider is unavailable, the
  /// wait continues.
  mutating func configurationChanged(endpointIsNew: Bool, at now: Timestamp) {
    switch history.trouble?.kind {
    case .misconfigured: history.trouble?.clearWait(at: now)
    case .unreachable, .unclear: if endpointIsNew { history.trouble?.clearWait(at: now) }
    case .unavailable, .passphraseNeeded, .otherUser, nil: break
    }
  }

  mutating func passphraseMayHaveCome(at now: Timestamp) {
    if history.trouble?.kind == .passphraseNeeded { history.trouble?.clearWait(at: now) }
  }

  mutating func move(by step: Duration) {
    history.move(by: step)
    attemptBefore = attemptBefore.map { $0 + step }
    replacedAt = replacedAt.map { $0 + step }
  }
}
