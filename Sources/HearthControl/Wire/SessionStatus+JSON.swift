package import HearthCore

extension SessionStatus: WireValue {
  package static let fields = Fields<SessionStatus>(
    .required("account", \.account, .account), .optional("subject", \.subjectID, .text),
    .optional("issuer", \.knownIssuer, .text), .required("state", \.state.name, .stateName),
    .optional("reason", \.state.reason, .text), .required("message", \.message, .text),
    .optional("action", \.action, .choice), .required("route", \.state.route, .choice),
    .required("since", \.since, .time), .optional("token", \.token, .tokenLife), refreshField, credentialField,
    .optional("signIn", \.signIn, .object(SignInProgress.fields)), .omittable("username", \.username, .text),
    make: make)

  private typealias Refresh = (Bool, Int, Timestamp?, RefreshHistory.Outcome?, Timestamp?, String?)
  private static let refreshField = Field<SessionStatus, Refresh>.within(
    "refresh", .required("inFlight", \.isRefreshing, .bool), .required("failures", \.history.failures, .int),
    .optional("lastAt", \.history.lastAt, .time), .optional("lastResult", \.history.lastOutcome, .choice),
    .optional("nextAttemptAt", \.nextAttemptAt, .time), .optional("lastError", \.history.lastError, .text))

  private typealias Reading = (Bool, Bool, String?)
  private static let credentialField = Field<SessionStatus, Reading>.within(
    "credential", .required("readable", \.isReadable, .bool), .required("pendingWrite", \.isWritePending, .bool),
    .optional("error", \.credentialError, .text))

  private var subjectID: String? { subject?.id }
  private var knownIssuer: String? { subject?.issuer ?? issuer }

  @Sendable private static func make(
    account: AccountName, subject: String?, issuer: String?, name: String, reason: String?, message: String,
    action: SessionState.Action?, route: SessionState.Route, since: Timestamp, token: TokenLife?, refresh: Refresh,
    credential: Reading, signIn: SignInProgress?, username: String?
  ) -> SessionStatus? {
    let (isReadable, isWritePending, credentialError) = credential
    // Refuse a subject without an issuer, because subjects are unique only within an issuer.
    guard let state = SessionState(name: name, reason: reason, detail: credentialError ?? ""), state.route == route,
      subject == nil || issuer != nil
    else { return nil }
    var status = SessionStatus(account: account, state: state, message: message, since: since, isReadable: isReadable)
    status.subject = subject.map { Subject(issuer: issuer ?? "", id: $0) }
    (status.issuer, status.action, status.token) = (issuer, action, token)
    (
      status.isRefreshing, status.history.failures, status.history.lastAt, status.history.lastOutcome,
      status.nextAttemptAt, status.history.lastError
    ) = refresh
    (status.isWritePending, status.credentialError) = (isWritePending, credentialError)
    (status.signIn, status.username) = (signIn, username)
    return status
  }
}

extension WireType<String> {
  /// The name of a session's state. Accepts unknown names, which `SessionStatus` refuses when it is created.
  static var stateName: WireType {
    WireType("must be a string", .choice(among: SessionState.names), read: \.string, write: JSON.string)
  }
}

extension SignInProgress {
  fileprivate static let fields = Fields<Self>(
    .required("flow", \.flow, .choice), .required("expiresAt", \.expiresAt, .time),
    .omittable("message", \.message, .text), make: Self.init)
}

extension SessionStatus.TokenLife {
  fileprivate static let fields = Fields<Self>(
    .optional("expiresAt", \.expiresAt, .time), .optional("remainingSeconds", \.reportedRemaining, .seconds()),
    .optional("lifetimeSeconds", \.lifetime, .seconds()), .optional("refreshAt", \.refreshAt, .time),
    .optional("refreshExpiresAt", \.refreshExpiresAt, .time), .required("health", \.writtenHealth, .choice),
    .required("fingerprint", \.fingerprint, .fingerprint), make: make)

  private var writtenHealth: Health { reportedHealth ?? .fresh }

  @Sendable private static func make(
    expiresAt: Timestamp?, remaining: Duration?, lifetime: Duration?, refreshAt: Timestamp?,
    refreshExpiresAt: Timestamp?, health: Health, fingerprint: Fingerprint
  ) -> Self {
    var life = Self(fingerprint, health: health, remaining: remaining)
    (life.expiresAt, life.lifetime, life.refreshAt) = (expiresAt, lifetime, refreshAt)
    (life.refreshExpiresAt, life.isRenewable) = (refreshExpiresAt, refreshAt != nil)
    return life
  }
}

extension WireType<SessionStatus.TokenLife> {
  /// The lifetime of a token. Health and remaining time are computed when the answer is written.
  fileprivate static var tokenLife: WireType {
    let object = WireType.object(SessionStatus.TokenLife.fields)
    return WireType(schema: object.schema, read: object.read) { life, now in
      var life = life
      (life.reportedHealth, life.reportedRemaining) = (life.health(at: now), life.remaining(at: now))
      return object.write(life, now)
    }
  }
}

/// Several sessions, sorted by account name.
package struct Sessions: WireValue {
  package static let fields = Fields<Sessions>(
    .required("sessions", \.sessions, .array(SessionStatus.fields)), make: Self.init)

  package let sessions: [SessionStatus]

  package init(_ sessions: [SessionStatus]) { self.sessions = sessions }
}
