package import HearthCore

/// Grants that come and go beside the machine's refreshes: those that a person imports, and those that are revoked.
extension SessionService {
  /// Uses the grant that a person imports. A refresh token alone is tried at once, so that the caller gets the result;
  /// the session before it stays where that fails.
  package func adopt(_ credential: Credential, isTried: Bool) async throws(AdoptionFailure) {
    if isStopping { throw .stopping }
    let since = machine.epoch
    try await untilSuperseded { (id) async throws(AdoptionFailure) in
      try await self.importGrant(credential, isTried: isTried, since: since, as: id)
    }
    await storeIsQuiet()
  }

  /// Whether a grant could be kept now, so that nobody signs in for nothing. Returns the epoch in which the sign-in begins.
  package func prepareToSignIn() async throws(AdoptionFailure) -> SessionEpoch {
    if isStopping { throw .stopping }
    let epoch = machine.epoch
    try await prepareStore()
    return epoch
  }

  /// The lock that a sign-in begun in `epoch` has to obey; nil where there is none.
  package func lock(since epoch: SessionEpoch) -> SessionState? { machine.lock(since: epoch, at: catchUp()) }

  /// Signs in with what `grant` brings: asked once there is room for it, and heard to its end. The session before it stays
  /// where that fails. `isWanted`: asked before the provider is, and when it has answered; what it has granted for nothing
  /// is revoked.
  package func signIn(
    _ beginning: SignInBeginning, isWanted: @escaping @Sendable () async -> Bool,
    _ grant: @escaping @Sendable () async throws(SignInFailure) -> TokenResponse
  ) async throws(AdoptionFailure) {
    if isStopping { throw .stopping }
    if let failure = whyLocked(since: beginning) { throw failure }
    let since = machine.epoch.since(locksOf: beginning.epoch)
    try await untilSuperseded { (id) async throws(AdoptionFailure) in
      try await self.prepareStore()
      // Since the epoch was noted the session sees a sign-out by itself; what came before, only this tells.
      guard await isWanted() else { throw .superseded }
      let response = try await self.ask(grant)
      if let failure = await self.whyNotKept(beginning, isWanted) {
        await self.revoke(self.credential(response))
        throw failure
      }
      try await self.adopt(response, since: since, as: id)
    }
    await storeIsQuiet()
  }

  /// Asks for a grant; one that must not be used is revoked.
  private func ask(
    _ grant: @Sendable () async throws(SignInFailure) -> TokenResponse
  ) async throws(AdoptionFailure) -> TokenResponse {
    do throws(SignInFailure) {
      return try await grant()
    } catch {
      guard case .unusable(let response, let message) = error else { throw .signIn(error) }
      await revoke(credential(response))
      throw .signIn(.failed(message: message))
    }
  }

  private func whyNotKept(
    _ beginning: SignInBeginning, _ isWanted: @Sendable () async -> Bool
  ) async -> AdoptionFailure? {
    await isWanted() ? whyLocked(since: beginning) : .superseded
  }

  private func whyLocked(since beginning: SignInBeginning) -> AdoptionFailure? {
    beginning.replacesLocked ? nil : lock(since: beginning.epoch).map { .locked($0) }
  }

  private func credential(_ response: TokenResponse) -> Credential {
    Credential(
      grant: Grant(response, after: nil, bearer: machine.settings.bearer, receivedAt: catchUp()),
      subject: response.subject, origin: response.origin, origins: response.origins)
  }

  private func adopt(_ response: TokenResponse, since: SessionEpoch, as id: Int) async throws(AdoptionFailure) {
    if let measured = response.skew { observe(measured) }
    let timed = clock.moment().stepped
    try await complete(credential(response), isFresh: true, timed: timed, since: since, as: id)
  }

  /// Makes room for a grant before it is asked for.
  private func prepareStore() async throws(AdoptionFailure) {
    let room = await inStoreOrder { [store] in
      await Result { () async throws(AccessFailure) in try await store.prepare(over: .any) }
    }
    if case .failure(let accessFailure) = room { throw .storage(accessFailure) }
  }

