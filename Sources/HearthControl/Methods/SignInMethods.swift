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

/// Begins a sign-in; `session.awaitSignIn` tells how it goes. The flow `password` takes user name and password.
package struct BeginSignIn: ControlMethod {
  package static let declaration = MethodDeclaration<BegunSignIn>(
    "session.beginSignIn", "Begin to sign in.",
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
  /// Also while locked, in the place of the credential there.
  package let replace: Bool

  package init(
    _ account: AccountName, flow: SignInFlow, username: String? = nil, password: Secret? = nil, replace: Bool = false
  ) {
    self.account = account
    self.flow = flow
    self.username = username
    self.password = password
    self.replace = replace
  }
}

/// A sign-in under way, with what the person has to do; or one that is finished already.
package struct BegunSignIn: TimelessWireValue {
  package static let fields = Fields<BegunSignIn>(
    .required("signIn", \.id, .text), .optional("verificationUri", \.verificationURI, .text),
    .optional("verificationUriComplete", \.verificationURIComplete, .text),
    .optional("userCode", \.userCode, .text), .optional("authorizationUrl", \.authorizationURL, .text),
    .optional("expiresAt", \.expiresAt, .time), make: Self.init)

  /// What `session.awaitSignIn` takes.
  package let id: String
  /// Where the person types the code in (RFC 8628, section 3.2).
  package let verificationURI: String?
  package let verificationURIComplete: String?
  package let userCode: String?
  /// Where the browser is sent.
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
    "session.cancelSignIn", "Give up a sign-in.", errors: [.unknownSignIn])
  package static let parameter = "signIn"

  package let text: String
  package init(_ text: String) { self.text = text }
}

/// For a browser on another machine: the address that the provider sent it to, as the person has copied it.
package struct CompleteSignIn: ControlMethod {
  package static let declaration = MethodDeclaration<Empty>(
    "session.completeSignIn", "Go on with the address that the browser was sent to.",
    errors: [.signInFailed, .unknownSignIn])
  package static let parameters = Fields<CompleteSignIn>(
    .required("signIn", \.id, .text), .required("address", \.address, .secret), make: Self.init)

  package let id: String
  /// It holds the authorization code.
  package let address: Secret

  package init(_ id: String, address: Secret) {
    self.id = id
    self.address = address
  }
}
