package import HearthCore

package struct ListSessions: ParameterlessMethod {
  package static let declaration = MethodDeclaration<Sessions>(
    "session.list", "Return the status of every session.", isReadOnly: true)

  package init() {}
}

package struct GetSession: AccountMethod {
  package static let declaration = MethodDeclaration<SessionStatus>(
    "session.get", "Return the status of a session.", isReadOnly: true, errors: [.unknownAccount])

  package let account: AccountName
  package init(_ account: AccountName) { self.account = account }
}

/// Chooses an account for a program that did not specify one.
package struct ChooseAccount: ControlMethod {
  package static let declaration = MethodDeclaration<ChosenAccount>(
    "session.choose", "Return the account that the configuration selects for a URL or directory, and why.",
    isReadOnly: true)
  package static let parameters = Fields<ChooseAccount>(
    .optional("url", \.url, .text), .optional("directories", \.directories, .texts, omitting: []), make: Self.init)

  /// The URL that the token will be sent to, if known.
  package let url: String?
  /// The absolute paths of the program's working directory. The kernel's path is first. If the shell uses a different
  /// path, for example through a symbolic link, the shell's path is second.
  package let directories: [String]

  package init(url: String?, directories: [String]) { (self.url, self.directories) = (url, directories) }
}

/// The account that the configuration selects. If it does not select any, everything except `accounts` is `nil`.
package struct ChosenAccount: TimelessWireValue {
  package static let fields = Fields<ChosenAccount>(
    .optional("account", \.account, .account), .optional("reason", \.reason, .choice),
    .omittable("directory", \.directory, .text), .omittable("url", \.url, .text),
    .optional("accounts", \.accounts, .texts, default: []), make: Self.init)

  package let account: AccountName?
  package let reason: AccountRules.Reason?
  /// The directory in the rule that chose the account, if the rule has one. `url` is the URL in that rule.
  package let directory: String?
  package let url: String?
  package let accounts: [String]
}

extension ChosenAccount {
  package init(_ choice: AccountRules.Choice?, among accounts: [AccountName]) {
    self.init(
      account: choice?.account, reason: choice?.reason, directory: choice?.rule?.directory,
      url: choice?.rule?.url?.description, accounts: accounts.map(\.description))
  }
}

/// Returns a token. If the current token remains valid long enough, the daemon returns it immediately. Otherwise, the
/// daemon first refreshes the token, once for all waiting callers.
package struct GetToken: ControlMethod {
  package static let declaration = MethodDeclaration<Bearer>(
    "session.getToken", "Return a valid token, refreshed if necessary.", isReadOnly: true,
    errors: [.unauthenticated, .reauthRequired, .locked, .refreshUnavailable, .unknownAccount, .originNotAllowed])
  package static let parameters = Fields<GetToken>(
    .required("account", \.account, .account),
    .optional("minValiditySeconds", \.minValidity, .seconds(in: 0...Int(Int32.max))), .optional("url", \.url, .text),
    .optional("scope", \.scope, .text), .optional("audience", \.audience, .text),
    .optional("names", \.wantsNames, .bool, omitting: false), make: Self.init)

  package let account: AccountName
  /// The minimum remaining lifetime of the token, in whole seconds, capped at the lifetime of new tokens minus the
  /// refresh margin. If `nil`, the daemon tries to provide at least a minute, but accepts any valid token while it
  /// cannot refresh.
  package let minValidity: Duration?
  /// The URL that the token will be sent to, or `nil` to skip the check. The call fails if the origin is not in the
  /// account's `api_origins`.
  package let url: String?
  /// The exact scopes that the token must have, separated by spaces (RFC 6749, section 3.3). The call fails if the
  /// account's tokens have different scopes or a different `audience`.
  package let scope: String?
  package let audience: String?
  /// Whether the answer should include the user's names.
  package let wantsNames: Bool

  package init(
    _ account: AccountName, minValidity: Duration? = nil, url: String? = nil, scope: String? = nil,
    audience: String? = nil, wantsNames: Bool = false
  ) {
    (self.account, self.minValidity, self.url) = (account, minValidity, url)
    (self.scope, self.audience, self.wantsNames) = (scope, audience, wantsNames)
  }
}

extension Bearer: TimelessWireValue {
  package static let fields = Fields<Bearer>(
    .required("account", \.account, .account), .required("accessToken", \.token.secret, .secret),
    .required("tokenType", \.type, .text), .optional("expiresAt", \.expiresAt, .time),
    .required("fingerprint", \.token.fingerprint, .fingerprint),
    .optional("subject", \.subjectID, .text), .optional("issuer", \.issuer, .text),
    .omittable("names", \.names, .texts), make: Self.init)

  private var subjectID: String? { subject?.id }

  private init(
    account: AccountName, secret: Secret, type: String, expiresAt: Timestamp?, fingerprint: Fingerprint,
    subject: String?, issuer: String?, names: [String]?
  ) {
    self.init(
      of: account, token: Token(secret: secret, fingerprint: fingerprint), type: type, expiresAt: expiresAt,
      subject: subject.map { Subject(issuer: issuer ?? "", id: $0) }, issuer: issuer, secrets: [secret])
    self.names = names
  }
}

