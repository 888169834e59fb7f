import HearthControl
import HearthCore

/// The handlers of `session.*`.
extension ControlService {
  static let sessionMethods: [any ServedMethod.Type] = [
    ListSessions.self, GetSession.self, GetToken.self, ReportUnauthorized.self, RefreshSession.self,
    RehydrateSessions.self, SignOut.self, LockSessions.self, UnlockSessions.self, DiagnoseSession.self,
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
    url == nil ? service.readyToken(of: account, minValidity: minValidity) : nil
  }

  func result(from service: ControlService, for _: any ControlPeer) async throws(RPCError) -> GivenToken {
    if let url { try await service.requireOrigin(of: url, for: account) }
    return try await service.token(of: account, minValidity: minValidity)
  }
}

extension ReportUnauthorized: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) async throws(RPCError) -> SessionStatus {
    try await service.check(account)
    guard let fingerprint = Fingerprint(fingerprint) else {
      throw .invalidParams("The parameter \"fingerprint\" must be 8 hex digits in lower case.")
    }
    let rejection = APIRejection(fingerprint, isChallenge: wwwAuthenticate.map(Challenge.isAsked) ?? false)
    return try await service.ask(account, .reportUnauthorized(rejection)).answer.status
  }
}

extension DiagnoseSession: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) async throws(RPCError) -> Diagnoses {
    try await service.check(account)
    var found: [Diagnosis] = []
    if checks != [.sink] {
      let (entry, answer) = try await service.ask(account, .token(minValidity: nil))
      let bearer: Bearer? = if case .token(let bearer) = answer.response { bearer } else { nil }
      found = await entry.probe?.checks(bearer) ?? []
    }
    found += await service.sinks.checks(of: account)
    return Diagnoses(found.filter { checks.contains($0.check) })
  }
}

extension RefreshSession: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) async throws(RPCError) -> SessionStatus {
    let answer = try await service.ask(account, .refresh).answer
    if case .rejected(let rejection) = answer.response { throw RPCError(rejection, answer.status) }
    await service.sinks.settle(account)
    return answer.status
  }
}

extension RehydrateSessions: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) async throws(RPCError) -> Sessions {
    let entries = try await service.entries(account)
    await withDiscardingTaskGroup { group in
      for entry in entries {
        group.addTask { await service.sessions.reach(entry.service.account) { await $0.rehydrate() } }
      }
    }
    return try await service.statuses(account)
  }
}

extension LockSessions: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) async throws(RPCError) -> Sessions {
    await service.lock(try await service.entries(account))
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
      await service.sinks.settle(name)
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

extension ControlService {
  /// The token that satisfies the call; nil where the session has to be asked.
  func readyToken(of account: AccountName, minValidity: Duration?) -> GivenToken? {
    sessions.readyToken(of: account, minValidity).map { GivenToken(account, $0.bearer, issuer: $0.issuer) }
  }

  /// Nil: as long as is usual.
  func token(of account: AccountName, minValidity: Duration?) async throws(RPCError) -> GivenToken {
    let answer = try await ask(account, .token(minValidity: minValidity)).answer
    switch answer.response {
    case .token(let bearer): return GivenToken(account, bearer, issuer: answer.status.issuer)
    case .rejected(let rejection): throw RPCError(rejection, answer.status)
    case .done, .signedOut: throw .internalError("The session gave no token.")
    }
  }

  /// The user locks these accounts.
  func lock(_ entries: [SessionDirectory.Entry]) async {
    // Side by side, so that no account's lock waits for another's store or provider.
    await withDiscardingTaskGroup { group in
      for entry in entries {
        group.addTask {
          let account = entry.service.account
          await sessions.lock(account)
          // An account without a session looks the same locked, so that nobody else tells of it.
          await signIns.sessionChanged(account)
          await sinks.settle(account)
        }
      }
    }
  }

  /// The account's token may be sent to where this URL leads.
  func requireOrigin(of url: String, for account: AccountName) async throws(RPCError) {
    let place: Origin
    do { place = try Origin(ofServer: url) } catch {
      throw .invalidParams("The parameter \"url\" cannot be used: \(error).")
    }
    do throws(OutboxError) {
      try await outbox.requireAllowed(place, for: account)
    } catch { throw RPCError(error, account: account) }
  }
}
