import HearthControl
import HearthCore

/// The handlers of `session.*`.
extension ControlService {
  static let sessionMethods: [any ServedMethod.Type] = [
    ListSessions.self, GetSession.self, ChooseAccount.self, GetToken.self, ReportUnauthorized.self, RefreshSession.self,
    RehydrateSessions.self, SignOut.self, LockSessions.self, UnlockSessions.self, DiagnoseSession.self,
  ]
}

extension ListSessions: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) async throws -> Sessions {
    try await service.statuses(nil)
  }
}

extension GetSession: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) async throws -> SessionStatus {
    try await service.entry(account).service.snapshot()
  }
}

extension ChooseAccount: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) async throws -> ChosenAccount {
    var place: AccountRules.Place?
    if let url {
      do { place = try AccountRules.Place(url) } catch {
        throw RPCError.invalidParams("The parameter \"url\" cannot be used: \(error).")
      }
    }
    let (rules, accounts) = (await service.rules(), await service.sessions.accounts)
    return ChosenAccount(rules.choice(for: place, in: directories, among: accounts), among: accounts)
  }
}

extension GetToken: PlainMethod {
  /// Returns the result, or `nil` if only the session can provide it.
  func readyToken(from service: ControlService) -> Bearer? {
    guard url == nil, scope == nil, audience == nil, !wantsNames,
      let bearer = service.sessions.readyToken(of: account, minValidity)
    else { return nil }
    service.metrics.tokenGiven(of: account)
    return bearer
  }

  func result(from service: ControlService, for _: any ControlPeer) async throws -> Bearer {
    if let url { try check(url, service.requests.access) }
    if scope != nil || audience != nil { try check(await service.entry(account).offer) }
    let bearer = try await service.sessions.ask(.token(minValidity: minValidity), of: account).answer.result.get()
    service.metrics.tokenGiven(of: account)
    return wantsNames ? bearer.withNames : bearer
  }

  /// Checks that the account's token may be sent to this URL.
  private func check(_ url: String, _ access: APIAccess) throws {
    let place: Origin
    do { place = try Origin(ofServer: url) } catch {
      throw RPCError.invalidParams("The parameter \"url\" cannot be used: \(error).")
    }
    guard let api = access[account] else { throw Failure.unknownAccount(account) }
    guard api.allOrigins.contains(place) else { throw Failure.originNotAllowed(place, account) }
  }

  /// Checks that the account's tokens have the requested scopes and audience, because the program would otherwise get
  /// the wrong token.
  private func check(_ offer: TokenOffer) throws {
    if let scope, !offer.hasScopes(scope) {
      let scopes =
        offer.scopes.isEmpty ? "the provider's defaults" : "\"\(offer.scopes.joined(separator: " "))\""
      throw RPCError.otherToken(
        "invalid_scope", account,
        message:
          "\(account)'s tokens have other scopes: \(scopes). Omit the scopes, or add an account with the "
          + "scopes you need to the configuration.")
    }
    if let audience, audience != offer.audience {
      let theirs = offer.audience.map { "\"\($0)\"" } ?? "the provider's default"
      throw RPCError.otherToken(
        "invalid_target", account,
        message: "\(account)'s tokens have another audience: \(theirs). Omit the audience, or add an account "
          + "whose token_parameters contain the one you need.")
    }
  }
}

extension ReportUnauthorized: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) async throws -> SessionStatus {
    try await service.check(account)
    guard let fingerprint = Fingerprint(fingerprint) else {
      throw RPCError.invalidParams("The parameter \"fingerprint\" must be 8 lowercase hex digits.")
    }
    let rejection = APIRejection(
      fingerprint, isChallenge: wwwAuthenticate.map(Challenge.isAsked) ?? false,
      reason: wwwAuthenticate.flatMap(Challenge.reason))
    return try await service.sessions.ask(.reportUnauthorized(rejection), of: account).answer.status
  }
}

extension DiagnoseSession: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) async throws -> Diagnoses {
    try await service.check(account)
    var found: [Diagnosis] = []
    if checks != [.sink] {
      let (entry, answer) = try await service.sessions.ask(.token(minValidity: nil), of: account)
      found =
        await entry.probe?.checks(try? answer.result.get(), at: service.requests.access[account]?.origins ?? []) ?? []
    }
    found += await service.sinks.checks(of: account)
    return Diagnoses(found.filter { checks.contains($0.check) })
  }
}

extension RefreshSession: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) async throws -> SessionStatus {
    let answer = try await service.sessions.ask(.refresh, of: account).answer
    try answer.result.get()
    await service.sinks.waitUntilIdle(account)
    return answer.status
  }
}