  private func importGrant(
    _ credential: Credential, isTried: Bool, since: SessionEpoch, as id: Int
  ) async throws(AdoptionFailure) {
    var timed = clock.moment().stepped
    try await prepareStore()
    var fresh = credential
    if isTried {
      fresh.origin = await origin()
      fresh.origins = await shielded { [endpoint] in await endpoint.origins() }
    } else {
      fresh = try await tried(credential, since: since)
      timed = clock.moment().stepped
    }
    try await complete(fresh, isFresh: !isTried, timed: timed, since: since, as: id)
  }

  /// Names the user, and hands the grant to the session. `timed`: the steps of the clock by which the grant was timed.
  private func complete(
    _ credential: Credential, isFresh: Bool, timed: Duration, since: SessionEpoch, as id: Int
  ) async throws(AdoptionFailure) {
    var fresh = credential
    if fresh.subject == nil { fresh.subject = await identified(fresh) }
    // The clock may have been set since the grant was timed by it.
    fresh.grant.move(by: clock.moment().stepped - timed)
    // What a token names is no time of this clock.
    let isCounted = fresh.grant.expiresAt != nil
    if !isCounted { fresh.grant.expiresAt = expiry(of: fresh.grant) }
    imports.decide(id)
    switch await call(.adopt(fresh, isFresh: isFresh, isCounted: isCounted, since: since)) {
    case .rejected(.superseded): throw .superseded
    case .rejected: throw .stopping
    case .done, .token, .signedOut: break
    }
  }

  private func tried(_ credential: Credential, since: SessionEpoch) async throws(AdoptionFailure) -> Credential {
    func ask() async -> Result<TokenResponse, RefreshFailure> {
      await shielded { [endpoint] in
        await Result { () async throws(RefreshFailure) in try await endpoint.refresh(credential) }
      }
    }
    var result = await ask()
    // The provider may have rotated the token: at once with the same one, while its grace window is open.
    if case .failure(.unanswered) = result, !isStopped, machine.epoch.generation == since.generation {
      result = await ask()
    }
    switch result {
    case .failure(let failure): throw isStopped ? .stopping : .provider(failure)
    case .success(let response):
      if let error = response.error { throw .provider(error) }
      if let measured = response.skew { observe(measured) }
      var old = credential.grant
      // An ID token that was imported may stay, and lasts as long as it says.
      let bearer = machine.settings.bearer
      if bearer == .idToken, old.idToken != nil { old.expiresAt = expiry(of: old) }
      let grant = Grant(response, after: old, bearer: bearer, receivedAt: catchUp())
      return Credential(
        grant: grant, subject: response.subject, origin: response.origin, origins: response.origins)
    }
  }

  /// When a token expires that came without an expiry. Where nothing can renew it that is left open: a guess would end the
  /// session.
  func expiry(of grant: Grant) -> Timestamp? {
    endpoint.expiry(of: grant.bearer(machine.settings.bearer), at: grant.issuedAt)
      ?? (grant.refreshToken == nil ? nil : grant.issuedAt + Grant.assumedLifetime)
  }

  /// What is not sent at once is bound to where it would be sent now.
  private func origin() async -> Origin? {
    await shielded { [endpoint] in await endpoint.origin() } ?? machine.settings.binding?.origin
  }

  private func identified(_ credential: Credential) async -> Subject? {
    await shielded { [endpoint] in await endpoint.identify(credential) }
  }

  /// Asks the provider to revoke, and waits five seconds for that.
  @discardableResult
  package func revoke(_ credential: Credential) async -> RevocationOutcome {
    await shielded { [endpoint, clock] in
      await clock.within(.seconds(5)) { await endpoint.revoke(credential) } ?? .unavailable(retryAfter: nil)
    }
  }
}
