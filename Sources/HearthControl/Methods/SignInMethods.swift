package import HearthCore

/// Signs in with existing tokens. If there is only a refresh token, the daemon uses it immediately and reports the
/// result.
package struct ImportGrant: ControlMethod {
  package static let declaration = MethodDeclaration<SessionStatus>(
    "session.import", "Sign in with tokens obtained elsewhere.",
    errors: [.locked, .refreshUnavailable, .unknownAccount, .storageUnavailable, .signInFailed, .passphraseNeeded])
  package static let parameters = Fields<ImportGrant>(
    .required("account", \.account, .account),
    .optional("refreshToken", \.refreshToken, .token(\.isRefreshToken)),
    .optional("accessToken", \.accessToken, .token(\.isBearerToken)),
    .optional("idToken", \.idToken, .token(\.isBearerToken)),
    .optional("expiresIn", \.expiresIn, .seconds(in: 0...Int(Int32.max))),
    .optional("replace", \.replace, .bool, default: false), make: Self.init)

  package let account: AccountName
  /// The refresh token. At least one of `refreshToken` and `accessToken` is required. The daemon checks this after
  /// finding the account, so that an unknown account is reported first.
  package let refreshToken: Secret?
  package let accessToken: Secret?
  package let idToken: Secret?
  /// The remaining lifetime of the access token, in whole seconds.
  package let expiresIn: Duration?
  /// Whether to sign in to a locked account and replace the locked credential.
  package let replace: Bool

  package init(
    _ account: AccountName, refreshToken: Secret? = nil, accessToken: Secret? = nil, idToken: Secret? = nil,
    expiresIn: Duration? = nil, replace: Bool = false
  ) {
    (self.account, self.refreshToken, self.accessToken) = (account, refreshToken, accessToken)
    (self.idToken, self.expiresIn, self.replace) = (idToken, expiresIn, replace)
  }
}

extension WireType<Secret> {
  fileprivate static func token(_ isInForm: @escaping @Sendable (String) -> Bool) -> WireType {
    WireType<String>.text.refusing { text in
      if text.isEmpty { return "is empty" }
      guard isInForm(text) else { return "contains characters that are not allowed in tokens" }
      // Limit each token, because all three must fit in a sealed credential file that Hearth can read back.
      return text.utf8.count > 128 << 10 ? "is longer than 128 KiB" : nil
    }.mapped("", to: { Secret($0) }, from: { $0.reveal() })
  }
}

/// Starts a sign-in. `session.awaitSignIn` returns its result. The `password` flow requires a user name and password.
package struct BeginSignIn: ControlMethod {
  package static let declaration = MethodDeclaration<BegunSignIn>(
    "session.beginSignIn", "Start a sign-in.",
    errors: [
      .unauthenticated, .reauthRequired, .locked, .refreshUnavailable, .unknownAccount, .storageUnavailable,
      .signInFailed, .signInExpired, .signInDenied, .flowNotSupported, .passphraseNeeded,
    ])
  package static let parameters = Fields<BeginSignIn>(
    .required("account", \.account, .account), .required("flow", \.flow, .choice),
    .optional("username", \.username, .text), .optional("password", \.password, .secret),
    .optional("replace", \.replace, .bool, default: false), make: Self.init)

  package let account: AccountName
  package let flow: SignInFlow
  package let username: String?
  package let password: Secret?
  /// Whether to sign in to a locked account and replace the locked credential.
  package let replace: Bool

  package init(
    _ account: AccountName, flow: SignInFlow, username: String? = nil, password: Secret? = nil, replace: Bool = false
  ) {
    (self.account, self.flow, self.username) = (account, flow, username)
    (self.password, self.replace) = (password, replace)
  }
}

/// A sign-in that is in progress or has already finished, with instructions for the user.
package struct BegunSignIn: TimelessWireValue {
  package static let fields = Fields<BegunSignIn>(
    .required("signIn", \.id, .text), .optional("verificationUri", \.verificationURI, .text),
    .optional("verificationUriComplete", \.verificationURIComplete, .text),
    .optional("userCode", \.userCode, .text), .optional("authorizationUrl", \.authorizationURL, .text),
    .optional("expiresAt", \.expiresAt, .time), make: Self.init)

  /// The id to pass to `session.awaitSignIn`.
  package let id: String
  /// The page where the user enters the code (RFC 8628, section 3.2).
  package let verificationURI: String?
  package let verificationURIComplete: String?
  package let userCode: String?
  /// The URL to open in the browser.
  package let authorizationURL: String?
  package let expiresAt: Timestamp?

  package init(
    id: String, verificationURI: String? = nil, verificationURIComplete: String? = nil, userCode: String? = nil,
    authorizationURL: String? = nil, expiresAt: Timestamp?
  ) {
    self.id = id
    self.verificationURI = verificationURI
    self.verificationURIComplete = verificationURIComplete
    self.userCode = userCode
    self.authorizationURL = authorizationURL
    self.expiresAt = expiresAt
  }
}

package struct AwaitSignIn: TextMethod {
  package static let declaration = MethodDeclaration<SessionStatus>(
    "session.awaitSignIn", "Wait until a sign-in is finished.", isReadOnly: true,
    errors: [
      .locked, .refreshUnavailable, .unknownAccount, .storageUnavailable, .signInFailed, .signInExpired, .signInDenied,
      .unknownSignIn, .passphraseNeeded,
    ])
  package static let parameter = "signIn"

  package let text: String
  package init(_ text: String) { self.text = text }
}

package struct CancelSignIn: TextMethod {
  package static let declaration = MethodDeclaration<Empty>(
    "session.cancelSignIn", "Cancel a sign-in.", errors: [.unknownSignIn])
  package static let parameter = "signIn"

  package let text: String
  package init(_ text: String) { self.text = text }
}

/// Completes a sign-in whose browser cannot reach Hearth, for example because it runs on another machine. The user
/// copies the URL that the provider redirected the browser to.
package struct CompleteSignIn: ControlMethod {
  package static let declaration = MethodDeclaration<Empty>(
    "session.completeSignIn", "Continue a sign-in with the address that the browser was redirected to.",
    errors: [.signInFailed, .unknownSignIn])
  package static let parameters = Fields<CompleteSignIn>(
    .required("signIn", \.id, .text), .required("address", \.address, .secret), make: Self.init)

  package let id: String
  /// The URL. It is secret because it contains the authorization code.
  package let address: Secret

  package init(_ id: String, address: Secret) { (self.id, self.address) = (id, address) }
}
