import HearthControl
import HearthCore

/// The handlers of `session.*`.
extension ControlService {
  static let sessionMethods: [any ServedMethod.Type] = [
    ListSessions.self, GetSession.self, GetToken.self, ReportUnauthorized.self, RefreshSession.self,
    RehydrateSessions.self, SignOut.self, LockSessions.self, UnlockSessions.self,
  ]
}

extension ListSessions: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) async throws(RPCError) -> Sessions {
    try await service.statuses(nil)
  }
}

extension GetSession: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) async throws(RPCError) -> SessionStatus {
    try await service.entry(account).service.snapshot()
  }
}

extension GetToken: InstantMethod {
  func resultAtOnce(from service: ControlService) -> GivenToken? {
    service.sessions.readyToken(of: account, minValidity).map { GivenToken(account, $0.bearer, issuer: $0.issuer) }
  }

  func result(from service: ControlService, for _: any ControlPeer) async throws(RPCError) -> GivenToken {
    let answer = try await service.ask(account, .token(minValidity: minValidity)).answer
    switch answer.response {
    case .token(let bearer): return GivenToken(account, bearer, issuer: answer.status.issuer)
    case .rejected(let rejection): throw RPCError(rejection, answer.status)
    case .done, .signedOut: throw .internalError("The session gave no token.")
    }
  }
}

extension ReportUnauthorized: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) async throws(RPCError) -> SessionStatus {
    try await service.check(account)
    guard let fingerprint = Fingerprint(fingerprint) else {
      throw .invalidParams("The parameter \"fingerprint\" must be 8 hex digits in lower case.")
    }
    return try await service.ask(account, .reportUnauthorized(APIRejection(fingerprint))).answer.status
  }
}

extension RefreshSession: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) async throws(RPCError) -> SessionStatus {
    let answer = try await service.ask(account, .refresh).answer
    if case .rejected(let rejection) = answer.response { throw RPCError(rejection, answer.status) }
    return answer.status
  }
}

extension RehydrateSessions: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) async throws(RPCError) -> Sessions {
    let entries = try await service.entries(account)
    await withDiscardingTaskGroup { group in
      for entry in entries { group.addTask { _ = await service.sessions.ask(.rehydrate, of: entry.service.account) } }
    }
    return try await service.statuses(account)
  }
}

extension SignOut: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) async throws(RPCError) -> SignedOut {
    try await service.check(account)
    // Before the session forgets whose the items are.
    if outbox == .discard { try await service.discardOutbox(of: account) }
    await service.signIns.end(allOf: account, .signedOut)
    var isRevoked = false
    let (entry, answer) = try await service.ask(account, .signOut(revoke: revoke))
    switch answer.response {
    case .signedOut(let credentials): isRevoked = await Self.revokeAll(credentials, by: entry.service)
    case .rejected(let rejection): throw RPCError(rejection, answer.status)
    case .token, .done: break
    }
    return SignedOut(answer.status, isRevoked: isRevoked)
  }

  /// Side by side; true where there was something to revoke, and the provider revoked all of it.
  private static func revokeAll(_ credentials: [Credential], by service: SessionService) async -> Bool {
    let revoked = await withTaskGroup(of: Bool.self) { group in
      for credential in credentials { group.addTask { await service.revoke(credential) } }
      return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
    }
    return !credentials.isEmpty && revoked == credentials.count
  }
}

extension LockSessions: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) async throws(RPCError) -> Sessions {
    let entries = try await service.entries(account)
    // Side by side, so that no account's lock waits for another's store or provider.
    await withDiscardingTaskGroup { group in
      for entry in entries {
        group.addTask { await service.sessions.reach(entry.service.account) { await $0.lock(.user) } }
      }
    }
    return try await service.statuses(account)
  }
}

extension UnlockSessions: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) async throws(RPCError) -> Sessions {
    for entry in try await service.entries(account) {
      let name = entry.service.account
      do throws(UnlockFailure) {
        try await service.sessions.reach(name) { session throws(UnlockFailure) in
          try await session.unlock(.user, passphrase: passphrase)
        }
      } catch {
        // Asked of all accounts, the passphrase is for those that have one.
        if account != nil || error != .notSealed { throw RPCError(error, await entry.service.snapshot()) }
        await service.sessions.reach(name) { try? await $0.unlock(.user, passphrase: nil) }
      }
      if account != nil, passphrase == nil, await Self.lacksPassphrase(entry) {
        throw .passphraseNeeded(
          name,
          message: "The passphrase of \(name) is needed: run \"hearthctl unlock \(name)\" on a terminal, "
            + "or with --passphrase-stdin.")
      }
    }
    return try await service.statuses(account)
  }

  /// Also before anything is sealed: the passphrase is set before the first sign-in.
  private static func lacksPassphrase(_ entry: SessionDirectory.Entry) async -> Bool {
    if await entry.service.needsPassphrase() { return true }
    guard case .locked(.accessFailure(let failure)) = await entry.service.snapshot().state else { return false }
    return failure.kind == .passphraseRequired
  }
}