extension RehydrateSessions: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) async throws -> Sessions {
    let entries = try await service.entries(account)
    await withDiscardingTaskGroup { group in
      for entry in entries {
        group.addTask { await entry.service.rehydrate() }
      }
    }
    return try await service.statuses(account)
  }
}

extension LockSessions: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) async throws -> Sessions {
    let entries = try await service.entries(account)
    // Lock concurrently, so that no account waits for another account's store or provider.
    await withDiscardingTaskGroup { group in
      for entry in entries {
        group.addTask {
          await entry.service.lock(.user)
          await service.sinks.waitUntilIdle(entry.service.account)
        }
      }
    }
    for entry in entries {
      if let failure = await entry.service.whyLockIsForgotten() {
        throw Failure.forgettableLock(failure, entry.service.account)
      }
    }
    return try await service.statuses(account)
  }
}

extension UnlockSessions: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) async throws -> Sessions {
    let entries = try await service.entries(account)
    // Unlock concurrently, so that no account waits for another account's store.
    let results = await withTaskGroup(of: (AccountName, Swift.Result<Void, any Error>).self) { group in
      for entry in entries {
        group.addTask {
          let name = entry.service.account
          return (name, await Swift.Result { try await unlock(entry) })
        }
      }
      return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
    }
    for entry in entries {
      try results[entry.service.account]?.get()
      await service.sinks.waitUntilIdle(entry.service.account)
    }
    return try await service.statuses(account)
  }

  private func unlock(_ entry: SessionDirectory.Entry) async throws {
    if try await !entry.service.unlock(.user, passphrase: passphrase) {
      // When a passphrase is given for all accounts, ignore it for accounts that do not use one.
      if let account {
        throw RPCError.invalidParams("\(account)'s credential is not protected by a passphrase.")
      }
      try await entry.service.unlock(.user, passphrase: nil)
    }
    if let account, passphrase == nil, await Self.lacksPassphrase(entry) {
      throw Failure.passphraseNeeded(account, "in a terminal, or with --passphrase-stdin")
    }
  }

  /// Returns whether the account needs a passphrase. Before the first sign-in, a passphrase is needed too, so that the
  /// credential can be sealed.
  private static func lacksPassphrase(_ entry: SessionDirectory.Entry) async -> Bool {
    if await entry.service.needsPassphrase() { return true }
    guard case .locked(.accessFailure(let failure)) = await entry.service.snapshot().state else { return false }
    return failure.kind == .passphraseRequired
  }
}

extension SignOut: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) async throws -> SignedOut {
    try await service.check(account)
    // Get the subjects first, because the sign-out makes the session forget the user.
    let discarded = outbox == .discard ? await service.outbox.subjects(of: account) : []
    try await service.outbox.purge(account, of: discarded)
    // Get the credentials if the revocation or the provider's sign-out page needs them.
    let (entry, answer) = try await service.sessions.ask(.signOut(revoke: revoke || everywhere), of: account)
    let signedOut = try? answer.result.get()
    let credentials = signedOut?.credentials ?? []
    // Start the revocation immediately, so that none of the steps below can delay it.
    async let revoked: SignedOut.Revocation =
      revoke
      ? await service.revocations.revoke(credentials, of: entry, isComplete: signedOut?.isComplete ?? false)
      : .none
    // Purge again, because programs could enqueue more items for this user until the sign-out. Later items belong to
    // the next user.
    let discard = await Swift.Result { try await service.outbox.purge(account, of: discarded) }
    if signedOut != nil { await service.outbox.left(account) }
    // Delete the user's cached responses before reporting the sign-out.
    await service.requests.sessionChanged(account, answer.status.state, answer.status.subject)
    _ = try answer.result.get()
    await service.sinks.waitUntilIdle(account)
    let revocation = await revoked
    let page = everywhere ? await entry.endSession(of: credentials.first, service.clock) : nil
    // Throw only now, because a failing store must not prevent the revocation.
    _ = try discard.get()
    return SignedOut(answer.status, revocation: revocation, endSession: page)
  }
}

extension SessionDirectory.Entry {
  /// The maximum time to wait for the URL of the provider's sign-out page.
  private static let timeout: Duration = .seconds(5)

  fileprivate func endSession(of credential: Credential?, _ clock: any Clock) async -> SignedOut.EndSession {
    let result = await clock.within(Self.timeout) { await Result(catching: signIn.endSession, credential) }
    return switch result {
    case .success(let url): .url(url)
    case .failure(let failure): .missing(failure.message)
    case nil: .missing("The provider did not respond, so its sign-out page is unknown. Sign out on its website.")
    }
  }
}
