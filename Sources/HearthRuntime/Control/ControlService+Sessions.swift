import HearthControl
import HearthCore

/// The `session.*` methods.
extension ControlService {
  func listSessions(_ params: inout ParameterReader) async throws(RPCError) -> JSON {
    try params.finish()
    return await reports(try await entries(nil))
  }

  func getSession(_ params: inout ParameterReader) async throws(RPCError) -> JSON {
    let name = try params.string("account")
    try params.finish()
    return await report(try await entry(name).1).json
  }

  func getToken(_ params: inout ParameterReader) async throws(RPCError) -> JSON {
    let name = try params.string("account")
    let seconds = try params.optionalInt("minValiditySeconds", in: 0...Int(Int32.max))
    try params.finish()
    let (entry, answer) = try await ask(name, .token(minValidity: seconds.map { .seconds($0) }))
    switch answer {
    case .token(let token):
      return [
        "account": .string(name), "accessToken": .string(token.bearer.secret.reveal()),
        "tokenType": .string(token.type), "expiresAt": JSON(token.expiresAt?.description),
        "fingerprint": .string(token.bearer.fingerprint.description), "subject": JSON(token.subject?.id),
        "issuer": JSON(token.subject?.issuer ?? entry.issuer),
      ]
    case .rejected(let rejection): throw RPCError(rejection, await entry.service.snapshot())
    case .done, .signedOut: throw .internalError("The session gave no token.")
    }
  }

  func reportUnauthorized(_ params: inout ParameterReader) async throws(RPCError) -> JSON {
    let name = try params.string("account")
    let text = try params.string("fingerprint")
    try params.finish()
    _ = try await entry(name)
    guard let fingerprint = Fingerprint(text) else {
      throw .invalidParams("The parameter \"fingerprint\" must be 8 hex digits in lower case.")
    }
    return await report(try await ask(name, .reportUnauthorized(APIRejection(fingerprint))).entry).json
  }

  func refresh(_ params: inout ParameterReader) async throws(RPCError) -> JSON {
    let name = try params.string("account")
    try params.finish()
    let (entry, answer) = try await ask(name, .refresh)
    if case .rejected(let rejection) = answer {
      throw RPCError(rejection, await entry.service.snapshot())
    }
    return await report(entry).json
  }

  func rehydrate(_ params: inout ParameterReader) async throws(RPCError) -> JSON {
    let name = try params.optionalString("account")
    try params.finish()
    let entries = try await entries(name)
    await withDiscardingTaskGroup { group in
      for entry in entries { group.addTask { _ = await sessions.call(.rehydrate, of: entry.service.account) } }
    }
    return await reports(try await self.entries(name))
  }

  func importGrant(_ params: inout ParameterReader) async throws(RPCError) -> JSON {
    let name = try params.string("account")
    let refreshToken = try optionalToken("refreshToken", &params, TokenSyntax.isRefreshToken)
    let accessToken = try optionalToken("accessToken", &params, TokenSyntax.isBearer)
    let idToken = try optionalToken("idToken", &params, TokenSyntax.isBearer)
    let seconds = try params.optionalInt("expiresIn", in: 0...Int(Int32.max))
    let replace = try params.bool("replace", default: false)
    try params.finish()
    let (account, _) = try await entry(name)
    guard accessToken ?? refreshToken != nil else {
      throw .invalidParams("Give \"refreshToken\", \"accessToken\" or both.")
    }
    let (entry, _) = try await ask(name, .awaitReading)
    let before = await entry.service.snapshot()
    if case .locked = before.state, !replace { throw .state(before.state, before) }
    let now = await entry.service.catchUp()
    let grant = Grant(
      // Without an access token the grant has run out: it is refreshed before anybody sees it.
      accessToken: accessToken ?? token(Secret("")), refreshToken: refreshToken, idToken: idToken, issuedAt: now,
      expiresAt: accessToken == nil ? now : seconds.map { now + .seconds($0) })
    do throws(AdoptionFailure) {
      try await entry.service.adopt(
        Credential(grant: grant, subject: nil, origin: nil), isTried: accessToken != nil)
    } catch {
      if error == .stopping, let next = await sessions.current(account), next.service !== entry.service {
        throw .refreshUnavailable(
          account: name, message: "The configuration was reloaded meanwhile; ask again.", retryAfterSeconds: 1)
      }
      throw RPCError(error, await entry.service.snapshot())
    }
    return await report(entry).json
  }

