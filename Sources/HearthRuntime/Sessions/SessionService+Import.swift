package import HearthCore

/// How to carry out an import or a sign-in.
package struct GrantSteps: Sendable {
  /// Starts a sign-in that waits for the user.
  var begin: (@Sendable (CallID) async throws(SignInFailure) -> SignInSteps)?
  /// Shows the user how to continue.
  var show: (@Sendable (SignInSteps, SignInProgress) -> Void)?
  /// Requests the grant, with the browser's code if there is one. Called after disk space was reserved for the grant.
  /// Returns `nil` to use the imported grant unchanged.
  let ask: @Sendable (_ code: Secret?) async throws(SignInFailure) -> GrantAnswer?
}

/// Requests and revokes grants outside of refreshes, for imports, sign-ins and sign-outs.
extension SessionService {
  /// Imports a grant. Unless `isTried` is set, refreshes the grant first, and throws if the refresh fails. The previous
  /// session then continues.
  package func adopt(_ credential: Credential, isTried: Bool) async throws {
    var timed = credential
    // If the caller did not give a lifetime, the expiry comes from the token. The provider's clock may differ from this
    // clock, so tell the machine where the expiry comes from.
    let isCounted = isTried && credential.grant.expiresAt != nil
    if !isCounted { timed.grant.expiresAt = expiry(of: credential.grant) }
    let steps = GrantSteps { [endpoint] _ async throws(SignInFailure) in
      if isTried { return nil }
      return .granted(try await Result(catching: endpoint.refresh, credential).mapError(SignInFailure.refresh).get())
    }
    try await ask(.adopt(timed, isCounted: isCounted), steps).result.get()
    await storeIsQuiet()
  }

  /// Returns an expiry for a grant that was issued without one, from the token or the configured default lifetime. If
  /// there is neither, assumes a lifetime if the grant can be refreshed. Otherwise returns `nil`, because a wrong guess
  /// would end the session.
  func expiry(of grant: Grant) -> Timestamp? {
    endpoint.expiry(of: grant.bearer(machine.settings.bearer), at: grant.issuedAt)
      ?? (grant.refreshToken == nil ? nil : grant.issuedAt + Grant.assumedLifetime)
  }

  /// Returns whether `leftover`, an unused grant, may belong to the user who is signed in or signing in.
  package func mayShareUser(with leftover: Credential, of owner: AccountName) -> Bool {
    let now = catchUp()
    return machine.mayShareUser(with: leftover, of: owner, at: now)
  }

  /// Returns the time on the provider's clock, or `nil` if the provider does not report it within five seconds.
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
