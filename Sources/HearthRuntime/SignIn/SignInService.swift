package import HearthCore

/// Carries sign-ins out, for all accounts: one at a time for each, and the one that began last counts.
///
/// A sign-in waits for the person until it is over; the provider's answer is then handed to the account's session, which
/// keeps the one before until the new grant is on disk.
package actor SignInService {
  typealias Work = @Sendable () async -> Void

  /// How long a person may take in the browser.
  static let patience: Duration = .seconds(600)
  /// How many outcomes are kept for those who ask late.
  private static let mostKept = 64

  private let sessions: SessionDirectory
  let redirects: any RedirectListener
  let clock: any Clock
  private var attempts: [String: SignInAttempt] = [:]
  /// In the order in which they began.
  private var order: [String] = []
  private var isStopping = false
  private let work: AsyncStream<Work>
  private let workInbox: AsyncStream<Work>.Continuation

  package init(sessions: SessionDirectory, redirects: any RedirectListener, clock: any Clock) {
    self.sessions = sessions
    self.redirects = redirects
    self.clock = clock
    (work, workInbox) = AsyncStream.makeStream()
  }

  /// Runs until `stop`. All tasks are children of this call.
  package func run() async {
    await withDiscardingTaskGroup { group in
      for await work in work { group.addTask { await work() } }
    }
  }

  /// Gives up every sign-in that waits for a person.
  package func stop() async {
    isStopping = true
    for id in order { await giveUp(id, .stopping) }
    workInbox.finish()
  }

  // MARK: - What clients ask

  /// Begins a sign-in in the browser or on another device. An earlier one of the account that waits for the person is given
  /// up.
  package func begin(
    _ flow: SignInFlow, of entry: SessionDirectory.Entry, replacing: Bool
  ) async throws(SignInEnd) -> BegunAttempt {
    guard !isStopping else { throw .stopping }
    switch flow {
    case .browser: return try await beginBrowser(entry, replacing)
    case .device: return try await beginDevice(entry, replacing)
    case .password, .clientCredentials: throw .failed(.notSupported(message: "This flow waits for nobody."))
    }
  }

  /// Signs in with user name and password.
  package func signIn(
    username: String, password: Secret, to entry: SessionDirectory.Entry, replacing: Bool
  ) async throws(SignInEnd) -> BegunAttempt {
    guard !isStopping else { throw .stopping }
    if entry.signIn.takesPassword { await supersede(entry.service.account) }
    let expiresAt = clock.now() + Self.patience
    let attempt = add(.password, .nothing, expiresAt: expiresAt, entry, replacing).attempt
    let id = attempt.begun.id
    let outcome = await grant(id) { [endpoint = entry.signIn] () async throws(SignInFailure) in
      try await endpoint.signIn(username: username, password: password)
    }
    await end(id, outcome)
    _ = try outcome.get()
    return attempt.begun
  }

  /// The outcome, as soon as there is one; nil where no such sign-in is known.
  package func outcome(of id: String) async -> Result<SessionStatus, SignInEnd>? {
    guard attempts[id] != nil else { return nil }
    return await withCheckedContinuation { attempts[id]?.wait($0) }
  }

  package func account(of id: String) -> AccountName? { attempts[id]?.begun.account }

  /// Gives a sign-in up; false where no such one is known. One whose grant is being asked for is not broken off.
  package func cancel(_ id: String) async -> Bool {
    guard attempts[id] != nil else { return false }
    await giveUp(id, .cancelled)
    return true
  }

  /// The person signs out: what they began before is over.
  package func signedOut(_ account: AccountName) async { await supersede(account, by: .signedOut) }

  /// The browser was sent to an address that the person has copied; nil where no such sign-in waits for one.
  package func redirected(_ id: String, to address: String) async -> RedirectReading? {
    guard let attempt = attempts[id], attempt.isWaiting, case .browser(let signIn) = attempt.begun.steps,
      let reading = signIn.read(address: address)
    else { return nil }
    switch reading {
    case .foreign: break
    case .failed(let failure): await end(id, .failure(.failed(failure)))
    case .code(let code): redeem(code, of: signIn, id) { _ in }
    }
    return reading
  }

  // MARK: - From the beginning to the end

  func supersede(_ account: AccountName, by end: SignInEnd = .superseded) async {
    for id in order where attempts[id]?.begun.account == account { await giveUp(id, end) }
  }

  /// While the provider is asked, what it answers counts: a grant is not thrown away.
  private func giveUp(_ id: String, _ end: SignInEnd) async {
    guard let attempt = attempts[id], attempt.outcome == nil else { return }
    if attempt.isWaiting { await self.end(id, .failure(end)) } else { attempts[id]?.endLater(end) }
  }

  /// Whether a sign-in that was asked about and not granted is to be asked about again.
  func goesOnWaiting(_ id: String) async -> Bool {
    attempts[id]?.goesOnWaiting()
    if let end = attempts[id]?.wantedEnd { await self.end(id, .failure(end)) }
    return isWaiting(id)
  }

  /// `over` ends with the sign-in.
  func add(
    _ flow: SignInFlow, _ steps: SignInSteps, expiresAt: Timestamp, _ entry: SessionDirectory.Entry, _ replaces: Bool
  ) -> (attempt: SignInAttempt, over: AsyncStream<Never>) {
    while order.count >= Self.mostKept, let oldest = order.firstIndex(where: { attempts[$0]?.outcome != nil }) {
      attempts.removeValue(forKey: order.remove(at: oldest))
    }
    let id = String(Self.random(), radix: 36)
    let begun = BegunAttempt(
      id: id, account: entry.service.account, progress: SignInProgress(flow: flow, expiresAt: expiresAt), steps: steps)
    let (over, ends) = AsyncStream<Never>.makeStream()
    let attempt = SignInAttempt(begun, entry, replaces: replaces, over: ends)
    attempts[id] = attempt
    order.append(id)
    return (attempt, over)
  }

  /// Tells clients of a sign-in that waits for the person, and runs `body` until it is over or its time is up.
  func wait(_ attempt: SignInAttempt, until over: AsyncStream<Never>, _ body: @escaping Work) async {
    await attempt.entry.service.signInChanged(attempt.begun.progress)
    let (id, deadline) = (attempt.begun.id, attempt.begun.progress.expiresAt)
    workInbox.yield { [clock] in
      await withDiscardingTaskGroup { group in
        group.addTask { await body() }
        group.addTask {
          await clock.sleep(until: deadline)
          if !Task.isCancelled { await self.timeIsUp(for: id) }
        }
        for await _ in over {}
        group.cancelAll()
      }
    }
  }

  private func timeIsUp(for id: String) async {
    await giveUp(id, .failed(.expired(message: "Nobody signed in within the time that there was: begin again.")))
  }

  func isWaiting(_ id: String) -> Bool { attempts[id]?.isWaiting ?? false }

  /// Redeems the code in a task of its own; `tell` receives the outcome.
  func redeem(
    _ code: Secret, of signIn: BrowserSignIn, _ id: String,
    _ tell: @escaping @Sendable (SignInAttempt.Outcome) -> Void
  ) {
    guard let endpoint = attempts[id]?.entry.signIn else { return }
    attempts[id]?.granting()
    workInbox.yield {
      let outcome = await self.grant(id) { () async throws(SignInFailure) in
        try await endpoint.redeem(code: code, of: signIn)
      }
      tell(outcome)
      await self.end(id, outcome)
    }
  }

  /// Has the account's session ask for the grant and keep it.
  func grant(
    _ id: String, _ request: @escaping @Sendable () async throws(SignInFailure) -> TokenResponse
  ) async -> SignInAttempt.Outcome {
    guard let attempt = attempts[id] else { return .failure(.cancelled) }
    attempts[id]?.granting()
    let service = attempt.entry.service
    guard await sessions.current(service.account)?.service === service else { return .failure(.reconfigured) }
    do throws(AdoptionFailure) {
      try await service.signIn(replacing: attempt.replaces, request)
      return .success(await service.snapshot())
    } catch {
      return .failure(.notAdopted(error))
    }
  }

  func end(_ id: String, _ outcome: SignInAttempt.Outcome) async {
    guard let attempt = attempts[id], attempt.outcome == nil else { return }
    // Before the outcome is told: whoever knows it sees the same in the status.
    await attempt.entry.service.signInChanged(nil)
    var told = outcome
    if case .success = outcome { told = .success(await attempt.entry.service.snapshot()) }
    attempts[id]?.end(told)
  }

  /// 128 bits that nobody can guess.
  private static func random() -> UInt128 { UInt128.random(in: .min ... .max) }
}
