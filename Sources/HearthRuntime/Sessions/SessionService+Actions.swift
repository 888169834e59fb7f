import HearthCore
import Logging

/// Carries out the machine's actions, and passes each result back as an input.
extension SessionService {
  func perform(_ action: SessionAction) {
    let (store, endpoint) = (store, endpoint)
    switch action {
    case .recall:
      inStoreOrder {
        do throws(AccessFailure) { return .started(try await store.remembered()) } catch {
          return .credentialRead(.unreadable(error))
        }
      }
    case .read:
      inStoreOrder { .credentialRead(await self.timed(await store.read())) }
    case .write(let credential, let generation):
      let version = machine.storedVersion
      inStoreOrder {
        do throws(AccessFailure) {
          switch try await store.write(credential, over: version) {
          case .given: return .credentialWritten(generation: generation, .success(()))
          case .superseded: return .credentialSuperseded(generation: generation)
          }
        } catch {
          return .credentialWritten(generation: generation, .failure(error))
        }
      }
    case .writeEnd(let record):
      inStoreOrder { .endWritten(await Result { () async throws(EndNotWritten) in try await store.writeEnd(record) }) }
    case .remove(let record, let fingerprint, let revokes):
      inStoreOrder {
        .removed(
          await Result { () async throws(EndNotWritten) in
            try await store.remove(record, fingerprint: fingerprint, revokes: revokes)
          })
      }
    case .setAside(let why):
      inStoreOrder {
        .credentialSetAside(await Result { () async throws(AccessFailure) in try await store.setAside() }, why: why)
      }
    case .rememberLockedByUser(let isLocked):
      let (account, logger) = (account, logger)
      inStoreOrder {
        do throws(AccessFailure) {
          try await store.remember(lockedByUser: isLocked)
          return .lockRemembered(.success(()))
        } catch {
          logger.warning(
            "Hearth could not save whether \(account) is locked and will retry: \(error.detail)",
            metadata: ["HEARTH_ACCOUNT": "\(account)"])
          return .lockRemembered(.failure(error))
        }
      }
    case .remember(let note):
      let (account, logger) = (account, logger)
      storeWork.add {
        do throws(AccessFailure) {
          try await store.remember(note)
        } catch {
          let what =
            switch note {
            case .barred: "a refresh of \(account) returned another user's token"
            case .rejected(let token): "an API \(token == nil ? "accepts" : "rejected") \(account)'s token"
            }
          logger.warning(
            "Hearth could not save that \(what), and will forget it after a restart: \(error.detail)",
            metadata: ["HEARTH_ACCOUNT": "\(account)"])
        }
      }
    case .lockStore:
      // If the session was unlocked in the meantime, the store needs its key.
      storeWork.add { if await !self.machine.locks.isEmpty { await store.lock() } }
    case .refresh(let credential, let generation):
      send(generation) { () async throws(RefreshFailure) in try await endpoint.refresh(credential) }
    case .requestGrant(let generation):
      send(generation) { () async throws(RefreshFailure) in try await endpoint.requestGrant() }
    case .askTime(let generation):
      work.add {
        do throws(RefreshFailure) {
          await self.receive(.refreshEnded(generation: generation, .told(try await endpoint.time())))
        } catch {
          await self.receive(.refreshEnded(generation: generation, .failed(error)))
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
      inStoreOrder {
        .roomMade(id, await Result { () async throws(AccessFailure) in _ = try await store.prepare(over: .any) })
      }
    case .obtain(let id, let code):
      guard let ask = steps[id]?.ask else { return }
      work.add { await self.obtained(id, await Result { () async throws(SignInFailure) in try await ask(code) }) }
    case .beginSignIn(let id):
      guard let begin = steps[id]?.begin else { return }
      work.add {
        await self.receive(.signInBegan(id, await Result { () async throws(SignInFailure) in try await begin(id) }))
      }
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
    _ generation: Int, _ request: @escaping @Sendable () async throws(RefreshFailure) -> TokenResponse
  ) {
    logger.debug(
      "Refreshing \(account), because \(machine.refreshCause).", metadata: ["HEARTH_ACCOUNT": "\(account)"])
    let version = machine.storedVersion
    storeWork.add { [store, work] in
      do throws(AccessFailure) {
        let turn = try await store.prepare(over: version)
        // The session may have read another grant in the meantime, so this one must not be refreshed.
        guard turn == .given, await self.machine.epoch.generation == generation else {
          await self.receive(.refreshEnded(generation: generation, .superseded))
          return
        }
      } catch {
        await self.receive(.refreshEnded(generation: generation, .notAsked(error)))
        return
      }
      work.add {
        do throws(RefreshFailure) {
          let response = try await request()
          await self.granted(response, generation: generation)
        } catch {
          await self.receive(.refreshEnded(generation: generation, .failed(error)))
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
