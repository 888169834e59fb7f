package import HearthCore

/// What a person asks for that takes more than one event: opening a sealed credential, bringing a grant, revoking one.
extension SessionService {
  /// Takes the lock away, opens a sealed credential where a passphrase is given, and waits until it has been read.
  package func unlock(_ lock: Lock, passphrase: Secret?) async throws(UnlockFailure) {
    if let passphrase { try await openStore(with: passphrase) }
    take(.unlocked(lock))
    // Not before: what is read while locked is wiped, and the key with it.
    if passphrase != nil { take(.credentialHinted) }
    _ = await call(.awaitReading)
    await storeIsQuiet()
  }

  /// After a wrong passphrase the store takes none for a while: a short one is waited out.
  private func openStore(with passphrase: Secret) async throws(UnlockFailure) {
    try await passphraseTurns.withLock { await attempt(passphrase) }.get()
  }

  private func attempt(_ passphrase: Secret) async -> Result<Void, UnlockFailure> {
    let store = store
    let deadline = clock.now() + Self.unlockPatience
    while true {
      let result = await inStoreOrder {
        await Result { () async throws(UnlockFailure) in try await store.unlock(passphrase: passphrase) }
      }
      let next = clock.now()
      guard case .failure(.tooSoon(let wait)) = result, next + wait <= deadline, !isStopped, !Task.isCancelled else {
        return result
      }
      await shielded { [clock] in await clock.sleep(until: next + wait) }
    }
  }

  /// Whether nothing can be sealed until `unlock` is given the passphrase.
  package func needsPassphrase() async -> Bool {
    let store = store
    return await inStoreOrder { await store.needsPassphrase() }
  }

  /// Takes over a grant that a person brought. A refresh token alone is used at once, so that the answer can tell how
  /// that went; the session before it stays where it fails.
  package func adopt(_ credential: Credential, isTried: Bool) async throws(AdoptionFailure) {
    if isStopping { throw .stopping }
    try await trial { () async throws(AdoptionFailure) in try await take(credential, isTried: isTried) }
    await storeIsQuiet()
  }

  private func take(_ credential: Credential, isTried: Bool) async throws(AdoptionFailure) {
    let store = store
    let since = epoch
    var timed = clock.moment().stepped
    let room = await inStoreOrder {
      await Result { () async throws(AccessFailure) in try await store.prepare() }
    }
    if case .failure(let accessFailure) = room { throw .storage(accessFailure) }
    var fresh = credential
    if isTried {
      fresh.origin = await origin()
      if fresh.grant.expiresAt == nil { fresh.grant.expiresAt = expiry(of: fresh.grant) }
    } else {
      fresh = try await tried(credential)
      timed = clock.moment().stepped
    }
    if fresh.subject == nil { fresh.subject = await identified(fresh) }
    // The clock may have been set since the grant was timed by it.
    fresh.grant.move(by: clock.moment().stepped - timed)
    switch await call(.adopt(fresh, isFresh: !isTried, since: since)) {
    case .rejected(.superseded): throw .superseded
    case .rejected: throw .stopping
    case .done, .token, .signedOut: break
    }
  }

  private func tried(_ credential: Credential) async throws(AdoptionFailure) -> Credential {
    let endpoint = endpoint
    func ask() async -> Result<TokenResponse, RefreshFailure> {
      await shielded { await Result { () async throws(RefreshFailure) in try await endpoint.refresh(credential) } }
    }
    var answer = await ask()
    // The provider may have rotated the token: at once with the same one, while its grace window is open.
    if case .failure(.unanswered) = answer, !isStopped { answer = await ask() }
    switch answer {
    case .failure(let failure): throw isStopped ? .stopping : .provider(failure)
    case .success(let response):
      if let flaw = response.flaw { throw .provider(.misconfigured(message: flaw)) }
      if let measured = response.skew { observe(measured) }
      var old = credential.grant
      // An ID token that was brought may stay, and lasts as long as it says.
      if bearer == .idToken, old.idToken != nil { old.expiresAt = expiry(of: old) }
      let grant = Grant(response, after: old, bearer: bearer, receivedAt: catchUp())
      return Credential(grant: grant, subject: response.subject, origin: response.origin)
    }
  }

  /// Nobody said when it runs out. Where nothing can renew it that is left open: a guess would end the session.
  private func expiry(of grant: Grant) -> Timestamp? {
    endpoint.expiry(of: grant.bearer(bearer), at: grant.issuedAt)
      ?? (grant.refreshToken == nil ? nil : grant.issuedAt + Grant.assumedLifetime)
  }

  /// What is not sent at once is bound to where it would be sent now.
  private func origin() async -> Origin? {
    let endpoint = endpoint
    return await shielded { await endpoint.origin() } ?? binding?.origin
  }

  private func identified(_ credential: Credential) async -> Subject? {
    let endpoint = endpoint
    return await shielded { await endpoint.identify(credential) }
  }

  /// Revokes at the provider, within five seconds; true where it said it took it.
  package func revoke(_ credential: Credential) async -> Bool {
    let (endpoint, clock) = (endpoint, clock)
    return await shielded {
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
