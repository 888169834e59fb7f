import HearthCore
import Logging

/// Carries out the machine's actions, and passes each result back as an input.
extension SessionService {
  func perform(_ action: SessionAction) {
    let (store, endpoint) = (store, endpoint)
    switch action {
    case .recall:
      inStoreOrder {
        switch await Result(catching: store.remembered) {
        case .success(let remembered): .started(remembered)
        case .failure(let failure): .credentialRead(.unreadable(failure))
        }
      }
    case .read:
      inStoreOrder { .credentialRead(await self.timed(await store.read())) }
    case .write(let credential, let generation):
      let version = machine.storedVersion
      inStoreOrder {
        switch await Result(catching: store.write, credential, version) {
        case .success(.given): .credentialWritten(generation: generation, .success(()))
        case .success(.superseded): .credentialSuperseded(generation: generation)
        case .failure(let failure): .credentialWritten(generation: generation, .failure(failure))
        }
      }
    case .writeEnd(let record):
      inStoreOrder { .endWritten(await Result(catching: store.writeEnd, record)) }
    case .remove(let record, let fingerprint, let revokes):
      inStoreOrder {
        .removed(
          await Result { () async throws(EndNotWritten) in
            try await store.remove(record, fingerprint: fingerprint, revokes: revokes)
          })
      }
    case .setAside(let why):
      inStoreOrder { .credentialSetAside(await Result(catching: store.setAside), why: why) }
    case .rememberLockedByUser(let isLocked):
      let (account, logger) = (account, logger)
      inStoreOrder {
        let result = await Result(catching: store.remember(lockedByUser:), isLocked)
        if case .failure(let failure) = result {
          logger.warning(
            "Hearth could not save whether \(account) is locked and will retry: \(failure.detail)",
            metadata: ["HEARTH_ACCOUNT": "\(account)"])
        }
        return .lockRemembered(result)
      }
    case .remember(let note):
      let (account, logger) = (account, logger)
      storeWork.add {
        guard case .failure(let failure) = await Result(catching: store.remember(_:), note) else { return }
        let what =
          switch note {
          case .barred: "a refresh of \(account) returned another user's token"
          case .rejected(let token): "an API \(token == nil ? "accepts" : "rejected") \(account)'s token"
          }
        logger.warning(
          "Hearth could not save that \(what), and will forget it after a restart: \(failure.detail)",
          metadata: ["HEARTH_ACCOUNT": "\(account)"])
      }
    case .lockStore:
      // If the session was unlocked in the meantime, the store needs its key.
      storeWork.add { if await !self.machine.locks.isEmpty { await store.lock() } }
    case .refresh(let credential, let generation):
      send(generation) { await Result(catching: endpoint.refresh, credential) }
    case .requestGrant(let generation):
      send(generation) { await Result(catching: endpoint.requestGrant) }
    case .askTime(let generation):
      work.add {
        switch await Result(catching: endpoint.time) {
        case .success(let time): await self.receive(.refreshEnded(generation: generation, .told(time)))
        case .failure(let failure): await self.receive(.refreshEnded(generation: generation, .failed(failure)))
        }
      }
    case .identify(let credential, let generation, let provider):
      work.add {
        let (origin, origins) = (await endpoint.origin(), await endpoint.origins())
        let subject = credential.subject == nil ? await endpoint.identify(credential) : nil
        await self.receive(
          .identified(generation: generation, provider: provider, subject, origin: origin, origins: origins))
      }
    case .makeRoom(let id):
      inStoreOrder { .roomMade(id, await Result(catching: store.prepare, .any).map { _ in }) }
    case .obtain(let id, let code):
      guard let ask = steps[id]?.ask else { return }
      work.add { await self.obtained(id, await Result(catching: ask, code)) }
    case .beginSignIn(let id):
      guard let begin = steps[id]?.begin else { return }
      work.add { await self.receive(.signInBegan(id, await Result(catching: begin, id))) }
    case .showSignIn(let id, let shown, let progress): steps[id]?.show?(shown, progress)
    case .complete(let id, let credential):
      work.add {
        var known = credential
        // Bind a grant without an origin to the origin that a refresh would send it to at the moment.
        if known.origin == nil { (known.origin, known.origins) = (await endpoint.origin(), await endpoint.origins()) }
        if known.subject == nil { known.subject = await endpoint.identify(known) }
        await self.receive(.completed(id, known))
      }
    case .revoke(let credential):
      work.add { [leave] in await leave(credential) }
    case .revokeAtOnce(let credential):
      work.add { [leave] in
        if case .unavailable = await self.revoke(credential) { await leave(credential) }
      }
    case .replaceStore: replaceStore()
    case .answer, .publish: break
    }
  }

  /// Adds an expiry to a grant that another program wrote without one. See `expiry(of:)`.
  private func timed(_ reading: CredentialReading) -> CredentialReading {
    guard case .found(var credential, let standing) = reading else { return reading }
    credential.grant.expiresAt = credential.grant.expiresAt ?? expiry(of: credential.grant)
    return .found(credential, standing)
  }

  /// Checks in store order that the stored version is current, and reserves disk space for the response. Then sends the
  /// request, concurrently with other work.
  private func send(
    _ generation: Int, _ request: @escaping @Sendable () async -> Result<TokenResponse, RefreshFailure>
  ) {
    logger.debug(
      "Refreshing \(account), because \(machine.refreshCause).", metadata: ["HEARTH_ACCOUNT": "\(account)"])
    let version = machine.storedVersion
    storeWork.add { [store, work] in
      let turn = await Result(catching: store.prepare, version)
      if case .failure(let failure) = turn {
        return await self.receive(.refreshEnded(generation: generation, .notAsked(failure)))
      }
      // The session may have read another grant in the meantime, so this one must not be refreshed.
      guard turn == .success(.given), await self.machine.epoch.generation == generation else {
        return await self.receive(.refreshEnded(generation: generation, .superseded))
      }
      work.add {
        switch await request() {
        case .success(let response): await self.granted(response, generation: generation)
        case .failure(let failure): await self.receive(.refreshEnded(generation: generation, .failed(failure)))
        }
      }
    }
  }

  private func obtained(_ id: CallID, _ result: Result<GrantAnswer?, SignInFailure>) {
    if case .success(.granted(let response)) = result, let measured = response.skew { observe(measured) }
    receive(.obtained(id, result))
  }

  private func granted(_ response: TokenResponse, generation: Int) {
    if let measured = response.skew { observe(measured) }
    receive(.refreshEnded(generation: generation, .granted(response)))
  }

  private func inStoreOrder(_ work: @escaping @Sendable () async -> SessionInput) {
    storeWork.add { await self.receive(await work()) }
  }
}
