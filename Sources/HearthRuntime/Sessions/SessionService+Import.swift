package import HearthCore

/// How to ask for the grant of an import or a sign-in.
struct GrantRequest: Sendable {
  /// Asks the provider, once there is room for the grant. Returns `nil` if the imported grant is used as it is.
  let ask: @Sendable () async throws(SessionRejection) -> TokenResponse?
  /// Whether the grant is still wanted, once it has come and its user is known.
  var isWanted: @Sendable () async -> Bool = { true }
}

/// Grants that come and go beside the machine's refreshes: those of imports and sign-ins, and those that are revoked.
extension SessionService {
  /// Uses the grant that a person imports. Unless it `isTried`, it is refreshed at once, so that the caller gets the
  /// result. If that fails, the previous session stays.
  package func adopt(_ credential: Credential, isTried: Bool) async throws(SessionRejection) {
    var timed = credential
    // A time in a token is not this clock's.
    let isCounted = isTried && credential.grant.expiresAt != nil
    if !isCounted { timed.grant.expiresAt = expiry(of: credential.grant) }
    let request = GrantRequest { [endpoint] () async throws(SessionRejection) in
      if isTried { return nil }
      do throws(RefreshFailure) { return try await endpoint.refresh(credential) } catch { throw .provider(error) }
    }
    try await adopt(.imported(timed, isCounted: isCounted), by: request)
  }

  /// Throws if no grant could be kept now, so that nobody signs in for nothing. Returns the epoch in which the sign-in
  /// begins.
  package func prepareToSignIn() async throws(SessionRejection) -> SessionEpoch {
    if isStopping { throw .stopping }
    let epoch = machine.epoch
    let room = await inStoreOrder { [store] in
      await Result { () async throws(AccessFailure) in try await store.prepare(over: .any) }
    }
    if case .failure(let failure) = room { throw .storage(failure) }
    return epoch
  }

  /// The lock, if any, that a sign-in begun in `epoch` has to obey.
  package func lock(since epoch: SessionEpoch) -> SessionState? {
    let now = catchUp()
    return machine.lock(since: epoch, at: now)
  }

  /// Signs in with the grant that the request brings. If that fails, the previous session stays.
  func signIn(_ beginning: SignInBeginning, by request: GrantRequest) async throws(SessionRejection) {
    try await adopt(.signIn(since: beginning.epoch, replacesLocked: beginning.replacesLocked), by: request)
  }

  private func adopt(_ source: GrantSource, by request: GrantRequest) async throws(SessionRejection) {
    if case .rejected(let rejection) = await ask(.adopt(source), request).response { throw rejection }
    await storeIsQuiet()
  }

  /// Returns when a token expires that came without an expiry. If nothing can renew it, that is left open, since a guess
  /// would end the session.
  func expiry(of grant: Grant) -> Timestamp? {
    endpoint.expiry(of: grant.bearer(machine.settings.bearer), at: grant.issuedAt)
      ?? (grant.refreshToken == nil ? nil : grant.issuedAt + Grant.assumedLifetime)
  }

  /// Returns true if `leftover`, which nobody uses, may be of the user who is signed in, or is signing in.
  package func mayShareUser(with leftover: Credential, of owner: AccountName) -> Bool {
    let now = catchUp()
    return machine.mayShareUser(with: leftover, of: owner, at: now)
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
