package import HearthCore

/// How to request the grant of an import or a sign-in.
struct GrantRequest: Sendable {
  /// Requests the grant, after disk space was reserved for it. Returns `nil` to use the imported grant unchanged.
  let ask: @Sendable () async throws(SessionRejection) -> TokenResponse?
  /// Returns whether the grant is still wanted. Called once the grant has arrived and its user is known.
  var isWanted: @Sendable () async -> Bool = { true }
}

/// Requests and revokes grants outside of refreshes, for imports, sign-ins and sign-outs.
extension SessionService {
  /// Imports a grant. Unless it `isTried`, it is refreshed first, and the caller gets the result. If that fails, the
  /// previous session continues.
  package func adopt(_ credential: Credential, isTried: Bool) async throws(SessionRejection) {
    var timed = credential
    // An expiry from a token depends on another clock.
    let isCounted = isTried && credential.grant.expiresAt != nil
    if !isCounted { timed.grant.expiresAt = expiry(of: credential.grant) }
    let request = GrantRequest { [endpoint] () async throws(SessionRejection) in
      if isTried { return nil }
      do throws(RefreshFailure) { return try await endpoint.refresh(credential) } catch { throw .provider(error) }
    }
    try await adopt(.imported(timed, isCounted: isCounted), by: request)
  }

  /// Throws if a grant could not be stored now, so that nobody signs in for nothing. Returns the epoch in which the
  /// sign-in begins.
  package func prepareToSignIn() async throws(SessionRejection) -> SessionEpoch {
    if isStopping { throw .stopping }
    let epoch = machine.epoch
    let room = await inStoreOrder { [store] in
      await Result { () async throws(AccessFailure) in try await store.prepare(over: .any) }
    }
    if case .failure(let failure) = room { throw .storage(failure) }
    return epoch
  }

  /// Returns the lock that applies to a sign-in that began in `epoch`, or `nil`.
  package func lock(since epoch: SessionEpoch) -> SessionState? {
    let now = catchUp()
    return machine.lock(since: epoch, at: now)
  }

  /// Signs in with the grant that the request returns. If that fails, the previous session continues.
  func signIn(_ beginning: SignInBeginning, by request: GrantRequest) async throws(SessionRejection) {
    try await adopt(.signIn(since: beginning.epoch, replacesLocked: beginning.replacesLocked), by: request)
  }

  private func adopt(_ source: GrantSource, by request: GrantRequest) async throws(SessionRejection) {
    if case .rejected(let rejection) = await ask(.adopt(source), request).response { throw rejection }
    await storeIsQuiet()
  }

  /// Returns the expiry of a grant that came without one. `nil` if it is unknown and the grant cannot be renewed,
  /// because a guess would end the session.
  func expiry(of grant: Grant) -> Timestamp? {
    endpoint.expiry(of: grant.bearer(machine.settings.bearer), at: grant.issuedAt)
      ?? (grant.refreshToken == nil ? nil : grant.issuedAt + Grant.assumedLifetime)
  }

  /// Returns whether `leftover`, an unused grant, may belong to the user who is signed in or signing in.
  package func mayShareUser(with leftover: Credential, of owner: AccountName) -> Bool {
    let now = catchUp()
    return machine.mayShareUser(with: leftover, of: owner, at: now)
  }

  /// Returns the time on the provider's clock, or `nil` without a response within five seconds.
  package func providerTime() async -> Timestamp? {
    await shielded { [endpoint, clock] in await clock.within(.seconds(5)) { try? await endpoint.time() } ?? nil }
  }

  /// Asks the provider to revoke the grant, and waits up to five seconds for the response.
  package func revoke(_ credential: Credential) async -> RevocationOutcome {
    await shielded { [endpoint, clock] in
      await clock.within(.seconds(5)) { await endpoint.revoke(credential) } ?? .unavailable(retryAfter: nil)
    }
  }
}
