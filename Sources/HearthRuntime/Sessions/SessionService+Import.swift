package import HearthCore

/// How to obtain the grant for an import or a sign-in.
struct GrantRequest: Sendable {
  /// Requests the grant, after disk space was reserved for it. Returns `nil` to use the imported grant unchanged.
  let ask: @Sendable () async throws(SessionRejection) -> TokenResponse?
  /// Returns whether the grant is still wanted. Called once the grant has arrived and its user is known.
  var isWanted: @Sendable () async -> Bool = { true }
}

/// Requests and revokes grants outside of refreshes, for imports, sign-ins and sign-outs.
extension SessionService {
  /// Imports a grant. Unless `isTried` is set, refreshes the grant first, and throws if the refresh fails. The previous
  /// session then continues.
  package func adopt(_ credential: Credential, isTried: Bool) async throws(SessionRejection) {
    var timed = credential
    // If the caller did not give a lifetime, the expiry comes from the token. The provider's clock may differ from this
    // clock, so tell the machine where the expiry comes from.
    let isCounted = isTried && credential.grant.expiresAt != nil
    if !isCounted { timed.grant.expiresAt = expiry(of: credential.grant) }
    let request = GrantRequest { [endpoint] () async throws(SessionRejection) in
      if isTried { return nil }
      do throws(RefreshFailure) { return try await endpoint.refresh(credential) } catch { throw .provider(error) }
    }
    try await adopt(.imported(timed, isCounted: isCounted), by: request)
  }

  /// Throws if a grant could not be stored at the moment, so that users do not sign in for nothing. Returns the
  /// session's current epoch, to be passed on as the epoch in which the sign-in began.
  package func prepareToSignIn() async throws(SessionRejection) -> SessionEpoch {
    if isStopping { throw .stopping }
    let epoch = machine.epoch
    let room = await inStoreOrder { [store] in
      await Result { () async throws(AccessFailure) in try await store.prepare(over: .any) }
    }
    if case .failure(let failure) = room { throw .storage(failure) }
    return epoch
  }

  /// Returns the lock that applies to a sign-in that began in `epoch`, or `nil` if there is none.
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

  /// Returns an expiry for a grant that was issued without one. If the token does not contain an expiry, assumes a
  /// lifetime if the grant can be refreshed. Otherwise returns `nil`, because a wrong guess would end the session.
  func expiry(of grant: Grant) -> Timestamp? {
    endpoint.expiry(of: grant.bearer(machine.settings.bearer), at: grant.issuedAt)
      ?? (grant.refreshToken == nil ? nil : grant.issuedAt + Grant.assumedLifetime)
  }

  /// Returns whether `leftover`, an unused grant, may belong to the user who is signed in or signing in.
  package func mayShareUser(with leftover: Credential, of owner: AccountName) -> Bool {
    let now = catchUp()
    return machine.mayShareUser(with: leftover, of: owner, at: now)
  }

  /// Returns the time on the provider's clock, or `nil` if the provider does not respond within five seconds.
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
