import FoundationEssentials
import HTTPTypes
import Hummingbird
import Synchronization

extension Sandbox {
  static let tokenPaths = Set([Endpoint.token, .jsonRefresh, .jsonLogin].map(\.rawValue))

  /// Handles the token endpoint (RFC 6749, section 3.2). For a JSON request, the response to a rejected token or
  /// password has the status 401, as in many backends.
  func token(_ call: Call, grantType: String?) throws -> Response {
    func count(_ outcome: String) { state.withLock { $0.statistics.tokenOutcomes[outcome, default: 0] += 1 } }
    do {
      let grant = try grant(call, grantType: grantType)
      count("success")
      return .json(grant)
    } catch let error as ErrorBody {
      count(error.error)
      return refused(error, status: call.isJSON && error.error == "invalid_grant" ? .unauthorized : .badRequest)
    }
  }

  private func grant(_ call: Call, grantType: String?) throws -> Grant {
    let clientID = try authenticatedClient(call)
    let fields = call.fields
    switch grantType {
    case "authorization_code": return try redeem(call, clientID: clientID)
    case DeviceCodes.grantType: return try poll(call, clientID: clientID)
    case "refresh_token":
      guard let token = fields["refresh_token"] else {
        throw ErrorBody("invalid_request", "The refresh_token is missing.")
      }
      return try refresh(token, clientID: clientID, mistake: call.mistake)
    case "client_credentials":
      guard let clientID else { throw ErrorBody("invalid_client", "The client_id is missing.") }
      return issue(subject: clientID, clientID: clientID, scope: fields["scope"] ?? "", hasRefreshToken: false)
    case "password":
      guard let name = fields["username"], fields["password"] == settings.password else {
        throw ErrorBody("invalid_grant", "The user name or the password is wrong.")
      }
      return issue(subject: name, clientID: clientID, scope: fields["scope"] ?? "openid offline_access")
    case nil: throw ErrorBody("invalid_request", "The grant_type is missing.")
    case .some: throw ErrorBody("unsupported_grant_type", "This grant type is not supported.")
    }
  }

  /// Exchanges an authorization code for a grant (RFC 6749, section 4.1.3).
  private func redeem(_ call: Call, clientID: String?) throws -> Grant {
    let code = try state.withLock { try $0.codes.redeem(call.fields, clientID: clientID, at: now) }
    guard !code.isUsed, call.mistake != .replayedCode else {
      state.withLock { state in
        state.statistics.codesReplayed += 1
        if let family = code.family { state.provider.revoke(family: family) }
      }
      throw ErrorBody("invalid_grant", "The code has already been used, so its tokens have been revoked.")
    }
    let (grant, family) = issue(
      to: code.request.clientID, scope: code.request.scope, login: code.login, nonce: code.request.nonce,
      mistake: call.mistake)
    state.withLock { $0.codes.redeemed(call.fields["code"], into: family) }
    return grant
  }

  private func poll(_ call: Call, clientID: String?) throws -> Grant {
    let (scope, login) = try state.withLock { state in
      try state.devices.poll(call.fields["device_code"], clientID: clientID, mistake: call.mistake, at: now)
    }
    return issue(to: clientID, scope: scope, login: login, nonce: nil, mistake: call.mistake).grant
  }

  private func refresh(_ token: String, clientID: String?, mistake: Mistake?) throws -> Grant {
    let issuer = issuer
    return try state.withLock { state in
      try state.provider.refresh(
        token, clientID: clientID, grace: settings.grace.value, issuer: issuer, mistake: mistake, at: now,
        countedIn: &state.statistics)
    }
  }

  /// Issues a grant without a sign-in page.
  func issue(
    subject: String, clientID: String?, scope: String, lifetime: Double? = nil, hasRefreshToken: Bool = true
  ) -> Grant {
    let issuer = issuer
    let family = IdentityProvider.Family(
      subject: subject, clientID: clientID, scope: scope, lifetime: lifetime ?? settings.tokenLifetime.value,
      hasRefreshToken: hasRefreshToken)
    return state.withLock { $0.provider.grant(family, issuer: issuer, at: now).grant }
  }

  /// Issues a grant after the user has consented. With the scope `openid`, the grant contains an ID token, but a
  /// refresh token only with `offline_access` (OpenID Connect Core, section 11). Without `openid`, the grant always
  /// contains a refresh token.
  private func issue(
    to clientID: String?, scope: String, login: Login, nonce: String?, mistake: Mistake?
  ) -> (grant: Grant, family: Int) {
    let issuer = issuer
    let scopes = Set(scope.split(separator: " "))
    let isOpenID = scopes.contains("openid")
    let family = IdentityProvider.Family(
      subject: login.subject, clientID: clientID, scope: scope, lifetime: settings.tokenLifetime.value,
      hasRefreshToken: !isOpenID || scopes.contains("offline_access"), hasIDToken: isOpenID,
      authenticatedAt: login.at)
    return state.withLock { state in
      state.statistics.signIns[login.subject, default: 0] += 1
      return state.provider.grant(family, nonce: nonce, issuer: issuer, mistake: mistake, at: now)
    }
  }
}
