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

  /// Whether a grant could be kept now, so that nobody signs in for nothing.
  package func prepareToSignIn() async throws(AdoptionFailure) {
    if isStopping { throw .stopping }
    try await prepareStore()
  }

  /// Signs in with what `grant` brings: asked once there is room for it, and heard to its end. The session before it stays
  /// where that fails. `replacing`: also while locked. `isWanted`: asked before the provider is, and when it has answered;
  /// what it has granted for nothing is revoked.
  package func signIn(
    replacing: Bool, isWanted: @escaping @Sendable () async -> Bool,
    _ grant: @escaping @Sendable () async throws(SignInFailure) -> TokenResponse
  ) async throws(AdoptionFailure) {
    if isStopping { throw .stopping }
    try requireUnlocked(orReplacing: replacing)
    let since = machine.epoch
    try await untilSuperseded { (id) async throws(AdoptionFailure) in
      try await self.prepareStore()
      // Since the epoch was noted the session sees a sign-out by itself; what came before, only this tells.
      guard await isWanted() else { throw .superseded }
      let result = await Result { () async throws(SignInFailure) in try await grant() }
      switch result {
      case .failure(let failure): throw .signIn(failure)
      case .success(let response):
        do throws(AdoptionFailure) {
          guard await isWanted() else { throw .superseded }
          try await self.requireUnlocked(orReplacing: replacing)
        } catch {
          _ = await self.revoke(self.credential(response))
          throw error
        }
        try await self.adopt(response, since: since, as: id)
      }
    }
    await storeIsQuiet()
  }

  private func requireUnlocked(orReplacing isReplacing: Bool) throws(AdoptionFailure) {
    let state = machine.state(at: catchUp())
    if case .locked = state, !isReplacing { throw .locked(state) }
  }

  private func credential(_ response: TokenResponse) -> Credential {
    Credential(
      grant: Grant(response, after: nil, bearer: machine.settings.bearer, receivedAt: catchUp()),
      subject: response.subject, origin: response.origin, origins: response.origins)
  }

  private func adopt(_ response: TokenResponse, since: SessionEpoch, as id: Int) async throws(AdoptionFailure) {
    if let measured = response.skew { observe(measured) }
    let timed = clock.moment().stepped
    var fresh = credential(response)
    if fresh.grant.expiresAt == nil { fresh.grant.expiresAt = expiry(of: fresh.grant) }
    try await complete(fresh, isFresh: true, timed: timed, since: since, as: id)
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
      if fresh.grant.expiresAt == nil { fresh.grant.expiresAt = expiry(of: fresh.grant) }
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
    imports.decide(id)
    switch await call(.adopt(fresh, isFresh: isFresh, since: since)) {
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
      if let error = response.error { throw .provider(.misconfigured(message: error)) }
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
  private func expiry(of grant: Grant) -> Timestamp? {
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

  /// Revokes at the provider, within five seconds; true where the provider confirmed it.
  package func revoke(_ credential: Credential) async -> Bool {
    await shielded { [endpoint, clock] in
      let deadline = clock.now() + .seconds(5)
      return await withTaskGroup(of: Bool.self) { group in
        group.addTask { await endpoint.revoke(credential) }
        group.addTask {
          await clock.sleep(until: deadline)
          return false
        }
        let isRevoked = await group.next() ?? false
        group.cancelAll()
        return isRevoked
      }
    }
  }
}
