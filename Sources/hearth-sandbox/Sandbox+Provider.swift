import FoundationEssentials
import HTTPTypes
import Hummingbird
import Synchronization

extension Sandbox {
  static let tokenPaths: Set = ["/token", "/auth/refresh", "/auth/login"]

  /// Carries out a request to the provider or the API.
  func perform(_ call: Call) -> Response {
    switch (call.method, call.path) {
    case (.get, "/.well-known/openid-configuration"): .json(Discovery(issuer: issuer.url))
    case (.post, "/token"): token(call, grantType: call.fields["grant_type"])
    case (.post, "/auth/refresh"): token(call, grantType: "refresh_token")
    case (.post, "/auth/login"): token(call, grantType: "password")
    case (.post, "/revoke"): revoke(call)
    case (.get, "/userinfo"): userInfo(call)
    case (_, let path) where path.hasPrefix("/api/"): api(call)
    case (_, "/token"), (_, "/revoke"), (_, "/userinfo"), (_, "/auth/refresh"), (_, "/auth/login"):
      .json(ErrorBody(error: "invalid_request", description: "Another method is needed."), status: .methodNotAllowed)
    case (_, let path):
      .json(ErrorBody(error: "not_found", description: "There is nothing at \(path)."), status: .notFound)
    }
  }

  /// The token endpoint (RFC 6749, section 3.2). Where it rejects a token in a JSON request the status is 401, as with many
  /// backends.
  private func token(_ call: Call, grantType: String?) -> Response {
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
      let isUnauthorized = error.error == "invalid_client" || call.isJSON && error.error == "invalid_grant"
      return .json(
        error, status: isUnauthorized ? .unauthorized : .badRequest,
        headers: error.error == "invalid_client" ? [.wwwAuthenticate: "Basic realm=\"hearth-sandbox\""] : [:])
    }
  }

  private func grant(_ call: Call, grantType: String?) throws(ErrorBody) -> Grant {
    let clientID = try authenticatedClient(call)
    let fields = call.fields
    switch grantType {
    case "refresh_token":
      guard let token = fields["refresh_token"] else {
        throw ErrorBody(error: "invalid_request", description: "There is no refresh_token.")
      }
      return try refresh(token, clientID: clientID)
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

  /// The client's id by Basic authentication or in the form (RFC 6749, section 2.3.1); nil where the request has none.
  private func authenticatedClient(_ call: Call) throws(ErrorBody) -> String? {
    let fields = call.fields
    let id = call.basic?.id ?? fields["client_id"]
    let secret = call.basic?.secret ?? fields["client_secret"]
    guard settings.clientID == nil || id == settings.clientID,
      settings.clientSecret == nil || secret == settings.clientSecret
    else { throw ErrorBody(error: "invalid_client", description: "The client or its secret is unknown.") }
    return id
  }

  private func refresh(_ token: String, clientID: String?) throws(ErrorBody) -> Grant {
    let (issuer, now) = (issuer, now)
    let outcome = state.withLock { state in
      let outcome = state.provider.refresh(
        token, clientID: clientID, grace: settings.grace, issuer: issuer, at: now)
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

  /// A first grant, as after a sign-in.
  func issue(
    subject: String, clientID: String?, scope: String, lifetime: Double? = nil, hasRefreshToken: Bool = true
  ) -> Grant {
    let (issuer, now) = (issuer, now)
    let family = IdentityProvider.Family(
      subject: subject, clientID: clientID, scope: scope, lifetime: lifetime ?? settings.tokenLifetime,
      hasRefreshToken: hasRefreshToken)
    return state.withLock { $0.provider.grant(family, issuer: issuer, at: now) }
  }

  /// An unknown token is no error (RFC 7009, section 2.2).
  private func revoke(_ call: Call) -> Response {
    do {
      _ = try authenticatedClient(call)
    } catch {
      return .json(error, status: .unauthorized)
    }
    guard let token = call.fields["token"] else {
      return .json(ErrorBody(error: "invalid_request", description: "There is no token."), status: .badRequest)
    }
    state.withLock { state in
      if state.provider.revoke(token: token) { state.statistics.revocations += 1 }
    }
    return Response(status: .ok)
  }

  private func userInfo(_ call: Call) -> Response {
    authorized(call) { family, _ in
      .json(["sub": family.subject, "preferred_username": family.subject])
    }
  }

  /// Responds with 401 unless the request has a valid access token (RFC 6750, section 3).
  func authorized(
    _ call: Call, _ body: (_ family: IdentityProvider.Family, _ expiresAt: Date) -> Response
  ) -> Response {
    let now = now
    guard let owner = state.withLock({ state in call.bearer.flatMap { state.provider.owner(of: $0, at: now) } }) else {
      state.withLock { $0.statistics.unauthorized += 1 }
      let challenge =
        call.bearer == nil
        ? "Bearer realm=\"hearth-sandbox\"" : "Bearer realm=\"hearth-sandbox\", error=\"invalid_token\""
      return .json(
        ErrorBody(error: "invalid_token", description: "The access token is missing, expired, revoked or unknown."),
        status: .unauthorized, headers: [.wwwAuthenticate: challenge])
    }
    return body(owner.family, owner.expiresAt)
  }
}
