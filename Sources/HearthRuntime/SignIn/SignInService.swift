package import HearthCore

/// Carries sign-ins out, for all accounts: the one that began last takes over from those of its account that wait.
///
/// A sign-in waits for the person until it is over; the provider's answer is then handed to the account's session, which
/// keeps the one before until the new grant is on disk.
package actor SignInService {
  typealias Work = @Sendable () async -> Void
  package typealias Outcome = Result<SessionStatus, SignInEnd>

  /// How long a person may take in the browser.
  static let patience: Duration = .seconds(600)

  private let sessions: SessionDirectory
  let redirects: any RedirectListener
  let clock: any Clock
  private var attempts: [String: SignInAttempt] = [:]
  /// Of those under way, in the order in which they began.
  private var order: [String] = []
  private var outcomes = SignInOutcomes()
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

  /// Begins a sign-in in the browser or on another device. An earlier one of the account is over then.
  package func begin(
    _ flow: SignInFlow, of entry: SessionDirectory.Entry, replacing: Bool
  ) async throws(SignInEnd) -> BegunAttempt {
    do throws(AdoptionFailure) {
      try await entry.service.prepareToSignIn()
    } catch {
      throw .notAdopted(error)
    }
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
    if entry.signIn.takesPassword { await supersede(entry.service.account) }
    let (attempt, _) = try add(.password, .nothing, expiresAt: clock.now() + Self.patience, entry, replacing)
    let id = attempt.begun.id
    let outcome = await grant(id) { [endpoint = entry.signIn] () async throws(SignInFailure) in
      try await endpoint.signIn(username: username, password: password)
    }
    await end(id, outcome)
    _ = try outcome.get()
    return attempt.begun
  }

  /// The outcome, as soon as there is one; nil where no such sign-in is known, or the caller has gone.
  package func outcome(of id: String) async -> Outcome? {
    guard let outcome = outcomes.outcome(of: id) else { return nil }
    for await outcome in outcome { return outcome }
    return nil
  }

  package func account(of id: String) -> AccountName? { outcomes.account(of: id) }

  /// Gives a sign-in up; false where no such one is known. Where the grant is being asked for it is over with the answer,
  /// which is revoked.
  package func cancel(_ id: String) async -> Bool {
    guard outcomes.account(of: id) != nil else { return false }
    await giveUp(id, .cancelled)
    return true
  }

  /// What an account's person began before is over: they sign out, or the account is another one now.
  package func end(allOf account: AccountName, _ end: SignInEnd) async {
    for id in order where attempts[id]?.begun.account == account { await giveUp(id, end) }
  }

  /// The browser was sent to an address that the person has copied; nil where no such sign-in waits for one.
  package func redirected(_ id: String, to address: String) async -> RedirectReading? {
    guard let attempt = attempts[id], attempt.phase == .waiting, case .browser(let signIn) = attempt.begun.steps,
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

  /// Ends the account's other sign-ins, and returns once they are over: what a provider is being asked for comes first.
  func supersede(_ account: AccountName) async {
    for id in order where attempts[id]?.begun.account == account {
      await giveUp(id, .superseded)
      _ = await outcome(of: id)
    }
  }

  private func giveUp(_ id: String, _ end: SignInEnd) async {
    guard let attempt = attempts[id] else { return }
    switch attempt.phase {
    case .waiting: await self.end(id, .failure(end))
    case .granting: attempts[id]?.wantedEnd = end
    case .ending: break
    }
  }

  /// `over` ends with the sign-in.
  func add(
    _ flow: SignInFlow, _ steps: SignInSteps, expiresAt: Timestamp, _ entry: SessionDirectory.Entry, _ replaces: Bool,
    at redirect: (any OpenRedirect)? = nil
  ) throws(SignInEnd) -> (attempt: SignInAttempt, over: AsyncStream<Never>) {
    guard !isStopping else { throw .stopping }
    let account = entry.service.account
    let id = String(UInt128.random(in: .min ... .max), radix: 36)
    let begun = BegunAttempt(
      id: id, account: account, progress: SignInProgress(flow: flow, expiresAt: expiresAt), steps: steps)
    let (over, ends) = AsyncStream<Never>.makeStream()
    let attempt = SignInAttempt(begun: begun, entry: entry, replaces: replaces, redirect: redirect, over: ends)
    attempts[id] = attempt
    order.append(id)
    outcomes.add(id, of: account)
    return (attempt, over)
  }

  /// Tells clients of a sign-in that waits for the person, and runs `body` until it is over or its time is up.
  func wait(_ attempt: SignInAttempt, until over: AsyncStream<Never>, _ body: @escaping Work) async {
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
    await attempt.entry.service.signInChanged(shown(of: attempt.begun.account))
  }

  /// The sign-in of the account that its status shows: the last that waits for the person.
  private func shown(of account: AccountName) -> SignInProgress? {
    order.reversed().lazy.compactMap { self.attempts[$0] }
      .first { $0.begun.account == account && $0.phase != .ending && $0.begun.progress.flow != .password }?
      .begun.progress
  }

  private func timeIsUp(for id: String) async {
    await giveUp(id, .failed(.expired(message: "Nobody signed in within the time that there was: begin again.")))
  }

  func isWaiting(_ id: String) -> Bool { attempts[id]?.phase == .waiting }

  /// Whether a sign-in that was asked about and not granted is to be asked about again.
  func goesOnWaiting(_ id: String) async -> Bool {
    guard let attempt = attempts[id], attempt.phase == .granting else { return false }
    attempts[id]?.phase = .waiting
    if let end = attempt.wantedEnd { await self.end(id, .failure(end)) }
    return isWaiting(id)
  }

  /// Redeems the code in a task of its own; `tell` receives the outcome.
  func redeem(
    _ code: Secret, of signIn: BrowserSignIn, _ id: String, _ tell: @escaping @Sendable (Outcome) -> Void
  ) {
    guard let endpoint = attempts[id]?.entry.signIn else { return }
    attempts[id]?.phase = .granting
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
  ) async -> Outcome {
    guard let attempt = attempts[id], attempt.phase != .ending else { return .failure(.cancelled) }
    attempts[id]?.phase = .granting
    let service = attempt.entry.service
    guard await sessions.current(service.account)?.service === service else { return .failure(.reconfigured) }
    do throws(AdoptionFailure) {
      try await service.signIn(replacing: attempt.replaces, isWanted: { await self.isWanted(id) }, request)
      return .success(await service.snapshot())
    } catch {
      if let end = attempts[id]?.wantedEnd, !error.isPending { return .failure(end) }
      return .failure(error == .stopping && !isStopping ? .reconfigured : .notAdopted(error))
    }
  }

  private func isWanted(_ id: String) -> Bool {
    attempts[id].map { $0.wantedEnd == nil && $0.phase == .granting } ?? false
  }

  /// Ends a sign-in: first nothing of it counts any more, then its outcome is told.
  func end(_ id: String, _ outcome: Outcome) async {
    guard let attempt = attempts[id], attempt.phase != .ending else { return }
    attempts[id]?.phase = .ending
    attempt.over.finish()
    // Another one may listen there as soon as this one is over.
    await attempt.redirect?.close()
    // Before the outcome is told: whoever knows it sees the same in the status.
    await attempt.entry.service.signInChanged(shown(of: attempt.begun.account))
    var told = outcome
    if case .success = outcome { told = .success(await attempt.entry.service.snapshot()) }
    attempts.removeValue(forKey: id)
    order.removeAll { $0 == id }
    outcomes.tell(told, of: id)
  }
}

extension AdoptionFailure {
  /// The person is not done yet.
  var isPending: Bool {
    if case .signIn(.pending) = self { true } else { false }
  }
}
