package import HearthCore

/// Why an imported grant is not used. The session before it stays.
package enum AdoptionFailure: Error, Hashable, Sendable {
  case provider(RefreshFailure)
  case storage(AccessFailure)
  case signIn(SignInFailure)
  /// It was locked meanwhile, and its credential is not to be replaced.
  case locked(SessionState)
  case stopping
  /// Another sign-in, a sign-out or another program's grant came in between.
  case superseded
}

/// Grants that come and go beside the machine's refreshes: those that a person imports, and those that are revoked.
extension SessionService {
  /// Uses the grant that a person imports. A refresh token alone is tried at once, so that the caller gets the result;
  /// the session before it stays if that fails.
  package func adopt(_ credential: Credential, isTried: Bool) async throws(AdoptionFailure) {
    if isStopping { throw .stopping }
    let since = machine.epoch
    try await untilSuperseded { (id) async throws(AdoptionFailure) in
      try await self.importGrant(credential, isTried: isTried, since: since, as: id)
    }
    await storeIsQuiet()
  }

  /// Throws if no grant could be kept now, so that nobody signs in for nothing. Returns the epoch in which the sign-in
  /// begins.
  package func prepareToSignIn() async throws(AdoptionFailure) -> SessionEpoch {
    if isStopping { throw .stopping }
    let epoch = machine.epoch
    try await prepareStore()
    return epoch
  }

  /// The lock, if any, that a sign-in begun in `epoch` has to obey.
  package func lock(since epoch: SessionEpoch) -> SessionState? {
    let now = catchUp()
    return machine.lock(since: epoch, at: now)
  }

  /// Signs in with what `grant` brings, which is asked once there is room for it, and heard to its end. If that fails, the
  /// session before it stays. `isWanted` is asked before the provider is, and again when the grant has come and its user is
  /// known. What was granted for nothing is left, to be revoked.
  package func signIn(
    _ beginning: SignInBeginning, isWanted: @escaping @Sendable (_ hasCome: Bool) async -> Bool,
    _ grant: @escaping @Sendable () async throws(SignInFailure) -> TokenResponse
  ) async throws(AdoptionFailure) {
    if isStopping { throw .stopping }
    if let failure = whyLocked(since: beginning) { throw failure }
    let since = machine.epoch.since(locksOf: beginning.epoch)
    try await untilSuperseded { (id) async throws(AdoptionFailure) in
      try await self.prepareStore()
      // Since the epoch was noted the session sees a sign-out by itself; what came before, only this tells.
      guard await isWanted(false) else { throw .superseded }
      let response = try await self.ask(grant)
      try await self.adopt(response, since: since, as: id) { await self.whyNotKept(beginning, isWanted) }
    }
    await storeIsQuiet()
  }

  /// Asks for a grant; one that must not be used is left, to be revoked.
  private func ask(
    _ grant: @Sendable () async throws(SignInFailure) -> TokenResponse
  ) async throws(AdoptionFailure) -> TokenResponse {
    do throws(SignInFailure) {
      return try await grant()
    } catch {
      guard case .unusable(let response, let message) = error else { throw .signIn(error) }
      await leave(credential(response))
      throw .signIn(.failed(message: message))
    }
  }

  private func whyNotKept(
    _ beginning: SignInBeginning, _ isWanted: @Sendable (_ hasCome: Bool) async -> Bool
  ) async -> AdoptionFailure? {
    await isWanted(true) ? whyLocked(since: beginning) : .superseded
  }

  private func whyLocked(since beginning: SignInBeginning) -> AdoptionFailure? {
    beginning.replacesLocked ? nil : lock(since: beginning.epoch).map { .locked($0) }
  }

  private func credential(_ response: TokenResponse) -> Credential {
    Credential(
      grant: Grant(response, after: nil, bearer: machine.settings.bearer, receivedAt: catchUp()),
      subject: response.subject, origin: response.origin, origins: response.origins)
  }

  private func adopt(
    _ response: TokenResponse, since: SessionEpoch, as id: Int,
    unless whyNot: @Sendable () async -> AdoptionFailure?
  ) async throws(AdoptionFailure) {
    if let measured = response.skew { observe(measured) }
    let timed = clock.moment().stepped
    try await complete(credential(response), isFresh: true, timed: timed, since: since, as: id, unless: whyNot)
  }

  /// Makes room for a grant before it is asked for.
  private func prepareStore() async throws(AdoptionFailure) {
    let room = await inStoreOrder { [store] in
      await Result { () async throws(AccessFailure) in try await store.prepare(over: .any) }
    }
    if case .failure(let failure) = room { throw .storage(failure) }
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

  /// Names the user, and hands the grant to the session. `timed` is the steps of the clock by which the grant was timed.
  private func complete(
    _ credential: Credential, isFresh: Bool, timed: Duration, since: SessionEpoch, as id: Int,
    unless whyNot: @Sendable () async -> AdoptionFailure? = { nil }
  ) async throws(AdoptionFailure) {
    var fresh = credential
    if fresh.subject == nil { fresh.subject = await identified(fresh) }
    if let failure = await whyNot() {
      await leave(fresh)
      throw failure
    }
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

  /// Returns when a token expires that came without an expiry. If nothing can renew it, that is left open, since a guess
  /// would end the session.
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

  /// Returns true if `leftover`, which nobody uses, may be of the user who is signed in, or is signing in.
  package func mayShareUser(with leftover: Credential, of owner: AccountName) -> Bool {
    let now = catchUp()
    return machine.mayShareUser(with: leftover, of: owner, isSigningIn: !imports.isEmpty, at: now)
  }

  /// The time on the provider's clock, or nil if it does not tell it within five seconds.
  package func providerTime() async -> Timestamp? {
    await shielded { [endpoint, clock] in await clock.within(.seconds(5)) { try? await endpoint.time() } ?? nil }
  }

  /// Asks the provider to revoke, and waits five seconds for that.
  package func revoke(_ credential: Credential) async -> RevocationOutcome {
    await shielded { [endpoint, clock] in
      await clock.within(.seconds(5)) { await endpoint.revoke(credential) } ?? .unavailable(retryAfter: nil)
    }
  }
}
