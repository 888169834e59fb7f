import HearthControl
import HearthCore

/// The handlers of the methods that sign in. The flows that need a person are not part of this version.
extension ControlService {
  static let signInMethods: [any ServedMethod.Type] = [
    ImportGrant.self, BeginSignIn.self, AwaitSignIn.self, CancelSignIn.self,
  ]

  /// Waits until the session has been read; throws where it is locked and its credential is not to be replaced.
  fileprivate func checkUnlocked(
    _ account: AccountName, replace: Bool
  ) async throws(RPCError) -> SessionDirectory.Entry {
    let (entry, answer) = try await ask(account, .awaitReading)
    if case .locked = answer.status.state, !replace { throw .state(answer.status.state, answer.status) }
    return entry
  }
}

extension ImportGrant: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) async throws(RPCError) -> SessionStatus {
    try await service.check(account)
    guard accessToken ?? refreshToken != nil else {
      throw .invalidParams("Give \"refreshToken\", \"accessToken\" or both.")
    }
    let entry = try await service.checkUnlocked(account, replace: replace)
    let now = await entry.service.catchUp()
    let grant = Grant(
      // Without an access token the grant has run out: it is refreshed before anybody sees it.
      accessToken: service.token(accessToken ?? Secret("")), refreshToken: refreshToken.map(service.token),
      idToken: idToken.map(service.token), issuedAt: now,
      expiresAt: accessToken == nil ? now : expiresIn.map { now + $0 })
    do throws(AdoptionFailure) {
      try await entry.service.adopt(
        Credential(grant: grant, subject: nil, origin: nil), isTried: accessToken != nil)
    } catch {
      if error == .stopping, let next = await service.sessions.current(account), next.service !== entry.service {
        throw RPCError(
          .refreshUnavailable, account: account, message: "The configuration was reloaded meanwhile; ask again.",
          retryAfterSeconds: 1)
      }
      throw RPCError(error, await entry.service.snapshot())
    }
    return await entry.service.snapshot()
  }
}

extension BeginSignIn: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) async throws(RPCError) -> BegunSignIn {
    switch flow {
    case .clientCredentials: return try await requestGrant(from: service)
    case .device, .browser, .password:
      try await service.check(account)
      throw notSupported("The \(flow.rawValue) flow is not supported yet; use")
    }
  }

  /// Asks for the client's own grant (RFC 6749, section 4.4). Nobody is waited for, so the sign-in is finished, or has
  /// failed, when this is answered; `session.awaitSignIn` answers with the status.
  private func requestGrant(from service: ControlService) async throws(RPCError) -> BegunSignIn {
    _ = try await service.checkUnlocked(account, replace: replace)
    let answer = try await service.ask(account, .requestGrant).answer
    switch answer.response {
    case .done: break
    case .rejected(.needsSignIn):
      throw notSupported("The client-credentials flow is for accounts of that type; use")
    case .rejected(let rejection): throw RPCError(rejection, answer.status)
    case .token, .signedOut: throw .internalError("The session did not say how the sign-in went.")
    }
    return BegunSignIn(
      id: AwaitSignIn.finishedPrefix + account.description, expiresAt: answer.status.token?.expiresAt)
  }

  private func notSupported(_ why: String) -> RPCError {
    RPCError(
      .flowNotSupported, account: account, message: "\(why) \"hearthctl login \(account) --refresh-token-stdin\".")
  }
}

extension AwaitSignIn: PlainMethod {
  /// Names the sign-in of an account that needed nobody.
  fileprivate static let finishedPrefix = "client-credentials/"

  func result(from service: ControlService, for _: any ControlPeer) async throws(RPCError) -> SessionStatus {
    guard text.hasPrefix(Self.finishedPrefix) else { throw .unknownSignIn(text) }
    let account = try AccountName(asked: String(text.dropFirst(Self.finishedPrefix.count)))
    return try await service.entry(account).service.snapshot()
  }
}

extension CancelSignIn: PlainMethod {
  func result(from _: ControlService, for _: any ControlPeer) throws(RPCError) -> Empty {
    throw .unknownSignIn(text)
  }
}
