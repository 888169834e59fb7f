/// The refreshes of a session: the request under way, the history, and when the next one may be sent.
struct RefreshCycle: Hashable, Sendable {
  /// The request under way. An enum, so that there can only be one at a time.
  ///
  /// Legal transitions: none → sent; sent → sent (repeated, the reply was lost), abandoned, none; abandoned → none.
  enum Request: Hashable, Sendable {
    case none
    case sent
    /// Its session has ended or was replaced. A grant that it still brings is revoked (RFC 7009, section 2.1).
    case abandoned
  }

  private(set) var request = Request.none
  /// The user whose grant the request renews, or `nil` if unknown.
  private(set) var owner: Subject?
  /// Whether the last request went to a provider that is not configured any more.
  private(set) var isOfFormerProvider = false
  private(set) var history = RefreshHistory()
  private var attemptBefore: Timestamp?
  /// The API's rejection of the token in use. A refresh has to replace the token.
  private(set) var apiRejection: APIRejection?
  /// When a refresh last replaced a token that an API had rejected.
  private var replacedAt: Timestamp?
  /// The access tokens of the grants whose refresh was answered for another user: all in this process, and the last one
  /// before it.
  private(set) var barred: Set<Fingerprint> = []

  // MARK: - When the next one may be sent

  /// No refresh is sent before this time, whoever asks.
  private var leastGapEnd: Timestamp {
    history.lastAttemptAt.map { $0 + RefreshSettings.leastGap } ?? Timestamp(milliseconds: 0)
  }

  /// `isDemanded` is true if a user explicitly asks for a refresh. Then only the provider's own `Retry-After` delays
  /// it, for ten seconds at most: users need not wait for a number that may be nonsense.
  func earliestAttempt(isDemanded: Bool) -> Timestamp {
    guard let trouble = history.trouble else { return leastGapEnd }
    guard isDemanded else { return Swift.max(trouble.until, leastGapEnd) }
    let named = Swift.min(trouble.until, trouble.floor)
    let personal = history.lastAttemptAt.map { $0 + RefreshSettings.personalGap } ?? named
    return Swift.max(Swift.min(named, personal), leastGapEnd)
  }

  /// When a sign-in is advised for a token that expires at `expiresAt`, or `nil` if a refresh may still help.
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

  /// Called when it was not the session's turn: nothing was sent, and no gap has to follow.
  mutating func takeBack() { history.lastAttemptAt = attemptBefore }

  /// Called when another provider is configured. The answer to a request under way still comes from the previous one.
  mutating func providerChanged() { isOfFormerProvider = request != .none }

  /// Called when the request has ended. Returns false if its answer is no longer expected.
  mutating func end() -> Bool {
    defer { request = .none }
    return request == .sent
  }

  mutating func abandon() {
    if request == .sent { request = .abandoned }
  }

  /// The time that the lifetimes in an answer count from. No request takes longer than `timeout`: if more has passed,
  /// the machine has slept, and the answer may be as old as the request.
  func receivedAt(_ now: Timestamp, timeout: Duration) -> Timestamp {
    guard let sentAt = history.lastAttemptAt, now - sentAt > timeout else { return now }
    return sentAt
  }

  // MARK: - How it went

  /// Called when another grant is in use. Forgets everything that delayed refreshes of the previous one, except the
  /// gap.
  mutating func restart() { history = RefreshHistory(lastAttemptAt: history.lastAttemptAt) }

  mutating func succeeded(at now: Timestamp) {
    restart()
    history.lastAt = now
    history.lastOutcome = .success
    if apiRejection != nil { replacedAt = now }
    apiRejection = nil
  }

  /// Called when the reply was lost. This process or the next one repeats the request.
  mutating func replyLost(_ message: String) { history.lastError = message }

  /// Called when the provider has rejected the refresh token for good.
  mutating func rejected(_ message: String, at now: Timestamp) {
    history.lastAt = now
    history.lastOutcome = .rejected
    history.lastError = message
  }

