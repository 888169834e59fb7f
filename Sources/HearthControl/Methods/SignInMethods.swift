package import HearthCore

/// A refresh token alone is used at once, and the answer says how that went.
package struct ImportGrant: ControlMethod {
  package static let declaration = MethodDeclaration<SessionStatus>(
    "session.import", "Sign in with tokens from elsewhere.",
    errors: [.locked, .refreshUnavailable, .unknownAccount, .storageUnavailable, .signInFailed, .passphraseNeeded])
  package static let parameters = Fields<ImportGrant>(
    .required("account", \.account, .account),
    .optional("refreshToken", \.refreshToken, .token(TokenSyntax.isRefreshToken)),
    .optional("accessToken", \.accessToken, .token(TokenSyntax.isBearer)),
    .optional("idToken", \.idToken, .token(TokenSyntax.isBearer)),
    .optional("expiresIn", \.expiresIn, .seconds(in: 0...Int(Int32.max))),
    .optional("replace", \.replace, .bool, default: false), make: Self.init)

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
}

extension WireType<Secret> {
  fileprivate static func token(_ isInForm: @escaping @Sendable (String) -> Bool) -> WireType {
    WireType<String>.text.refusing { text in
      if text.isEmpty { return "is empty" }
      guard isInForm(text) else { return "has characters that no token has" }
      // All three, sealed, have to go into a credential file that is read again.
      return text.utf8.count > 128 << 10 ? "is longer than 128 KiB" : nil
    }.mapped("", to: { Secret($0) }, from: { $0.reveal() })
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
  package static let parameters = Fields<BeginSignIn>(
    .required("account", \.account, .account), .required("flow", \.flow, .flow),
    .optional("replace", \.replace, .bool, default: false), make: Self.init)

  package let account: AccountName
  package let flow: Flow
  /// Also while locked, in the place of the credential there.
  package let replace: Bool

  package init(_ account: AccountName, flow: Flow, replace: Bool = false) {
    self.account = account
    self.flow = flow
    self.replace = replace
  }
}

extension WireType<BeginSignIn.Flow> {
  /// The flows that need a person are refused whatever else they are given.
  fileprivate static var flow: WireType {
    let choice = WireType.choice
    return WireType(
      read: { json, name, reader in
        let flow = choice.read(json, name, &reader)
        if flow != .clientCredentials { reader.isLenient = true }
        return flow
      }, write: choice.write)
  }
}

/// A sign-in under way, or one that is finished already.
package struct BegunSignIn: TimelessWireValue {
  package static let fields = Fields<BegunSignIn>(
    .required("signIn", \.id, .text), .optional("expiresAt", \.expiresAt, .time), make: Self.init)

  /// What `session.awaitSignIn` takes.
  package let id: String
  package let expiresAt: Timestamp?

  package init(id: String, expiresAt: Timestamp?) {
    self.id = id
    self.expiresAt = expiresAt
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
