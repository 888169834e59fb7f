package import HearthCore

package struct ListSessions: ParameterlessMethod {
  package static let declaration = MethodDeclaration<Sessions>(
    "session.list", "Give the status of every session.", isReadOnly: true)

  package init() {}
}

package struct GetSession: AccountMethod {
  package static let declaration = MethodDeclaration<SessionStatus>(
    "session.get", "Give the status of a session.", isReadOnly: true, errors: [.unknownAccount])

  package let account: AccountName
  package init(_ account: AccountName) { self.account = account }
}

/// A token that is valid long enough is given at once; else one refresh is awaited, one however many ask.
package struct GetToken: ControlMethod {
  package static let declaration = MethodDeclaration<GivenToken>(
    "session.getToken", "Give a token that is valid, refreshed where needed.", isReadOnly: true,
    errors: [.unauthenticated, .reauthRequired, .locked, .refreshUnavailable, .unknownAccount, .originNotAllowed])
  package static let parameters = Fields<GetToken>(
    .required("account", \.account, .account),
    .optional("minValiditySeconds", \.minValidity, .seconds(in: 0...Int(Int32.max))), .optional("url", \.url, .text),
    make: Self.init)

  package let account: AccountName
  /// How long the token is to be valid at least, in whole seconds; nil: as long as the daemon finds right.
  package let minValidity: Duration?
  /// Where the token is to be sent: it is given only where that is one of the account's `api_origins`. Nil: the client
  /// sees to that.
  package let url: String?

  package init(_ account: AccountName, minValidity: Duration? = nil, url: String? = nil) {
    self.account = account
    self.minValidity = minValidity
    self.url = url
  }
}

/// A token, and whose it is.
package struct GivenToken: TimelessWireValue {
  package static let fields = Fields<GivenToken>(
    .required("account", \.account, .account), .required("accessToken", \.bearer.token.secret, .secret),
    .required("tokenType", \.bearer.type, .text), .optional("expiresAt", \.bearer.expiresAt, .time),
    .required("fingerprint", \.bearer.token.fingerprint, .fingerprint),
    .optional("subject", \.subjectID, .text), .optional("issuer", \.issuer, .text), make: Self.init)

  package let account: AccountName
  package let bearer: Bearer
  package let issuer: String?

  /// `issuer`: the configured one, where the user is not known.
  package init(_ account: AccountName, _ bearer: Bearer, issuer: String?) {
    self.account = account
    self.bearer = bearer
    self.issuer = bearer.subject?.issuer ?? issuer
  }

  private init(
    account: AccountName, secret: Secret, type: String, expiresAt: Timestamp?, fingerprint: Fingerprint,
    subject: String?, issuer: String?
  ) {
    let owner = subject.map { Subject(issuer: issuer ?? "", id: $0) }
    let token = Token(secret: secret, fingerprint: fingerprint)
    let bearer = Bearer(token: token, type: type, expiresAt: expiresAt, subject: owner, secrets: [secret])
    self.init(account, bearer, issuer: issuer)
  }

  private var subjectID: String? { bearer.subject?.id }
}

/// For a client whose token an API answered with 401. The report of an older token changes nothing; of the current one it
/// forces one refresh, and of a new one it ends the session. Where the API asks for more than a fresh token it changes nothing.
package struct ReportUnauthorized: ControlMethod {
  package static let declaration = MethodDeclaration<SessionStatus>(
    "session.reportUnauthorized", "Report that an API answered 401 to a token.", errors: [.unknownAccount])
  package static let parameters = Fields<ReportUnauthorized>(
    .required("account", \.account, .account), .required("fingerprint", \.fingerprint, .text),
    .optional("wwwAuthenticate", \.wwwAuthenticate, .text), make: Self.init)

  package let account: AccountName
  /// The fingerprint of the token, as `session.getToken` gave it. The daemon reads it once it knows the account.
  package let fingerprint: String
  /// The field of the API's answer; several are joined by commas.
  package let wwwAuthenticate: String?

  package init(_ account: AccountName, fingerprint: String, wwwAuthenticate: String? = nil) {
    self.account = account
    self.fingerprint = fingerprint
    self.wwwAuthenticate = wwwAuthenticate
  }
}