  /// Plans the next attempt after a failure and returns the wait until then.
  mutating func failed(
    _ failure: RefreshFailure, _ settings: RefreshSettings, at now: Timestamp, _ random: inout SeededGenerator
  ) -> Duration {
    switch failure {
    case .unreachable:
      // This was an early attempt: the step of the back-off continues, and is not cut short again.
      if let trouble = history.trouble, trouble.kind == .unreachable(triedEarly: true), now < trouble.stepEnd {
        return plan(trouble.kind, failure.message, until: trouble.stepEnd, floor: now, at: now)
      }
      return backOff(.unreachable(triedEarly: false), failure.message, settings, at: now, &random)
    case .unanswered: return backOff(.unavailable, failure.message, settings, at: now, &random)
    case .unavailable(_, let retryAfter):
      return backOff(.unavailable, failure.message, retryAfter: retryAfter, settings, at: now, &random)
    case .unclear(_, let retryAfter):
      return backOff(.unclear, failure.message, retryAfter: retryAfter, settings, at: now, &random)
    // A client-credentials grant has no refresh token to reject, so a rejection means that the client itself was
    // rejected.
    case .misconfigured, .rejected: return backOff(.misconfigured, failure.message, settings, at: now, &random)
    }
  }

  /// Called when nothing was sent because the answer could not have been stored.
  mutating func notSent(
    _ accessFailure: AccessFailure, _ settings: RefreshSettings, at now: Timestamp, _ random: inout SeededGenerator
  ) -> Duration {
    let kind: RefreshTrouble.Kind = accessFailure.kind == .passphraseRequired ? .passphraseNeeded : .unavailable
    let message = "The credential could not be stored (\(accessFailure.detail)), so the provider was not asked."
    return backOff(kind, message, isFromProvider: false, settings, at: now, &random)
  }

  /// Called when the provider answered for another user after a refresh of the grant with this access token.
  mutating func bar(_ grant: Fingerprint, _ message: String, at now: Timestamp) {
    barred.insert(grant)
    history.failures += 1
    _ = plan(.otherUser, message, until: .distantFuture, floor: .distantFuture, at: now)
  }

  mutating func restoreBar(_ grant: Fingerprint?) {
    if let grant { barred.insert(grant) }
  }

  /// Called when a user has signed in with this access token.
  mutating func liftBar(of grant: Fingerprint) { barred.remove(grant) }

  /// Whether nothing is sent before a user signs in.
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
    // A rejected token is not given out again, unless other APIs accept it.
    if apiRejection?.isAcceptedElsewhere == true { apiRejection = nil }
    return until - now
  }

  // MARK: - What else changes it

  /// Whether a token is withheld because an API has rejected it. If other APIs accept it, it is given out until a
  /// refresh has replaced it.
  func isRejected(_ token: Fingerprint) -> Bool {
    apiRejection.map { $0.fingerprint == token && !$0.isAcceptedElsewhere } ?? false
  }

  mutating func tokenRejected(_ rejection: APIRejection) { apiRejection = rejection }

  /// Whether the rejection, by an API that accepts this sign-in's tokens, is about one request and forces no refresh:
  /// its path refuses every token, or has also refused a token that replaced a rejected one less than a minute ago.
  func isAboutRequest(_ rejection: APIRejection, at now: Timestamp) -> Bool {
    guard rejection.isAcceptedElsewhere else { return false }
    let isJustReplaced = replacedAt.map { now - $0 < RefreshSettings.rejectionGap } ?? false
    return rejection.isOfPath || rejection.isRepeated && isJustReplaced
  }

  /// Called when the rejected token is no longer in use.
  mutating func forgetRejection() { apiRejection = nil }

  /// Called when the network may be back. Addresses and routes change all day, so each step of the back-off is cut
  /// short only once, and only if no connection could be made. A provider's `Retry-After` is always obeyed.
  mutating func networkReturned() {
    guard var trouble = history.trouble, trouble.kind == .unreachable(triedEarly: false) else { return }
    trouble.kind = .unreachable(triedEarly: true)
    trouble.until = Swift.min(trouble.until, leastGapEnd)
    history.trouble = trouble
  }

  /// Called after a reload. What a new configuration or endpoint may have fixed is retried at once. The provider's own
  /// waits still apply.
  mutating func configurationChanged(endpointIsNew: Bool) {
    switch history.trouble?.kind {
    case .misconfigured: history.trouble?.clearWait()
    case .unreachable, .unclear: if endpointIsNew { history.trouble?.clearWait() }
    case .unavailable, .passphraseNeeded, .otherUser, nil: break
    }
  }

  mutating func passphraseMayHaveCome() {
    if history.trouble?.kind == .passphraseNeeded { history.trouble?.clearWait() }
  }

  mutating func move(by step: Duration) {
    history.move(by: step)
    attemptBefore = attemptBefore.map { $0 + step }
    replacedAt = replacedAt.map { $0 + step }
  }
}
