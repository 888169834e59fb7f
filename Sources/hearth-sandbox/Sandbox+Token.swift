import FoundationEssentials
import HTTPTypes
import Hummingbird
import Synchronization

extension Sandbox {
  static let tokenPaths = Set([Endpoint.token, .jsonRefresh, .jsonLogin].map(\.rawValue))

  /// The token endpoint (RFC 6749, section 3.2). Where it rejects a token in a JSON request the status is 401, as with many
  /// backends.
  func token(_ call: Call, grantType: String?) -> Response {
    let result = Result { () throws(ErrorBody) in try grant(call, grantType: grantType) }
    state.withLock { state in
      let outcome =
        switch result {
        case .success: "success"
        case .failure(let error): error.error
        }
      state.statistics.tokenOutcomes[outcome, default: 0] += 1
    }
    switch result {
    case .success(let grant): return .json(grant)
    case .failure(let error):
      let isUnauthorized = call.isJSON && error.error == "invalid_grant"
      return refused(error, status: isUnauthorized ? .unauthorized : .badRequest)
    }
  }

  private func grant(_ call: Call, grantType: String?) throws(ErrorBody) -> Grant {
    let clientID = try authenticatedClient(call)
    let fields = call.fields
    switch grantType {
    case "authorization_code": return try redeem(call, clientID: clientID)
    case DeviceCodes.grantType: return try poll(call, clientID: clientID)
    case "refresh_token":
      guard let token = fields["refresh_token"] else {
        throw ErrorBody(error: "invalid_request", description: "There is no refresh_token.")
      }
      return try refresh(token, clientID: clientID, mistake: call.mistake)
    case "client_credentials":
      guard let clientID else { throw ErrorBody(error: "invalid_client", description: "There is no client_id.") }
      return issue(subject: clientID, clientID: clientID, scope: fields["scope"] ?? "", hasRefreshToken: false)
    case "password":
      guard let name = fields["username"], fields["password"] == settings.password else {
        throw ErrorBody(error: "invalid_grant", description: "The user name or the password is wrong.")
      }
      return issue(subject: name, clientID: clientID, scope: fields["scope"] ?? "openid offline_access")
    case nil: throw ErrorBody(error: "invalid_request", description: "There is no grant_type.")
    case .some: throw ErrorBody(error: "unsupported_grant_type", description: "This grant type is not supported.")
    }
  }

  /// Exchanges the code that a browser brought (RFC 6749, section 4.1.3).
  private func redeem(_ call: Call, clientID: String?) throws(ErrorBody) -> Grant {
    let (fields, now) = (call.fields, now)
    var outcome = state.withLock { $0.codes.redeem(fields, clientID: clientID, at: now) }
    if call.mistake == .replayedCode, case .accepted = outcome { outcome = .replayed(family: nil) }
    switch outcome {
    case .accepted(let request, let login):
      let (grant, family) = issue(
        to: request.clientID, scope: request.scope, login: login, nonce: request.nonce, mistake: call.mistake)
      state.withLock { $0.codes.redeemed(fields["code"], into: family) }
      return grant
    case .replayed(let family):
      state.withLock { state in
        state.statistics.codesReplayed += 1
        if let family { state.provider.revoke(family: family) }
      }
      throw ErrorBody(
        error: "invalid_grant", description: "The code was used before; what it gave is revoked.")
    case .rejected(let description): throw ErrorBody(error: "invalid_grant", description: description)
    }
  }

  private func poll(_ call: Call, clientID: String?) throws(ErrorBody) -> Grant {
    let (fields, now) = (call.fields, now)
    let (scope, login) = try state.withLock { state in
      state.devices.poll(fields["device_code"], clientID: clientID, mistake: call.mistake, at: now)
    }.get()
    return issue(to: clientID, scope: scope, login: login, nonce: nil, mistake: call.mistake).grant
  }

  private func refresh(_ token: String, clientID: String?, mistake: Mistake?) throws(ErrorBody) -> Grant {
    let (issuer, now) = (issuer, now)
    let outcome = state.withLock { state in
      let outcome = state.provider.refresh(
        token, clientID: clientID, grace: settings.grace, issuer: issuer, mistake: mistake, at: now)
      switch outcome {
      case .granted(_, let subject, let again):
        state.statistics.refreshes[subject, default: 0] += 1
        if again { state.statistics.graceReuses += 1 }
      case .rejected(_, let isReuse):
        if isReuse { state.statistics.reuseDetected += 1 }
      }
      return outcome
    }
    switch outcome {
    case .granted(let grant, _, _): return grant
    case .rejected(let error, _): throw error
    }
  }

  /// A first grant without a sign-in on a page.
  func issue(
    subject: String, clientID: String?, scope: String, lifetime: Double? = nil, hasRefreshToken: Bool = true
  ) -> Grant {
    let (issuer, now) = (issuer, now)
    let family = IdentityProvider.Family(
      subject: subject, clientID: clientID, scope: scope, lifetime: lifetime ?? settings.tokenLifetime,
      hasRefreshToken: hasRefreshToken)
    return state.withLock { $0.provider.grant(family, issuer: issuer, at: now).0 }
  }

  /// The grant of a person who said yes. With "openid" there is an ID token, and a refresh token only with
  /// "offline_access" (OpenID Connect Core, section 11); plain OAuth clients always get one.
  private func issue(
    to clientID: String?, scope: String, login: Login, nonce: String?, mistake: Mistake?
  ) -> (grant: Grant, family: Int) {
    let (issuer, now) = (issuer, now)
    let scopes = Set(scope.split(separator: " "))
    let isOpenID = scopes.contains("openid")
    let family = IdentityProvider.Family(
      subject: login.subject, clientID: clientID, scope: scope, lifetime: settings.tokenLifetime,
      hasRefreshToken: !isOpenID || scopes.contains("offline_access"), hasIDToken: isOpenID,
      authenticatedAt: login.at)
    return state.withLock { state in
      state.statistics.signIns[login.subject, default: 0] += 1
      let (grant, number) = state.provider.grant(family, nonce: nonce, issuer: issuer, mistake: mistake, at: now)
      return (grant, number)
    }
  }
}
