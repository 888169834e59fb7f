import HearthControl
import HearthCore

/// Signing in. The flows that need a person are not part of this version.
extension ControlService {
  private enum Flow: String, CaseIterable {
    case device, browser, password
    case clientCredentials = "client-credentials"
  }

  func beginSignIn(_ params: inout ParameterReader) async throws(RPCError) -> JSON {
    let name = try params.string("account")
    let flow = try params.choice("flow", of: Flow.self)
    let replace = try params.bool("replace", default: false)
    switch flow {
    case .clientCredentials:
      try params.finish()
      return try await beginWithoutPerson(name, replace: replace)
    case .device, .browser, .password:
      _ = try await entry(name)
      throw .flowNotSupported(
        account: name,
        message:
          "The \(flow.rawValue) flow is not supported yet; use \"hearthctl login \(name) --refresh-token-stdin\".")
    }
  }

  /// Asks for the client's own grant (RFC 6749, section 4.4). Nobody is waited for, so the sign-in is finished, or has
  /// failed, when this is answered; `awaitSignIn` tells the status.
  private func beginWithoutPerson(_ name: String, replace: Bool) async throws(RPCError) -> JSON {
    let (entry, _) = try await ask(name, .awaitReading)
    let before = await entry.service.snapshot()
    if case .locked = before.state, !replace { throw .state(before.state, before) }
    let (asked, answer) = try await ask(name, .requestGrant)
    switch answer {
    case .done: break
    case .rejected(.needsSignIn):
      throw .flowNotSupported(
        account: name,
        message: "The client-credentials flow is for accounts of that type; "
          + "use \"hearthctl login \(name) --refresh-token-stdin\".")
    case .rejected(let rejection): throw RPCError(rejection, await asked.service.snapshot())
    case .token, .signedOut: throw .internalError("The session did not say how the sign-in went.")
    }
    let expiresAt = await asked.service.snapshot().token?.expiresAt
    return ["signIn": .string(Self.finishedPrefix + name), "expiresAt": JSON(expiresAt?.description)]
  }

  /// Names the sign-in of an account that needed nobody.
  private static let finishedPrefix = "client-credentials/"

  func awaitSignIn(_ params: inout ParameterReader) async throws(RPCError) -> JSON {
    let id = try params.string("signIn")
    try params.finish()
    guard id.hasPrefix(Self.finishedPrefix) else { throw .unknownSignIn(id) }
    return await report(try await entry(String(id.dropFirst(Self.finishedPrefix.count))).1).json
  }

  func cancelSignIn(_ params: inout ParameterReader) throws(RPCError) -> JSON {
    let id = try params.string("signIn")
    try params.finish()
    throw .unknownSignIn(id)
  }
}