package struct RefreshSession: AccountMethod {
  package static let declaration = MethodDeclaration<SessionStatus>(
    "session.refresh", "Refresh the grant now.",
    errors: [.unauthenticated, .reauthRequired, .locked, .refreshUnavailable, .unknownAccount])

  package let account: AccountName
  package init(_ account: AccountName) { self.account = account }
}

package struct RehydrateSessions: AccountsMethod {
  package static let declaration = MethodDeclaration<Sessions>(
    "session.rehydrate", "Read the credential again.", errors: [.unknownAccount])

  package let account: AccountName?
  package init(_ account: AccountName?) { self.account = account }
}

package struct LockSessions: AccountsMethod {
  package static let declaration = MethodDeclaration<Sessions>(
    "session.lock", "Lock: no token is given and nothing is sent until \"unlock\".", errors: [.unknownAccount])

  package let account: AccountName?
  package init(_ account: AccountName?) { self.account = account }
}

/// With `protection = "passphrase"` and nothing sealed yet, the passphrase is set for the first sign-in.
package struct UnlockSessions: ControlMethod {
  package static let declaration = MethodDeclaration<Sessions>(
    "session.unlock", "Take the user's lock away, and open what a passphrase seals.",
    errors: [.locked, .unknownAccount, .storageUnavailable, .wrongPassphrase, .passphraseNeeded])
  package static let parameters = Fields<UnlockSessions>(
    .optional("account", \.account, .account), .optional("passphrase", \.passphrase, .passphrase), make: Self.init)

  package let account: AccountName?
  package let passphrase: Secret?

  package init(_ account: AccountName?, passphrase: Secret? = nil) {
    self.account = account
    self.passphrase = passphrase
  }
}

extension WireType<Secret> {
  fileprivate static var passphrase: WireType {
    secret.refusing(.meaning) { $0.isEmpty ? "is empty: a passphrase has one character at least" : nil }
  }
}

/// Tries the way to the provider and the APIs, step by step, and looks at the token. Nothing is changed by it, but the
/// token may be refreshed; of what this machine knows by itself (`sink`) nobody is asked.
package struct DiagnoseSession: ControlMethod {
  package static let declaration = MethodDeclaration<Diagnoses>(
    "session.diagnose", "Try each step on the way to the provider and the APIs, and say what is wrong.",
    isReadOnly: true,
    errors: [.unknownAccount])
  package static let parameters = Fields<DiagnoseSession>(
    .required("account", \.account, .account),
    .optional("checks", \.checks, .checks, omitting: Set(Diagnosis.Check.allCases)), make: Self.init)

  package let account: AccountName
  /// The checks that are wanted.
  package let checks: Set<Diagnosis.Check>

  package init(_ account: AccountName, _ checks: Set<Diagnosis.Check> = Set(Diagnosis.Check.allCases)) {
    self.account = account
    self.checks = checks
  }
}

extension WireType<Set<Diagnosis.Check>> {
  fileprivate static var checks: WireType {
    let all = Diagnosis.Check.allCases
    return WireType<[String]>.texts.refusing(.meaning, .array(of: .choice(among: all.map(\.rawValue)))) { names in
      let unknown = names.first { Diagnosis.Check(rawValue: $0) == nil }
      return unknown.map { "has \($0.quotedName); there are \(all.map(\.rawValue).joined(separator: ", "))" }
    }.mapped(
      "", to: { names in Set(names.compactMap(Diagnosis.Check.init(rawValue:))) },
      from: { checks in all.filter(checks.contains).map(\.rawValue) })
  }
}