  private func optionalToken(
    _ name: String, _ params: inout ParameterReader, _ isInForm: (String) -> Bool
  ) throws(RPCError) -> Token? {
    guard let text = try params.optionalString(name) else { return nil }
    guard !text.isEmpty else { throw .invalidParams("The parameter \"\(name)\" is empty.") }
    guard isInForm(text) else {
      throw .invalidParams("The parameter \"\(name)\" has characters that no token has.")
    }
    // All three, sealed, have to go into a credential file that is read again.
    guard text.utf8.count <= 128 << 10 else {
      throw .invalidParams("The parameter \"\(name)\" is longer than 128 KiB.")
    }
    return token(Secret(text))
  }

  func signOut(_ params: inout ParameterReader) async throws(RPCError) -> JSON {
    enum Outbox: String, CaseIterable { case keep, discard }
    let name = try params.string("account")
    let revoke = try params.bool("revoke", default: true)
    let items = try params.optionalChoice("outbox", of: Outbox.self) ?? .keep
    try params.finish()
    let (account, _) = try await entry(name)
    // Before the session forgets whose the items are.
    if items == .discard { try await discardOutbox(of: account) }
    var isRevoked = false
    let (entry, answer) = try await ask(name, .signOut(revoke: revoke))
    switch answer {
    case .signedOut(let credentials):
      isRevoked = await revokeAll(credentials, by: entry.service)
    case .rejected(let rejection): throw RPCError(rejection, await entry.service.snapshot())
    case .token, .done: break
    }
    var status = await report(entry).json.object ?? [:]
    status["revoked"] = .bool(isRevoked)
    return .object(status)
  }

  /// Side by side; true where there was something to revoke, and the provider took all of it.
  private func revokeAll(_ credentials: [Credential], by service: SessionService) async -> Bool {
    let taken = await withTaskGroup(of: Bool.self) { group in
      for credential in credentials { group.addTask { await service.revoke(credential) } }
      return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
    }
    return !credentials.isEmpty && taken == credentials.count
  }

  func lock(_ params: inout ParameterReader) async throws(RPCError) -> JSON {
    let name = try params.optionalString("account")
    try params.finish()
    for entry in try await entries(name) { await sessions.reach(entry.service.account) { await $0.lock(.user) } }
    return await reports(try await entries(name))
  }

  func unlock(_ params: inout ParameterReader) async throws(RPCError) -> JSON {
    let name = try params.optionalString("account")
    let passphrase = try params.optionalString("passphrase").map { Secret($0) }
    try params.finish()
    if passphrase?.isEmpty == true {
      throw .invalidParams("The parameter \"passphrase\" is empty: a passphrase has one character at least.")
    }
    for entry in try await entries(name) {
      let account = entry.service.account
      do throws(UnlockFailure) {
        try await sessions.reach(account) { service throws(UnlockFailure) in
          try await service.unlock(.user, passphrase: passphrase)
        }
      } catch {
        // Asked of all accounts, the passphrase is for those that have one.
        if name != nil || error != .notSealed { throw RPCError(error, await entry.service.snapshot()) }
        await sessions.reach(account) { try? await $0.unlock(.user, passphrase: nil) }
      }
      if let name, passphrase == nil, await lacksPassphrase(entry) {
        throw .passphraseNeeded(
          account: name,
          message: "The passphrase of \(name) is needed: run \"hearthctl unlock \(name)\" on a terminal, "
            + "or with --passphrase-stdin.")
      }
    }
    return await reports(try await entries(name))
  }

  /// Also before anything is sealed: the passphrase is set before the first sign-in.
  private func lacksPassphrase(_ entry: SessionDirectory.Entry) async -> Bool {
    if await entry.service.needsPassphrase() { return true }
    guard case .locked(.accessFailure(let accessFailure)) = await entry.service.snapshot().state else { return false }
    return accessFailure.kind == .passphraseRequired
  }
}