/// Reports that an API answered 401 to a token. A report about the current token causes one refresh. If an API rejects
/// the new token too, the session ends, unless the API has recently accepted a token of the same sign-in. A report
/// changes nothing if the token is outdated or if the API asks for more than a fresh token.
package struct ReportUnauthorized: ControlMethod {
  package static let declaration = MethodDeclaration<SessionStatus>(
    "session.reportUnauthorized", "Report that an API rejected a token with status 401.", errors: [.unknownAccount])
  package static let parameters = Fields<ReportUnauthorized>(
    .required("account", \.account, .account), .required("fingerprint", \.fingerprint, .text),
    .optional("wwwAuthenticate", \.wwwAuthenticate, .text), make: Self.init)

  package let account: AccountName
  /// The token's fingerprint from `session.getToken`. The daemon parses it only after finding the account, so that an
  /// unknown account is reported first.
  package let fingerprint: String
  /// The `WWW-Authenticate` header of the API's response. Join several headers with commas.
  package let wwwAuthenticate: String?

  package init(_ account: AccountName, fingerprint: String, wwwAuthenticate: String? = nil) {
    (self.account, self.fingerprint, self.wwwAuthenticate) = (account, fingerprint, wwwAuthenticate)
  }
}

package struct RefreshSession: AccountMethod {
  package static let declaration = MethodDeclaration<SessionStatus>(
    "session.refresh", "Refresh the account's token now.",
    errors: [.unauthenticated, .reauthRequired, .locked, .refreshUnavailable, .unknownAccount])

  package let account: AccountName
  package init(_ account: AccountName) { self.account = account }
}

package struct RehydrateSessions: AccountsMethod {
  package static let declaration = MethodDeclaration<Sessions>(
    "session.rehydrate", "Read the credentials of one or all accounts again.", errors: [.unknownAccount])

  package let account: AccountName?
  package init(_ account: AccountName?) { self.account = account }
}

package struct LockSessions: AccountsMethod {
  package static let declaration = MethodDeclaration<Sessions>(
    "session.lock", "Lock one or all accounts, so that Hearth provides no tokens and sends no requests.",
    errors: [.unknownAccount, .storageUnavailable])

  package let account: AccountName?
  package init(_ account: AccountName?) { self.account = account }
}

/// Removes the user's lock. If `passphrase` is set, also unseals the credential. If `protection` is `"passphrase"` and
/// nothing is sealed yet, the passphrase is set for the first sign-in.
package struct UnlockSessions: ControlMethod {
  package static let declaration = MethodDeclaration<Sessions>(
    "session.unlock", "Unlock one or all accounts, with a passphrase if the credential needs one.",
    errors: [.locked, .unknownAccount, .storageUnavailable, .wrongPassphrase, .passphraseNeeded])
  package static let parameters = Fields<UnlockSessions>(
    .optional("account", \.account, .account), .optional("passphrase", \.passphrase, .passphrase), make: Self.init)

  package let account: AccountName?
  package let passphrase: Secret?

  package init(_ account: AccountName?, passphrase: Secret? = nil) {
    (self.account, self.passphrase) = (account, passphrase)
  }
}

extension WireType<Secret> {
  fileprivate static var passphrase: WireType {
    secret.refusing(.meaning) { $0.isEmpty ? "must not be empty" : nil }
  }
}

/// Tests the connections to the provider and the APIs step by step and inspects the token. The only side effect is that
/// the token may be refreshed. The `sink` checks examine only files on this machine.
package struct DiagnoseSession: ControlMethod {
  package static let declaration = MethodDeclaration<Diagnoses>(
    "session.diagnose", "Check an account's provider, clock, token, APIs and token files, and report problems.",
    isReadOnly: true,
    errors: [.unknownAccount])
  package static let parameters = Fields<DiagnoseSession>(
    .required("account", \.account, .account),
    .optional(
      "checks", \.checks, .set(known: Diagnosis.Check.allCases.map(\.rawValue).joined(separator: ", ")),
      omitting: Set(Diagnosis.Check.allCases)), make: Self.init)

  package let account: AccountName
  package let checks: Set<Diagnosis.Check>

  package init(_ account: AccountName, _ checks: Set<Diagnosis.Check> = Set(Diagnosis.Check.allCases)) {
    (self.account, self.checks) = (account, checks)
  }
}

/// The results of `session.diagnose`, in the order of the checks.
package struct Diagnoses: TimelessWireValue {
  package static let fields = Fields<Diagnoses>(
    .required("checks", \.checks, .array(Diagnosis.fields)), make: Self.init)

  package let checks: [Diagnosis]

  package init(_ checks: [Diagnosis]) { self.checks = checks }
}

extension Diagnosis: TimelessWireValue {
  package static let fields = Fields<Diagnosis>(
    .required("check", \.check, .choice), .required("verdict", \.verdict, .choice),
    .required("message", \.message, .text), .omittable("path", \.path, .text), make: Self.init)
}
