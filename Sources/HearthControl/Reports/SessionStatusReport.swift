/// `SessionStatus`: what every client is told of a session. Times are RFC 3339 in UTC. Never holds a secret.
package struct SessionStatusReport: Hashable, Sendable {
  package var account: String
  package var subject: String?
  package var issuer: String?
  /// `hydrating`, `locked`, `unauthenticated`, `reauthRequired` or `authenticated`.
  package var state: String
  package var reason: String?
  /// One sentence that says what to do.
  package var message: String
  /// `wait`, `unlock`, `signIn`, `fixConfiguration` or nil.
  package var action: String?
  package var route: String
  package var since: String
  package var token: Token?
  package var refresh: Refresh
  package var credential: Credential
  package var signIn: SignIn?

  package struct Token: Hashable, Sendable {
    /// Nil: it names no expiry; so for the other times and lengths.
    package var expiresAt: String?
    package var remainingSeconds: Int?
    package var lifetimeSeconds: Int?
    package var refreshAt: String?
    package var refreshExpiresAt: String?
    /// `fresh`, `expiring` (inside the margin) or `expired`.
    package var health: String
    package var fingerprint: String

    package init(
      expiresAt: String?, remainingSeconds: Int?, lifetimeSeconds: Int?, refreshAt: String?,
      refreshExpiresAt: String?, health: String, fingerprint: String
    ) {
      self.expiresAt = expiresAt
      self.remainingSeconds = remainingSeconds
      self.lifetimeSeconds = lifetimeSeconds
      self.refreshAt = refreshAt
      self.refreshExpiresAt = refreshExpiresAt
      self.health = health
      self.fingerprint = fingerprint
    }
  }

  package struct Refresh: Hashable, Sendable {
    package var inFlight: Bool
    /// In a row, since the last success.
    package var failures: Int
    package var lastAt: String?
    package var lastResult: String?
    package var nextAttemptAt: String?
    package var lastError: String?

    package init(
      inFlight: Bool = false, failures: Int = 0, lastAt: String? = nil, lastResult: String? = nil,
      nextAttemptAt: String? = nil, lastError: String? = nil
    ) {
      self.inFlight = inFlight
      self.failures = failures
      self.lastAt = lastAt
      self.lastResult = lastResult
      self.nextAttemptAt = nextAttemptAt
      self.lastError = lastError
    }
  }

  package struct Credential: Hashable, Sendable {
    package var readable: Bool
    package var pendingWrite: Bool
    package var error: String?

    package init(readable: Bool, pendingWrite: Bool = false, error: String? = nil) {
      self.readable = readable
      self.pendingWrite = pendingWrite
      self.error = error
    }
  }

  package struct SignIn: Hashable, Sendable {
    package var flow: String
    package var expiresAt: String?

    package init(flow: String, expiresAt: String?) {
      self.flow = flow
      self.expiresAt = expiresAt
    }
  }

  package init(
    account: String, subject: String? = nil, issuer: String? = nil, state: String, reason: String? = nil,
    message: String, action: String? = nil, route: String, since: String, token: Token? = nil,
    refresh: Refresh = Refresh(), credential: Credential, signIn: SignIn? = nil
  ) {
    self.account = account
    self.subject = subject
    self.issuer = issuer
    self.state = state
    self.reason = reason
    self.message = message
    self.action = action
    self.route = route
    self.since = since
    self.token = token
    self.refresh = refresh
    self.credential = credential
    self.signIn = signIn
  }
}

extension SessionStatusReport {
  package var json: JSON {
    [
      "account": .string(account), "subject": JSON(subject), "issuer": JSON(issuer), "state": .string(state),
      "reason": JSON(reason), "message": .string(message), "action": JSON(action), "route": .string(route),
      "since": .string(since), "token": token?.json ?? .null, "refresh": refresh.json,
      "credential": credential.json, "signIn": signIn?.json ?? .null,
    ]
  }

  /// Nil where a field is missing that is never null. Fields of later versions are passed over.
  package init?(json: JSON) {
    guard let account = json["account"]?.string, let state = json["state"]?.string,
      let message = json["message"]?.string, let route = json["route"]?.string, let since = json["since"]?.string,
      let refresh = json["refresh"].flatMap({ Refresh(json: $0) }),
      let credential = json["credential"].flatMap({ Credential(json: $0) })
    else { return nil }
    self.init(
      account: account, subject: json["subject"]?.string, issuer: json["issuer"]?.string, state: state,
      reason: json["reason"]?.string, message: message, action: json["action"]?.string, route: route, since: since,
      token: json["token"].flatMap { Token(json: $0) }, refresh: refresh, credential: credential,
      signIn: json["signIn"].flatMap { SignIn(json: $0) })
  }
}

extension SessionStatusReport.Token {
  fileprivate var json: JSON {
    [
      "expiresAt": JSON(expiresAt), "remainingSeconds": JSON(remainingSeconds),
      "lifetimeSeconds": JSON(lifetimeSeconds), "refreshAt": JSON(refreshAt),
      "refreshExpiresAt": JSON(refreshExpiresAt), "health": .string(health), "fingerprint": .string(fingerprint),
    ]
  }

  fileprivate init?(json: JSON) {
    guard let health = json["health"]?.string, let fingerprint = json["fingerprint"]?.string else { return nil }
    self.init(
      expiresAt: json["expiresAt"]?.string, remainingSeconds: json["remainingSeconds"]?.int,
      lifetimeSeconds: json["lifetimeSeconds"]?.int, refreshAt: json["refreshAt"]?.string,
      refreshExpiresAt: json["refreshExpiresAt"]?.string, health: health, fingerprint: fingerprint)
  }
}

extension SessionStatusReport.Refresh {
  fileprivate var json: JSON {
    [
      "inFlight": .bool(inFlight), "failures": JSON(failures), "lastAt": JSON(lastAt), "lastResult": JSON(lastResult),
      "nextAttemptAt": JSON(nextAttemptAt), "lastError": JSON(lastError),
    ]
  }

  fileprivate init?(json: JSON) {
    guard let inFlight = json["inFlight"]?.bool, let failures = json["failures"]?.int else { return nil }
    self.init(
      inFlight: inFlight, failures: failures, lastAt: json["lastAt"]?.string, lastResult: json["lastResult"]?.string,
      nextAttemptAt: json["nextAttemptAt"]?.string, lastError: json["lastError"]?.string)
  }
}

extension SessionStatusReport.Credential {
  fileprivate var json: JSON {
    ["readable": .bool(readable), "pendingWrite": .bool(pendingWrite), "error": JSON(error)]
  }

  fileprivate init?(json: JSON) {
    guard let readable = json["readable"]?.bool, let pendingWrite = json["pendingWrite"]?.bool else { return nil }
    self.init(readable: readable, pendingWrite: pendingWrite, error: json["error"]?.string)
  }
}

extension SessionStatusReport.SignIn {
  fileprivate var json: JSON {
    ["flow": .string(flow), "expiresAt": JSON(expiresAt)]
  }

  fileprivate init?(json: JSON) {
    guard let flow = json["flow"]?.string else { return nil }
    self.init(flow: flow, expiresAt: json["expiresAt"]?.string)
  }
}
