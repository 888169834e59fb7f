package import HearthCore

/// Drives a session's machine by hand, one input at a time, so that a test reads like a script.
///
/// `actions` has the actions of the last input. The verbs below pass in the results.
package struct SessionScript: Sendable {
  package private(set) var machine: SessionMachine
  package var now: Timestamp
  /// The actions of the last input, without the answers to calls.
  package private(set) var actions: [SessionAction] = []
  /// All answers so far. Each call may have only one.
  package private(set) var answers: [CallID: [SessionResponse]] = [:]
  /// All events so far.
  package private(set) var events: [SessionEvent] = []
  /// The times at which refreshes were requested.
  package private(set) var attempts: [Timestamp] = []
  private var callCount = 0
  private var generationOfWrite = 0
  private var generationOfRefresh = 0
  private var generationOfQuestion = 0
  private var providerOfQuestion = 0

  /// A session that has just started and asks to read its credential. `remembered` is nil if that cannot be read
  /// now.
  package init(
    _ settings: SessionSettings = .obeyingEveryLock, remembered: RememberedAccount? = RememberedAccount(),
    seed: UInt64 = 1, at now: Timestamp = .sample
  ) {
    self.now = now
    machine = SessionMachine(account: .sample, settings: settings, seed: seed, at: now)
    take(remembered.map { .started($0) } ?? .credentialRead(.unreadable(.denied)))
  }

  /// A session that holds `credential`, read from disk.
  package static func holding(
    _ credential: Credential = .sample(1, issuedAt: .sample), _ settings: SessionSettings = .obeyingEveryLock,
    seed: UInt64 = 1
  ) -> SessionScript {
    var script = SessionScript(settings, seed: seed)
    script.reads(.found(credential))
    return script
  }

  /// A session that holds `credential`, signed in by this process.
  package static func signedIn(
    _ credential: Credential = .sample(1, issuedAt: .sample), _ settings: SessionSettings = .obeyingEveryLock
  ) -> SessionScript {
    var script = SessionScript(settings)
    script.reads(.neverSignedIn)
    script.imports(credential)
    script.writes()
    return script
  }

  // MARK: - What happens

  package mutating func take(_ input: SessionInput) {
    let all = machine.handle(input, at: now)
    actions = []
    for action in all {
      if case .answer(let id, let answer) = action {
        answers[id, default: []].append(answer)
      } else {
        actions.append(action)
      }
      switch action {
      case .publish(let event): events.append(event)
      case .write(_, let generation): generationOfWrite = generation
      case .identify(_, let generation, let provider):
        (generationOfQuestion, providerOfQuestion) = (generation, provider)
      case .refresh(_, let generation), .requestGrant(let generation), .askTime(let generation):
        generationOfRefresh = generation
        attempts.append(now)
      case .recall, .read, .writeEnd, .remove, .setAside, .rememberLockedByUser, .remember, .lockStore,
        .replaceStore, .revoke, .revokeAtOnce, .makeRoom, .obtain, .beginSignIn, .showSignIn,
        .complete, .answer:
        break
      }
    }
  }

  package mutating func reads(_ reading: CredentialReading) { take(.credentialRead(reading)) }

  package mutating func isHinted(_ reading: CredentialReading) {
    take(.credentialHinted)
    reads(reading)
  }

  package mutating func writes(_ accessFailure: AccessFailure? = nil) {
    take(.credentialWritten(generation: generationOfWrite, accessFailure.map { .failure($0) } ?? .success(())))
  }

  /// `nowhere` means that neither the file nor the memory recorded the end. Otherwise one of them did, even after an
  /// error.
  package mutating func writesEnd(_ accessFailure: AccessFailure? = nil, nowhere: Bool = false) {
    take(.endWritten(accessFailure.map { .failure(nowhere ? .nowhere($0) : .partly($0)) } ?? .success(())))
  }

  package mutating func removes(
    _ accessFailure: AccessFailure? = nil, nowhere: Bool = false, current credential: Credential? = nil,
    former: [Credential] = []
  ) {
    let removed = RemovedCredentials(current: credential, former: former)
    take(.removed(accessFailure.map { .failure(nowhere ? .nowhere($0) : .partly($0)) } ?? .success(removed)))
  }

  package mutating func notesLock(_ accessFailure: AccessFailure? = nil) {
    take(.lockRemembered(accessFailure.map { .failure($0) } ?? .success(())))
  }

  package mutating func setsAside(_ accessFailure: AccessFailure? = nil) {
    let why = effects.lazy.compactMap { if case .setAside(let why) = $0 { why } else { nil } }.last ?? "cut off"
    take(.credentialSetAside(accessFailure.map { .failure($0) } ?? .success("work.json.corrupt-1"), why: why))
  }

  package mutating func isGranted(_ response: TokenResponse) { ends(.granted(response)) }

  package mutating func isTold(_ time: Timestamp) { ends(.told(time)) }

  package mutating func fails(_ failure: RefreshFailure) { ends(.failed(failure)) }

  package mutating func ends(_ outcome: RefreshOutcome) {
    take(.refreshEnded(generation: generationOfRefresh, outcome))
  }

  package mutating func isIdentified(
    as subject: Subject?, at origin: Origin? = nil, endpoints: Set<Origin>? = nil
  ) {
    take(
      .identified(
        generation: generationOfQuestion, provider: providerOfQuestion, subject, origin: origin, origins: endpoints))
  }

  /// Makes a call. Its answer is in `answers`, under the returned ID.
  @discardableResult
  package mutating func asks(_ call: SessionCall) -> CallID {
    callCount += 1
    take(.called(CallID(callCount), call))
    return CallID(callCount)
  }

  /// Imports a grant that is not sent at once.
  @discardableResult
  package mutating func imports(_ credential: Credential) -> CallID {
    let id = asks(.adopt(credential))
    take(.roomMade(id, .success(())))
    take(.obtained(id, .success(nil)))
    take(.completed(id, credential))
    return id
  }

  /// Asks for the grant of a sign-in.
  package mutating func signsIn(replacesLocked: Bool = true) -> CallID {
    let id = asks(.signIn(.password, replacesLocked: replacesLocked))
    take(.roomMade(id, .success(())))
    return id
  }

  /// Starts a sign-in, which then waits for the user.
  package mutating func begins(
    _ steps: SignInSteps = .browser(ScriptedSignInEndpoint.browser()), replacesLocked: Bool = false
  ) -> CallID {
    let flow: SignInFlow =
      switch steps {
      case .browser: .browser
      case .device: .device
      }
    let id = asks(.signIn(flow, replacesLocked: replacesLocked))
    take(.roomMade(id, .success(())))
    take(.signInBegan(id, .success(steps)))
    return id
  }

  /// The provider grants what a sign-in has asked for.
  package mutating func brings(_ credential: Credential, to id: CallID) {
    take(.obtained(id, .success(.granted(TokenResponse(credential, at: now)))))
    take(.completed(id, credential))
  }

  /// Signs in, and receives this grant at once.
  @discardableResult
  package mutating func signsIn(with credential: Credential) -> CallID {
    let id = signsIn()
    brings(credential, to: id)
    return id
  }

  /// Lets time pass and wakes the machine at the end, like a service that wakes up late.
  package mutating func passes(_ duration: Duration) {
    now = now + duration
    take(.woke)
  }

  /// Sets the clock.
  package mutating func steps(_ step: Duration) {
    now = now + step
    take(.clockChanged(by: step))
  }

  /// Advances to the next time at which the machine wants to wake. Returns false if there is none.
  @discardableResult
  package mutating func wakes() -> Bool {
    guard let next = machine.nextWake(after: now) else { return false }
    now = next
    take(.woke)
    return true
  }

  /// Advances to the time of the next planned refresh.
  package mutating func comesDue() {
    while let due = machine.snapshot(at: now).nextAttemptAt, now < due, wakes() {}
  }

  /// A user's forced refresh, completed and stored.
  package mutating func refreshes(to number: Int) {
    passes(RefreshSettings.leastGap)
    asks(.refresh)
    isGranted(.sample(number))
    writes()
  }

  // MARK: - What is seen

  package var state: SessionState { machine.state(at: now) }
  package var snapshot: SessionStatus { machine.snapshot(at: now) }
  package var nextWake: Timestamp? { machine.nextWake(after: now) }

  /// The answer to a call, or nil while it waits or if there were two.
  package func answer(to id: CallID) -> SessionResponse? {
    let all = answers[id] ?? []
    return all.count == 1 ? all[0] : nil
  }

  /// The immediate answer to a call, or nil if it has to wait.
  package mutating func answer(asking call: SessionCall) -> SessionResponse? {
    let id = asks(call)
    return answer(to: id)
  }

  /// The answer that the session is in this state.
  package func rejection(in state: SessionState) -> SessionResponse { .rejected(.state(state, snapshot)) }

  /// The answer that no refresh has succeeded.
  package func unavailable(_ message: String, retryAfter: Duration? = nil) -> SessionResponse {
    .rejected(
      Failure(.refreshUnavailable, message, account: .sample, action: snapshot.action, retryAfter: retryAfter))
  }

  /// Whether the token stays in use after an API has rejected it.
  package mutating func keepsToken(after rejection: APIRejection) -> Bool {
    if case .token? = answer(asking: .reportUnauthorized(rejection)) { true } else { false }
  }

  /// The actions of the last input, without events.
  package var effects: [SessionAction] {
    actions.filter { if case .publish = $0 { false } else { true } }
  }

  /// The token that clients get now without waiting.
  package var token: Token? {
    var copy = self
    guard case .token(let bearer)? = copy.answer(asking: .token(minValidity: .zero)) else { return nil }
    return bearer.token
  }
}

