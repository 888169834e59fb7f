package import HearthCore

/// `SessionStatus` of the contract (section 3).
extension SessionStatus: WireValue {
  package func json(at now: Timestamp) -> JSON {
    [
      "account": .string(account.description), "subject": JSON(subject?.id), "issuer": JSON(subject?.issuer ?? issuer),
      "state": .string(state.name), "reason": JSON(state.reason), "message": .string(message),
      "action": JSON(action?.rawValue), "route": .string(state.route.rawValue), "since": JSON(since),
      "token": token?.json(at: now) ?? .null,
      "refresh": [
        "inFlight": .bool(isRefreshing), "failures": JSON(history.failures), "lastAt": JSON(history.lastAt),
        "lastResult": JSON(history.lastOutcome?.rawValue), "nextAttemptAt": JSON(nextAttemptAt),
        "lastError": JSON(history.lastError),
      ],
      "credential": [
        "readable": .bool(isReadable), "pendingWrite": .bool(isWritePending), "error": JSON(credentialError),
      ],
      // No way to sign in leaves anything under way in this version.
      "signIn": .null,
    ]
  }

  package init?(json: JSON) {
    let refresh = json["refresh"]
    let credential = json["credential"]
    guard let account = json["account"]?.account, let name = json["state"]?.string,
      let state = SessionState(
        name: name, reason: json["reason"]?.string, detail: credential?["error"]?.string ?? ""),
      let message = json["message"]?.string, json["route"]?.string == state.route.rawValue,
      let since = json["since"]?.timestamp, let isRefreshing = refresh?["inFlight"]?.bool,
      let failures = refresh?["failures"]?.int, let isReadable = credential?["readable"]?.bool,
      let isWritePending = credential?["pendingWrite"]?.bool
    else { return nil }
    self.init(account: account, state: state, message: message, since: since, isReadable: isReadable)
    (self.isRefreshing, self.isWritePending) = (isRefreshing, isWritePending)
    let issuer = json["issuer"]?.string
    self.issuer = issuer
    var reader = MemberReader(json)
    // A subject is one within its issuer: without that it names nobody.
    subject = reader.optional("subject") { json in
      json.string.flatMap { id in issuer.map { Subject(issuer: $0, id: id) } }
    }
    action = reader.optional("action") { $0.string.flatMap { SessionState.Action(rawValue: $0) } }
    token = reader.optional("token") { TokenLife(json: $0) }
    credentialError = credential?["error"]?.string
    var refreshes = MemberReader(refresh ?? .null)
    history.failures = failures
    history.lastAt = refreshes.optional("lastAt", \.timestamp)
    history.lastOutcome = refreshes.optional("lastResult") {
      $0.string.flatMap { RefreshHistory.Outcome(rawValue: $0) }
    }
    history.lastError = refreshes.optional("lastError", \.string)
    nextAttemptAt = refreshes.optional("nextAttemptAt", \.timestamp)
    guard reader.isUnderstood, refreshes.isUnderstood else { return nil }
  }
}

extension SessionStatus.TokenLife {
  fileprivate func json(at now: Timestamp) -> JSON {
    [
      "expiresAt": JSON(expiresAt), "remainingSeconds": JSON(seconds: remaining(at: now)),
      "lifetimeSeconds": JSON(seconds: lifetime), "refreshAt": JSON(refreshAt),
      "refreshExpiresAt": JSON(refreshExpiresAt), "health": .string(health(at: now).rawValue),
      "fingerprint": .string(fingerprint.description),
    ]
  }

  fileprivate init?(json: JSON) {
    var reader = MemberReader(json)
    guard let health = json["health"]?.string.flatMap({ Health(rawValue: $0) }),
      let fingerprint = json["fingerprint"]?.string.flatMap({ Fingerprint($0) })
    else { return nil }
    self.init(
      fingerprint, reported: Reported(health: health, remaining: reader.optional("remainingSeconds", \.seconds)))
    expiresAt = reader.optional("expiresAt", \.timestamp)
    lifetime = reader.optional("lifetimeSeconds", \.seconds)
    refreshAt = reader.optional("refreshAt", \.timestamp)
    refreshExpiresAt = reader.optional("refreshExpiresAt", \.timestamp)
    isRenewable = refreshAt != nil
    guard reader.isUnderstood else { return nil }
  }
}

/// Several sessions, by account.
package struct Sessions: WireValue {
  package let sessions: [SessionStatus]

  package init(_ sessions: [SessionStatus]) {
    self.sessions = sessions
  }

  package func json(at now: Timestamp) -> JSON {
    ["sessions": .array(sessions.map { $0.json(at: now) })]
  }

  package init?(json: JSON) {
    guard let sessions: [SessionStatus] = json["sessions"]?.values() else { return nil }
    self.init(sessions)
  }
}
