/// One sign-in, from the call until its grant is written. A part of `SessionMachine`.
///
/// An authorization code can be used only once, so a grant that has been requested would be lost if the sign-in ended
/// too early. If the grant may still be used, an interruption therefore takes effect only after the provider has
/// responded.
struct SignIn: Hashable, Sendable {
  enum Phase: Hashable, Sendable {
    /// Reserving disk space or starting at the provider. An interruption ends the sign-in after that step.
    case beginning(Failure?)
    /// Waiting for the user.
    case waiting
    /// Waiting for a grant from the provider. If no grant arrives, the interruption ends the sign-in.
    case granting(Failure?)
    /// Writing the grant. The sign-in can no longer be interrupted.
    case landing
  }

  let account: AccountName
  let flow: SignInFlow
  /// Whether a locked credential may be replaced.
  let replacesLocked: Bool
  /// Whether the account's earlier sign-ins end before this one starts at the provider.
  let endsEarlier: Bool
  /// The epoch in which the sign-in began. The sign-in removes the user's lock only if the lock is older.
  let since: SessionEpoch
  private(set) var phase = Phase.beginning(nil)
  /// What clients see, or `nil` until the sign-in waits for the user.
  private(set) var progress: SignInProgress?
  /// When to poll the provider, or `nil` if the sign-in does not poll.
  private var polling: DevicePolling?
  /// The reason why the last poll got no usable response, or `nil` if it got one.
  private var silence: String?
  private(set) var code: Secret?
  /// The `.redirected` call that contained the code. It is answered with the sign-in's outcome.
  private(set) var browser: CallID?
  private var hasFallenBack = false
  /// The reported reasons why a browser's request was ignored. Each reason is reported only once.
  private var told: Set<String> = []

  init(
    _ flow: SignInFlow, to account: AccountName, replacesLocked: Bool, endsEarlier: Bool, since epoch: SessionEpoch
  ) {
    (self.flow, self.account, self.replacesLocked, self.endsEarlier) = (flow, account, replacesLocked, endsEarlier)
    since = epoch
  }

  var isBeginning: Bool { if case .beginning = phase { true } else { false } }

  /// The time at which the waiting sign-in times out or polls, or `nil` if it does not wait.
  var wakeAt: Timestamp? {
    guard phase == .waiting, let progress else { return nil }
    return polling.map { Swift.min($0.nextAt, progress.expiresAt) } ?? progress.expiresAt
  }

  mutating func began(_ steps: SignInSteps, at now: Timestamp) {
    switch steps {
    case .browser: progress = SignInProgress(flow: .browser, expiresAt: now + SignInProgress.timeout)
    case .device(let device):
      progress = SignInProgress(flow: .device, expiresAt: now + device.lifetime)
      polling = DevicePolling(device, at: now)
    }
    phase = .waiting
  }

  mutating func asks() { phase = .granting(nil) }

  mutating func lands() { phase = .landing }

  /// Waits for the user again, because the provider has not granted anything yet (RFC 8628, section 3.5). Returns why
  /// the sign-in ends, or `nil` if it goes on.
  mutating func notYet(_ answer: DevicePolling.Answer, at now: Timestamp) -> Failure? {
    guard case .granting(let interruption) = phase else { return nil }
    silence = if case .unanswered(let message) = answer { message } else { nil }
    polling?.answered(answer, at: now)
    phase = .waiting
    return interruption?.kind == .signInExpired ? timeout : interruption
  }

  /// Returns why the sign-in ends now, or `nil` if it goes on.
  mutating func interrupt(_ why: Failure) -> Failure? {
    switch phase {
    case .beginning(let earlier): phase = .beginning(earlier ?? why)
    // Discard a grant that is still being requested only if the user or the configuration ended the sign-in. Otherwise,
    // wait for it, because it may arrive before the daemon stops or just after the timeout. If the account is locked,
    // the session decides whether to use the grant.
    case .granting(let earlier) where why.kind != .signInFailed: phase = .granting(earlier ?? why)
    case .waiting, .granting: return why
    case .landing: break
    }
    return nil
  }

  /// Returns why the sign-in ends at `now`, or `nil` if there is time left.
  mutating func timeUp(at now: Timestamp) -> Failure? {
    guard let progress, progress.expiresAt <= now else { return nil }
    return interrupt(timeout)
  }

  private var timeout: Failure { .signInTimedOut(account, unanswered: silence) }

  func isPollDue(at now: Timestamp) -> Bool { phase == .waiting && polling.map { $0.nextAt <= now } ?? false }

  /// Handles a browser's request to a waiting sign-in. Returns why the sign-in ends, or `nil` if it goes on.
  mutating func redirected(_ reading: RedirectReading, by browser: CallID) -> Failure? {
    switch reading {
    case .foreign, .unclaimedError: return nil
    case .untrusted(let why):
      guard told.insert(why).inserted else { return nil }
      progress?.message =
        "\(why) If it was your browser, copy the page's address and paste it into the terminal where \"hearthctl login "
        + "\(account)\" is waiting. If there is no such terminal, run \"hearthctl login \(account) --no-browser\"."
      return nil
    case .scopeRefused where !hasFallenBack:
      hasFallenBack = true
      return nil
    case .failed(let failure), .scopeRefused(let failure, _): return Failure(failure, account)
    case .code(let code):
      (self.code, self.browser) = (code, browser)
      return nil
    }
  }

  /// Moves the end and the next poll after the clock was set.
  mutating func move(by step: Duration) {
    if let progress { self.progress?.expiresAt = progress.expiresAt + step }
    polling?.move(by: step)
  }
}