extension AccountName {
  package static let sample: AccountName = {
    guard let name = AccountName("work") else { preconditionFailure("the sample is a name") }
    return name
  }()
}

extension Timestamp {
  package static let sample = Timestamp(seconds: 1_795_000_000)
}

extension AccessFailure {
  package static let denied = AccessFailure(.permissionDenied, detail: "work.json: permission denied")
  package static let away = AccessFailure(.volumeUnavailable, detail: "the place is away")
  package static let full = AccessFailure(.storageError, detail: "no space left on device")
  package static let sealed = AccessFailure(.passphraseRequired, detail: "it is sealed with a passphrase")
}

extension SessionResponse {
  /// The token of a credential with a subject, as a session gives it out.
  package static func token(_ credential: Credential, as kind: BearerKind = .accessToken) -> SessionResponse {
    .token(Bearer(credential, of: Sample.work, as: kind, subject: nil))
  }

  package var failure: Failure? {
    if case .rejected(let failure) = self { failure } else { nil }
  }

  package var isToken: Bool {
    if case .token = self { true } else { false }
  }
}

extension Failure {
  /// What ends a sign-in so that its grant is of no more use.
  package static let givenUp: [Failure] = [
    .signInCancelled(.sample), .signInReplaced(.sample), .signedOutMeanwhile(.sample), .reconfigured(.sample),
  ]
}

extension SessionSettings {
  package init(
    refresh: RefreshSettings = RefreshSettings(), locks: Set<Lock> = [.user], locksWhenUnreadable: Bool = false,
    renewsWithoutRefreshToken: Bool = false, bearer: BearerKind = .accessToken, configuredSubject: Subject? = nil,
    binding: TokenBinding? = nil, reauthPrompt: ReauthPrompt = .none
  ) {
    self.init()
    (self.refresh, self.locks, self.locksWhenUnreadable) = (refresh, locks, locksWhenUnreadable)
    self.renewsWithoutRefreshToken = renewsWithoutRefreshToken
    (self.bearer, self.configuredSubject, self.binding) = (bearer, configuredSubject, binding)
    self.reauthPrompt = reauthPrompt
  }

  package static let obeyingEveryLock = SessionSettings(locks: Set(Lock.allCases))
}
