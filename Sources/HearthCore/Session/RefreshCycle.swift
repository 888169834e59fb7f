/// The refreshes of a session: the request under way, how they have gone, and when the next one may be sent.
struct RefreshCycle: Hashable, Sendable {
  /// One request at a time: that is what this enum is for.
  ///
  /// Legal transitions: none → sent; sent → sent (repeated, the reply was lost), abandoned, none; abandoned → none.
  enum Request: Hashable, Sendable {
    case none
    case sent
    /// Its session is over or replaced: a grant that it still gets is revoked (RFC 7009, section 2.1).
    case abandoned
  }

  private(set) var request = Request.none
  private(set) var history = RefreshHistory()
  private var attemptBefore: Timestamp?
  /// The API's rejection of the token in use: the token is given to nobody, and a refresh is to replace it.
  private(set) var apiRejection: APIRejection?

  // MARK: - When the next one may be sent

  /// Whatever asks for it, no refresh is sent before this.
  private var leastGapEnd: Timestamp {
    history.lastAttemptAt.map { $0 + RefreshSettings.leastGap } ?? Timestamp(milliseconds: 0)
  }

  /// `isDemanded`: a person asks for a refresh outright, which the provider's own `Retry-After` alone delays, and that for
  /// ten seconds at most: nobody has to wait for a number that may be nonsense.
  func earliestAttempt(isDemanded: Bool) -> Timestamp {
    guard let trouble = history.trouble else { return leastGapEnd }
    guard isDemanded else { return Swift.max(trouble.until, leastGapEnd) }
    let named = Swift.min(trouble.until, trouble.floor)
    let personal = history.lastAttemptAt.map { $0 + RefreshSettings.personalGap } ?? named
    return Swift.max(Swift.min(named, personal), leastGapEnd)
  }

  /// Since when signing in is all that is left to do for a token that expires at `expiresAt`.
  func signInAdvisedAt(_ expiresAt: Timestamp) -> Timestamp? {
    guard let trouble = history.trouble, trouble.kind.isFromProvider, let since = trouble.refusingSince else {
      return nil
    }
    return Swift.max(expiresAt, since + RefreshTrouble.patience)
  }

  // MARK: - The request

  mutating func begin(at now: Timestamp) {
    request = .sent
    attemptBefore = history.lastAttemptAt
    history.lastAttemptAt = now
  }

  /// It was not the session's turn: nothing was asked, and no gap is to be kept for it.
  mutating func takeBack() { history.lastAttemptAt = attemptBefore }

  /// The request has ended; false where its answer is not expected any more.
  mutating func end() -> Bool {
    defer { request = .none }
    return request == .sent
  }

  mutating func abandon() {
    if request == .sent { request = .abandoned }
  }

  /// When the answer came, for the lifetimes in it. No request waits longer than `patience`: where more has passed, the
  /// machine has slept, and the answer may be as old as the request.
  func receivedAt(_ now: Timestamp, patience: Duration) -> Timestamp {
    guard let sentAt = history.lastAttemptAt, now - sentAt > patience else { return now }
    return sentAt
  }

  // MARK: - How it went

  /// Another grant is in use: what kept the one before from being refreshed is forgotten, but not the least gap.
  mutating func restart() {
    history = RefreshHistory(lastAttemptAt: history.lastAttemptAt)
  }

  mutating func succeeded(at now: Timestamp) {
    restart()
    history.lastAt = now
    history.lastOutcome = .success
    apiRejection = nil
  }

  /// The reply was lost; the request is repeated here or by the session that follows.
  mutating func replyLost(_ message: String) { history.lastError = message }

  /// The provider has rejected the refresh token for good.
  mutating func rejected(_ message: String, at now: Timestamp) {
    history.lastAt = now
    history.lastOutcome = .rejected
    history.lastError = message
  }

  /// Plans the next attempt after a failure and returns how long it waits.
  mutating func failed(
    _ failure: RefreshFailure, _ settings: RefreshSettings, at now: Timestamp, _ random: inout SeededGenerator
  ) -> Duration {
    switch failure {
    case .unreachable:
      // An attempt ahead of time: the step goes on as it was, and is not cut short again.
      if let trouble = history.trouble, trouble.kind == .unreachable(triedEarly: true), now < trouble.stepEnd {
        return plan(trouble.kind, failure.message, until: trouble.stepEnd, floor: now, at: now)
      }
      return backOff(.unreachable(triedEarly: false), failure.message, settings, at: now, &random)
    case .unanswered: return backOff(.unavailable, failure.message, settings, at: now, &random)
    case .unavailable(_, let retryAfter):
      return backOff(.unavailable, failure.message, retryAfter: retryAfter, settings, at: now, &random)
    case .unclear(_, let retryAfter):
      return backOff(.unclear, failure.message, retryAfter: retryAfter, settings, at: now, &random)
    // The client's own grant has no refresh token that could be rejected: the client itself is.
    case .misconfigured, .rejected: return backOff(.misconfigured, failure.message, settings, at: now, &random)
    }
  }

  /// Nothing was sent, since the answer could not be stored.
  mutating func notSent(
    _ accessFailure: AccessFailure, _ settings: RefreshSettings, at now: Timestamp, _ random: inout SeededGenerator
  ) -> Duration {
    let kind: RefreshTrouble.Kind = accessFailure.kind == .passphraseRequired ? .passphraseNeeded : .unavailable
    let message = "The credential could not be stored (\(accessFailure.detail)), so nothing was asked."
    return backOff(kind, message, isFromProvider: false, settings, at: now, &random)
  }

  /// The provider answered for another user.
  mutating func bar(_ message: String, at now: Timestamp) {
    history.failures += 1
    _ = plan(.otherUser, message, until: .distantFuture, floor: .distantFuture, at: now)
  }

  /// Nothing is asked before somebody signs in.
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
    // A token that was rejected is not given out again, unless other APIs accept it.
    if apiRejection?.isAcceptedElsewhere == true { apiRejection = nil }
    return until - now
  }

  // MARK: - What else changes it

  mutating func tokenRejected(_ rejection: APIRejection) { apiRejection = rejection }

  /// The token that was rejected is not in use any more.
  mutating func forgetRejection() { apiRejection = nil }

  /// Addresses and routes come and go all day: each step of the back-off is cut short once, and only where no
  /// connection could be made. A provider's `Retry-After` is always waited for.
  mutating func networkReturned() {
    guard var trouble = history.trouble, trouble.kind == .unreachable(triedEarly: false) else { return }
    trouble.kind = .unreachable(triedEarly: true)
    trouble.until = Swift.min(trouble.until, leastGapEnd)
    history.trouble = trouble
  }

  mutating func configurationChanged() {
    if history.trouble?.kind == .misconfigured { history.trouble?.clearWait() }
  }

  mutating func passphraseMayHaveCome() {
    if history.trouble?.kind == .passphraseNeeded { history.trouble?.clearWait() }
  }

  mutating func move(by step: Duration) {
    history.move(by: step)
    attemptBefore = attemptBefore.map { $0 + step }
  }
}
