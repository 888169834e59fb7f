import HearthControl
import HearthCore

/// The handlers of `session.import` and of the sign-in methods.
extension ControlService {
  static let signInMethods: [any ServedMethod.Type] = [
    ImportGrant.self, BeginSignIn.self, AwaitSignIn.self, CancelSignIn.self, CompleteSignIn.self,
  ]
}

extension ImportGrant: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) async throws -> SessionStatus {
    try await service.check(account)
    guard accessToken ?? refreshToken != nil else {
      throw RPCError.invalidParams("\"refreshToken\" or \"accessToken\" is required.")
    }
    let (entry, answer) = try await service.sessions.ask(.awaitReading, of: account)
    if case .locked = answer.status.state, !replace { throw Failure.state(answer.status.state, answer.status) }
    let now = await entry.service.catchUp()
    let grant = Grant(
      // A grant without an access token counts as expired, so it is refreshed before clients see it.
      accessToken: service.token(accessToken ?? Secret("")), refreshToken: refreshToken.map(service.token),
      idToken: idToken.map(service.token), issuedAt: now,
      expiresAt: accessToken == nil ? now : expiresIn.map { now + $0 })
    try await entry.service.adopt(Credential(grant: grant, subject: nil, origin: nil), isTried: accessToken != nil)
    await service.sinks.waitUntilIdle(account)
    return await entry.service.snapshot()
  }
}

extension BeginSignIn: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) async throws -> BegunSignIn {
    try await service.check(account)
    let entry = try await service.sessions.ask(.awaitReading, of: account).entry
    // Require the parameters only if the account supports password sign-in. Otherwise, the sign-in fails with an error
    // that says so.
    if flow == .password, entry.signIn.takesPassword, username == nil || password == nil {
      throw RPCError.invalidParams("\"username\" and \"password\" are required.")
    }
    let user = flow == .password ? (name: username ?? "", password: password ?? Secret("")) : nil
    return BegunSignIn(try await service.signIns.begin(flow, as: user, of: entry, replacing: replace))
  }
}

extension BegunSignIn {
  fileprivate init(_ attempt: SignInHandle) {
    switch attempt.steps {
    case .browser(let signIn)?:
      self.init(id: attempt.id, authorizationURL: signIn.authorizationURL, expiresAt: attempt.progress.expiresAt)
    case .device(let device)?:
      self.init(
        id: attempt.id, verificationURI: device.verificationURI,
        verificationURIComplete: device.verificationURIComplete, userCode: device.userCode,
        expiresAt: attempt.progress.expiresAt)
    case nil: self.init(id: attempt.id, expiresAt: attempt.progress.expiresAt)
    }
  }
}

extension AwaitSignIn: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) async throws -> SessionStatus {
    guard let account = await service.signIns.account(of: text),
      let outcome = await service.signIns.outcome(of: text)
    else { throw RPCError.unknownSignIn(text) }
    let status = try outcome.get()
    await service.sinks.waitUntilIdle(account)
    return status
  }
}

extension CancelSignIn: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) async throws -> Empty {
    guard await service.signIns.cancel(text) else { throw RPCError.unknownSignIn(text) }
    return Empty()
  }
}

extension CompleteSignIn: PlainMethod {
  /// Starts processing the address. `session.awaitSignIn` returns the outcome.
  func result(from service: ControlService, for _: any ControlPeer) async throws -> Empty {
    guard let account = await service.signIns.account(of: id) else { throw RPCError.unknownSignIn(id) }
    switch await service.signIns.redirected(id, to: address.reveal()) {
    case .code, .failed, .scopeRefused: return Empty()
    case .unclaimedError(let message):
      throw Failure(
        .signInFailed,
        "\(message) The address has no \"state\" parameter, so Hearth cannot tell which sign-in it belongs to, and "
          + "keeps waiting.", account: account)
    case .foreign, .untrusted, nil:
      throw Failure(
        .signInFailed,
        "The address does not belong to this sign-in, or the sign-in is no longer waiting for one. Copy the whole "
          + "address, including http://.", account: account)
    }
  }
}
