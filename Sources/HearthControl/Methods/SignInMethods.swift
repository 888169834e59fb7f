package import HearthCore

/// A refresh token alone is used at once, and the answer tells how that went.
package struct ImportGrant: ControlMethod {
  package static let declaration = MethodDeclaration<SessionStatus>(
    "session.import", "Sign in with tokens from elsewhere.",
    errors: [.locked, .refreshUnavailable, .unknownAccount, .storageUnavailable, .signInFailed, .passphraseNeeded])

  package let account: AccountName
  /// One of the two is given, or both: the daemon sees to that once it knows the account.
  package let refreshToken: Secret?
  package let accessToken: Secret?
  package let idToken: Secret?
  /// How long the access token lasts from now on, in whole seconds.
  package let expiresIn: Duration?
  /// Also while locked, in the place of the credential there.
  package let replace: Bool

  package init(
    _ account: AccountName, refreshToken: Secret? = nil, accessToken: Secret? = nil, idToken: Secret? = nil,
    expiresIn: Duration? = nil, replace: Bool = false
  ) {
    self.account = account
    self.refreshToken = refreshToken
    self.accessToken = accessToken
    self.idToken = idToken
    self.expiresIn = expiresIn
    self.replace = replace
  }

  package init(reading params: inout ParameterReader) throws(RPCError) {
    let account = try params.string("account")
    let refreshToken = try Self.token("refreshToken", &params, TokenSyntax.isRefreshToken)
    let accessToken = try Self.token("accessToken", &params, TokenSyntax.isBearer)
    let idToken = try Self.token("idToken", &params, TokenSyntax.isBearer)
    let seconds = try params.optionalInt("expiresIn", in: 0...Int(Int32.max))
    let replace = try params.bool("replace", default: false)
    try params.finish()
    self.init(
      try AccountName(asked: account), refreshToken: refreshToken, accessToken: accessToken, idToken: idToken,
      expiresIn: seconds.map { .seconds($0) }, replace: replace)
  }

  private static func token(
    _ name: String, _ params: inout ParameterReader, _ isInForm: (String) -> Bool
  ) throws(RPCError) -> Secret? {
    guard let text = try params.optionalString(name) else { return nil }
    guard !text.isEmpty else { throw .invalidParams("The parameter \"\(name)\" is empty.") }
    guard isInForm(text) else {
      throw .invalidParams("The parameter \"\(name)\" has characters that no token has.")
    }
    // All three, sealed, have to go into a credential file that is read again.
    guard text.utf8.count <= 128 << 10 else {
      throw .invalidParams("The parameter \"\(name)\" is longer than 128 KiB.")
    }
    return Secret(text)
  }

  package var params: JSONObject {
    JSON.members([
      "account": .string(account.description), "refreshToken": refreshToken.map { .string($0.reveal()) },
      "accessToken": accessToken.map { .string($0.reveal()) }, "idToken": idToken.map { .string($0.reveal()) },
      "expiresIn": expiresIn.map { JSON(seconds: $0) }, "replace": .bool(replace),
    ])
  }
}

/// The flows that need a person are refused in this version (1205).
package struct BeginSignIn: ControlMethod {
  package enum Flow: String, CaseIterable, Sendable {
    case device, browser, password
    case clientCredentials = "client-credentials"
  }

  package static let declaration = MethodDeclaration<BegunSignIn>(
    "session.beginSignIn", "Begin to sign in.",
    errors: [
      .unauthenticated, .reauthRequired, .locked, .refreshUnavailable, .unknownAccount, .signInFailed,
      .flowNotSupported,
    ])

  package let account: AccountName
  package let flow: Flow
  /// Also while locked, in the place of the credential there.
  package let replace: Bool

  package init(_ account: AccountName, flow: Flow, replace: Bool = false) {
    self.account = account
    self.flow = flow
    self.replace = replace
  }

  package init(reading params: inout ParameterReader) throws(RPCError) {
    let account = try params.string("account")
    let flow = try params.choice("flow", of: Flow.self)
    let replace = try params.bool("replace", default: false)
    switch flow {
    case .clientCredentials: try params.finish()
    // They are refused whatever else they are given.
    case .device, .browser, .password: break
    }
    self.init(try AccountName(asked: account), flow: flow, replace: replace)
  }

  package var params: JSONObject {
    ["account": .string(account.description), "flow": .string(flow.rawValue), "replace": .bool(replace)]
  }
}

/// A sign-in under way, or one that is finished already.
package struct BegunSignIn: TimelessWireValue {
  /// What `session.awaitSignIn` takes.
  package let id: String
  package let expiresAt: Timestamp?

  package init(id: String, expiresAt: Timestamp?) {
    self.id = id
    self.expiresAt = expiresAt
  }

  package var json: JSON { ["signIn": .string(id), "expiresAt": JSON(expiresAt)] }

  package init?(json: JSON) {
    guard let id = json["signIn"]?.string else { return nil }
    self.init(id: id, expiresAt: json["expiresAt"]?.timestamp)
  }
}

package struct AwaitSignIn: TextMethod {
  package static let declaration = MethodDeclaration<SessionStatus>(
    "session.awaitSignIn", "Wait until a sign-in is finished.", errors: [.unknownAccount, .unknownSignIn])
  package static let parameter = "signIn"

  package let text: String
  package init(_ text: String) { self.text = text }
}

package struct CancelSignIn: TextMethod {
  package static let declaration = MethodDeclaration<Empty>(
    "session.cancelSignIn", "Give up a sign-in.", errors: [.unknownSignIn])
  package static let parameter = "signIn"

  package let text: String
  package init(_ text: String) { self.text = text }
}
