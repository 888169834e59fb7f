package import HearthCore

/// Carries out the sign-ins of all accounts. A new sign-in replaces the account's earlier sign-ins that still wait for
/// the user.
///
/// The account's session requests and stores the grant. It uses the previous grant until the new one is on disk.
package actor SignInService: RunningService {
  package typealias Outcome = Result<SessionStatus, SignInEnd>

  /// The time limit for a sign-in in the browser.
  static let timeout: Duration = .seconds(600)

  let sessions: SessionDirectory
  let redirects: any RedirectListener
  let clock: any Clock
  /// Waits for pending revocations that could also revoke the new grant.
  private let revocationsEnd: @Sendable (SessionService) async -> Void
  private var attempts: [String: SignInAttempt] = [:]
  /// The sign-ins in progress, in the order in which they began.
  private var order: [String] = []
  private var outcomes = SignInOutcomes()
  /// How many times all of an account's sign-ins were ended together, and the reason for the last time. A sign-in that
  /// has started but is not in `attempts` yet compares the count to find out that it has been ended.
  private var ends: [AccountName: (count: Int, last: SignInInterruption)] = [:]
  private var isStopping = false
  let work = WorkInbox()

  package init(
    sessions: SessionDirectory, redirects: any RedirectListener, clock: any Clock,
    revocationsEnd: @escaping @Sendable (SessionService) async -> Void = { _ in }
  ) {
    self.revocationsEnd = revocationsEnd
    self.sessions = sessions
    self.redirects = redirects
    self.clock = clock
  }

  package func run() async { await work.run() }

  /// Ends every sign-in that waits for the user. `run` ends after the grants that are being requested have arrived.
  package func stop() async {
    isStopping = true
    for id in order { await handle(.interrupted(.stopping), of: id) }
    work.finish()
  }

  // MARK: - Calls from clients

  /// Starts a sign-in and ends the account's earlier ones. A sign-in that does not need the user is complete when this
  /// method returns.
  package func begin(
    _ request: SignInRequest, of entry: SessionDirectory.Entry, replacing: Bool
  ) async throws(SignInEnd) -> SignInHandle {
    let beginning: SignInBeginning
    let ends = ends[entry.service.account]?.count ?? 0
    do throws(SessionRejection) {
      let epoch = try await entry.service.prepareToSignIn()
      beginning = SignInBeginning(replacesLocked: replacing, epoch: epoch, ends: ends)
    } catch {
      throw .rejected(error)
    }
    switch request {
    case .browser: return try await beginBrowser(entry, beginning)
    case .device: return try await beginDevice(entry, beginning)
    case .password(let name, let password): return try await signIn(name, password, to: entry, beginning)
    case .clientCredentials: return try await requestGrant(entry, beginning)
    }
  }

  /// Waits for the outcome. Returns `nil` if the sign-in is unknown or the calling task is cancelled.
  package func outcome(of id: String) async -> Outcome? {
    guard let outcome = outcomes.outcome(of: id) else { return nil }
    for await outcome in outcome { return outcome }
    return nil
  }

  package func account(of id: String) -> AccountName? { outcomes.account(of: id) }

  /// Cancels a sign-in, or returns false if the sign-in is unknown. If Hearth is already requesting the grant, Hearth
  /// revokes the grant when it arrives.
  package func cancel(_ id: String) async -> Bool {
    guard outcomes.account(of: id) != nil else { return false }
    await handle(.interrupted(.cancelled), of: id)
    return true
  }

  /// Ends all sign-ins of an account, because the user has signed out or the account's configuration has changed.
  package func end(allOf account: AccountName, _ interruption: SignInInterruption) async {
    ends[account] = ((ends[account]?.count ?? 0) + 1, interruption)
    for id in order where attempts[id]?.begun.account == account { await handle(.interrupted(interruption), of: id) }
  }

  /// Called when the account's session has changed. If a lock now applies to its sign-ins, ends those that wait for the
  /// user.
  package func sessionChanged(_ account: AccountName) async {
    for id in order where attempts[id]?.begun.account == account {
      // Check each time, because the session may have been unlocked or a sign-in may have ended in the meantime.
      guard let attempt = attempts[id], let lock = await attempt.entry.service.lock(since: attempt.beginning.epoch)
      else { continue }
      await handle(.interrupted(.locked(lock)), of: id)
    }
  }

  /// Handles the redirect address that the user copied from the browser. Returns `nil` if the sign-in is not waiting
  /// for such an address.
  package func redirected(_ id: String, to address: String) async -> RedirectReading? {
    guard isWaiting(id), case .browser(let signIn)? = attempts[id]?.begun.steps,
      let reading = signIn.read(address: address)
    else { return nil }
    switch reading {
    case .foreign, .unclaimedError, .untrusted: break
    case .failed(let failure), .scopeRefused(let failure, _):
      await conclude(id, .failure(.rejected(.signIn(failure))))
    case .code(let code): redeem(code, of: signIn, id)
    }
    return reading
  }

  // MARK: - From the beginning to the end

  /// Returns the result of the step, and converts its error.
  func begun<Value>(
    _ step: @autoclosure () async throws(SignInFailure) -> Value
  ) async throws(SignInEnd) -> Value {
    do throws(SignInFailure) { return try await step() } catch { throw .rejected(.signIn(error)) }
  }

  /// Ends the account's other sign-ins. Returns once they have ended and their requests to the provider have finished.
  func supersede(_ account: AccountName) async {
    for id in order where attempts[id]?.begun.account == account {
      await handle(.interrupted(.superseded), of: id)
      _ = await outcome(of: id)
    }
  }

  /// Returns the decision for an event, without carrying it out.
  func decide(_ event: SignInMachine.Event, on id: String) -> SignInMachine.Decision {
    attempts[id]?.machine.handle(event) ?? .nothing
  }

  /// Handles an event, and ends the sign-in if the decision is to end it.
  @discardableResult
  func handle(_ event: SignInMachine.Event, of id: String) async -> SignInMachine.Decision {
    let decision = decide(event, on: id)
    if case .end(let interruption) = decision { await end(id, .failure(.interrupted(interruption))) }
    return decision
  }

  /// Ends the sign-in with the outcome of its request, unless the sign-in is already over. Returns the outcome.
  @discardableResult
  func conclude(_ id: String, _ outcome: Outcome) async -> Outcome {
    let event: SignInMachine.Event = if case .success = outcome { .granted } else { .refused }
    if decide(event, on: id) == .finish { await end(id, outcome) }
    return outcome
  }

  /// Records that the browser has returned. `tell` receives the outcome before the redirect address is closed.
  func browserIsBack(_ id: String, _ tell: @escaping @Sendable (Outcome) -> Void) { attempts[id]?.tell = tell }

  /// Publishes why a browser's response was not used, and how to continue. Publishes each reason once.
  func tell(_ why: String, of id: String) async {
    guard let attempt = attempts[id], attempts[id]?.told.insert(why).inserted == true else { return }
    let account = attempt.begun.account
    attempts[id]?.begun.progress.message =
      "\(why) If it was your browser, copy the page's address and paste it into the terminal where \"hearthctl login "
      + "\(account)\" is waiting. If there is no such terminal, run \"hearthctl login \(account) --no-browser\"."
    await attempt.entry.service.signInChanged(shown(of: account))
  }

  /// Returns true on the first call only, because the browser may be redirected to the provider once more.
  func mayFallBack(_ id: String) -> Bool {
    defer { attempts[id]?.hasFallenBack = true }
    return attempts[id]?.hasFallenBack == false
  }

  /// Adds a sign-in. The returned stream finishes when the sign-in ends.
  func add(
    _ flow: SignInFlow, _ steps: SignInSteps, expiresAt: Timestamp, _ entry: SessionDirectory.Entry,
    _ beginning: SignInBeginning, at redirect: (any OpenRedirect)? = nil
  ) throws(SignInEnd) -> (attempt: SignInAttempt, over: AsyncStream<Never>) {
    guard !isStopping else { throw .interrupted(.stopping) }
    let account = entry.service.account
    if let ended = ends[account], ended.count != beginning.ends { throw .interrupted(ended.last) }
    let id = String(UInt128.random(in: .min ... .max), radix: 36)
    let begun = SignInHandle(
      id: id, account: account, progress: SignInProgress(flow: flow, expiresAt: expiresAt), steps: steps)
    let (over, ends) = AsyncStream<Never>.makeStream()
    let attempt = SignInAttempt(
      begun: begun, entry: entry, beginning: beginning, redirect: redirect, over: ends,
      stepped: clock.moment().stepped, machine: SignInMachine(replacesLocked: beginning.replacesLocked))
    attempts[id] = attempt
    order.append(id)
    outcomes.add(id, of: account)
    return (attempt, over)
  }

  /// Publishes a sign-in that waits for the user, and runs `body` until the sign-in ends or times out.
  func wait(_ attempt: SignInAttempt, until over: AsyncStream<Never>, _ body: @escaping WorkInbox.Work) async {
    let (id, deadline) = (attempt.begun.id, attempt.begun.progress.expiresAt)
    work.add { [clock] in
      await withDiscardingTaskGroup { group in
        group.addTask { await body() }
        group.addTask {
          await clock.sleep(until: deadline)
          if !Task.isCancelled { await self.handle(.timeUp, of: id) }
        }
        for await _ in over {}
        group.cancelAll()
      }
    }
    await attempt.entry.service.signInChanged(shown(of: attempt.begun.account))
  }

  /// Returns the sign-in that the account's status shows, which is the latest one that waits for the user.
  private func shown(of account: AccountName) -> SignInProgress? {
    let attempt = order.reversed().lazy.compactMap { self.attempts[$0] }
      .first { $0.begun.account == account && $0.machine.phase != .ended && $0.begun.progress.flow.waitsForPerson }
    guard let attempt else { return nil }
    var progress = attempt.begun.progress
    progress.expiresAt = progress.expiresAt + (clock.moment().stepped - attempt.stepped)
    return progress
  }

  func isWaiting(_ id: String) -> Bool { attempts[id]?.machine.phase == .waiting }

  func endpoint(of id: String) -> (any SignInEndpoint)? { attempts[id]?.entry.signIn }

  /// Asks the account's session to request the grant and store it.
  func grant(
    _ id: String, _ request: @escaping @Sendable () async throws(SignInFailure) -> TokenResponse
  ) async -> Outcome {
    guard let attempt = attempts[id] else { return .failure(.interrupted(.cancelled)) }
    let service = attempt.entry.service
    guard await sessions[service.account]?.service === service else {
      return .failure(.interrupted(.reconfigured))
    }
    let grant = GrantRequest { [revocationsEnd] () async throws(SessionRejection) in
      // The user may have signed out before the session knew of this sign-in.
      guard await self.isWanted(id) else { throw .superseded }
      await revocationsEnd(service)
      do throws(SignInFailure) { return try await request() } catch { throw .signIn(error) }
    } isWanted: {
      await self.land(id)
    }
    do throws(SessionRejection) {
      try await service.signIn(attempt.beginning, by: grant)
      return .success(await service.snapshot())
    } catch {
      return .failure(error == .stopping && !isStopping ? .interrupted(.reconfigured) : .rejected(error))
    }
  }

  private func isWanted(_ id: String) -> Bool { attempts[id]?.machine.keepsGrant ?? false }

  private func land(_ id: String) -> Bool { attempts[id]?.machine.land() ?? false }

  /// Ends a sign-in and reports the outcome.
  private func end(_ id: String, _ outcome: Outcome) async {
    guard let attempt = attempts[id] else { return }
    attempt.over.finish()
    attempt.tell?(outcome)
    // Close the address first, because another sign-in may listen there once this one is over.
    await attempt.redirect?.close()
    // Update the status before reporting the outcome, so that both agree.
    await attempt.entry.service.signInChanged(shown(of: attempt.begun.account))
    var told = outcome
    if case .success = outcome { told = .success(await attempt.entry.service.snapshot()) }
    attempts.removeValue(forKey: id)
    order.removeAll { $0 == id }
    outcomes.tell(told, of: id)
  }
}
