package import HearthCore

/// Carries out the sign-ins of all accounts. Each account's session decides about its sign-ins, and uses the previous
/// grant until the new one is on disk.
package actor SignInService {
  package typealias Outcome = Result<SessionStatus, Failure>

  private let redirects: any RedirectListener
  /// Waits for revocations in progress that could also revoke the new grant.
  private let revocationsEnd: @Sendable (SessionService) async -> Void
  private var records = SignInRecords()
  private var isStopping = false
  private let work = WorkInbox()

  package init(
    redirects: any RedirectListener, revocationsEnd: @escaping @Sendable (SessionService) async -> Void = { _ in }
  ) {
    (self.redirects, self.revocationsEnd) = (redirects, revocationsEnd)
  }

  package func run() async { await work.run() }

  /// Ends every sign-in that waits for the user. `run` ends after the grants that are being requested have arrived.
  package func stop() async {
    isStopping = true
    for record in records.inProgress { await interrupt(record, .shuttingDown) }
    work.finish()
  }

  private func interrupt(_ record: SignInRecord, _ why: Failure) async {
    if let call = record.call { await record.service.receive(.signInInterrupted(call, why)) }
  }

  // MARK: - Calls from clients

  /// Starts a sign-in. A sign-in that does not wait for the user is complete when this method returns. `user` is set
  /// only for a sign-in with a password.
  package func begin(
    _ flow: SignInFlow, as user: (name: String, password: Secret)? = nil, of entry: SessionDirectory.Entry,
    replacing: Bool
  ) async throws(Failure) -> SignInHandle {
    if isStopping { throw .shuttingDown }
    let id = records.add(entry.service)
    guard flow.waitsForPerson else {
      let expiresAt = entry.service.clock.now() + SignInProgress.timeout
      _ = try await carryOut(flow, as: user, id, entry, replacing: replacing).get()
      return SignInHandle(
        id: id, account: entry.service.account, progress: SignInProgress(flow: flow, expiresAt: expiresAt), steps: nil)
    }
    let (handles, begun) = AsyncStream<SignInHandle>.makeStream()
    work.add {
      _ = await self.carryOut(flow, as: user, id, entry, replacing: replacing) { begun.yield($0) }
      begun.finish()
    }
    for await handle in handles { return handle }
    if case .failure(let why)? = await outcome(of: id) { throw why }
    throw .signInCancelled(entry.service.account)
  }

  /// Waits for the outcome. Returns `nil` if the sign-in is unknown or the calling task is cancelled.
  package func outcome(of id: String) async -> Outcome? {
    guard let outcome = records.outcome(of: id) else { return nil }
    for await outcome in outcome { return outcome }
    return nil
  }

  package func account(of id: String) -> AccountName? { records[id]?.service.account }

  /// Cancels a sign-in unless its grant is already being written. A grant that is being requested is revoked when it
  /// arrives. Returns false if the sign-in is unknown.
  package func cancel(_ id: String) async -> Bool {
    guard let record = records[id] else { return false }
    await interrupt(record, .signInCancelled(record.service.account))
    return true
  }

  /// Handles the redirect address that the user copied from the browser. Returns `nil` if the sign-in is not waiting
  /// for an address, or if this is not its redirect address.
  package func redirected(_ id: String, to address: String) async -> RedirectReading? {
    guard let record = records[id], let call = record.call, case .browser(let signIn)? = record.steps,
      await record.service.machine.isWaiting(call), var reading = signIn.read(address: address)
    else { return nil }
    // There is no browser to redirect to the provider again.
    if case .scopeRefused(let failure, _) = reading { reading = .failed(failure) }
    work.add { [reading] in _ = await record.service.call(.redirected(call, reading)) }
    return reading
  }

  // MARK: - The session's actions

  /// Carries out a sign-in until the session reports its outcome. `show` receives what the user has to do.
  private func carryOut(
    _ flow: SignInFlow, as user: (name: String, password: Secret)?, _ id: String, _ entry: SessionDirectory.Entry,
    replacing: Bool,
    show: @escaping @Sendable (SignInHandle) -> Void = { _ in }
  ) async -> Outcome {
    let (service, endpoint) = (entry.service, entry.signIn)
    let (opened, open) = AsyncStream<any OpenRedirect>.makeStream()
    let steps = GrantSteps { call async throws(SignInFailure) in
      try await self.start(flow, id, call, endpoint, open)
    } show: { [account = service.account] steps, progress in
      show(SignInHandle(id: id, account: account, progress: progress, steps: steps))
    } ask: { [revocationsEnd] code async throws(SignInFailure) in
      await revocationsEnd(service)
      return try await self.ask(user, id, code, endpoint)
    }
    let endsEarlier =
      switch flow {
      // An earlier sign-in may listen on the same port.
      case .browser: endpoint.redirect.port != nil
      case .password: endpoint.takesPassword
      case .device, .clientCredentials: false
      }
    let result = await withTaskGroup(of: Void.self) { group in
      group.addTask { for await redirect in opened { await self.serve(redirect, id) } }
      let result = await service.ask(
        .signIn(flow, replacesLocked: replacing, endsEarlier: endsEarlier), steps
      ).result
      group.cancelAll()
      return result
    }
    // Close the listener first, because another sign-in may need its port once this one is over.
    await records[id]?.redirect?.close()
    let outcome: Outcome
    switch result {
    case .failure(let why): outcome = .failure(told(why, service.account))
    case .success:
      await service.storeIsQuiet()
      outcome = .success(await service.snapshot())
    }
    records.tell(outcome, of: id)
    return outcome
  }

  /// Returns `why`, or `reconfigured` if only the session is stopping, because its account was removed.
  private func told(_ why: Failure, _ account: AccountName) -> Failure {
    why.kind == .shuttingDown && !isStopping ? .reconfigured(account) : why
  }

  /// Asks the provider for the page to open or the code to show.
  private func start(
    _ flow: SignInFlow, _ id: String, _ call: CallID, _ endpoint: any SignInEndpoint,
    _ open: AsyncStream<any OpenRedirect>.Continuation
  ) async throws(SignInFailure) -> SignInSteps {
    records[id]?.call = call
    let steps: SignInSteps =
      flow == .browser
      ? .browser(try await beginBrowser(id, endpoint, open)) : .device(try await endpoint.beginDevice())
    records[id]?.steps = steps
    return steps
  }

  private func beginBrowser(
    _ id: String, _ endpoint: any SignInEndpoint, _ open: AsyncStream<any OpenRedirect>.Continuation
  ) async throws(SignInFailure) -> BrowserSignIn {
    let address = endpoint.redirect
    if address.port != nil { for earlier in records.earlier(than: id) { _ = await outcome(of: earlier) } }
    let redirect = try await redirects.listen(at: address)
    records[id]?.redirect = redirect
    let signIn = try await endpoint.beginBrowser(
      redirectURI: "http://\(address.host):\(redirect.port)\(address.path)")
    open.yield(redirect)
    return signIn
  }

  private func ask(
    _ user: (name: String, password: Secret)?, _ id: String, _ code: Secret?, _ endpoint: any SignInEndpoint
  ) async throws(SignInFailure) -> GrantAnswer {
    if let user { return .granted(try await endpoint.signIn(username: user.name, password: user.password)) }
    switch (records[id]?.steps, code) {
    case (.browser(let signIn)?, let code?): return .granted(try await endpoint.redeem(code: code, of: signIn))
    case (.device(let device)?, _): return try await endpoint.poll(device)
    case (.browser?, nil), (nil, _): throw .failed(message: "The sign-in is over.")
    }
  }

  // MARK: - The browser

  /// Answers the browser's requests until the sign-in is over.
  private func serve(_ redirect: any OpenRedirect, _ id: String) async {
    await withDiscardingTaskGroup { pages in
      for await received in redirect.requests {
        pages.addTask { received.respond(await self.page(for: received.request, id)) }
      }
    }
  }

  private func page(for request: RedirectRequest, _ id: String) async -> RedirectPage {
    guard let record = records[id], let call = record.call, case .browser(let signIn)? = record.steps else {
      return SignInPage.over
    }
    let (reading, account) = (signIn.read(request), record.service.account)
    switch (await record.service.call(.redirected(call, reading)), reading) {
    case (.failure(let why), _) where why.kind == .unknownSignIn: return SignInPage.over
    case (.failure(let why), _): return SignInPage.failed(told(why, account).message, account)
    case (.success, .foreign): return SignInPage.foreign
    case (.success, .unclaimedError(let message)): return SignInPage.unclaimed(message)
    case (.success, .untrusted(let why)): return SignInPage.untrusted(why, account)
    case (.success, .scopeRefused(_, let fallbackURL)): return SignInPage.elsewhere(fallbackURL)
    case (.success, .failed(let failure)): return SignInPage.failed(failure.message, account)
    case (.success, .code): return SignInPage.signedIn(account)
    }
  }
}
