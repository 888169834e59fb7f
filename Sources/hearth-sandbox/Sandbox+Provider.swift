import FoundationEssentials
import HTTPTypes
import Hummingbird
import Synchronization

extension Sandbox {
  func perform(_ call: Call) throws -> Response {
    if call.path.hasPrefix("/api/") { return api(call) }
    guard let endpoint = Endpoint(rawValue: call.path) else {
      return .json(ErrorBody("not_found", "There is nothing at \(call.path)."), status: .notFound)
    }
    guard endpoint.methods.contains(call.method) else {
      return .json(ErrorBody("invalid_request", "This method is not allowed here."), status: .methodNotAllowed)
    }
    do {
      return try answer(call, at: endpoint)
    } catch let error as ErrorBody {
      return refused(error)
    }
  }

  private func answer(_ call: Call, at endpoint: Endpoint) throws -> Response {
    switch endpoint {
    case .discovery:
      .json(Discovery(issuer: issuer.url, demandsPushedRequests: settings.requirePushedRequests))
    // The link names the provider (OpenID Connect Discovery 1.0, section 2; RFC 7033, section 4.4).
    case .webFinger:
      .json(
        [
          "subject": .text(call.query["resource"] ?? ""),
          "links": .list([
            .object(["rel": .text("http://openid.net/specs/connect/1.0/issuer"), "href": .text(issuer.url)])
          ]),
        ] as [String: Value])
    case .keys: .json(["keys": state.withLock(\.keys.published)])
    case .authorize: try authorize(call)
    case .login: logIn(call)
    case .consent: consent(call)
    case .pushedRequest: try pushRequest(call)
    case .deviceAuthorization: try startDevice(call)
    case .device: device(call)
    case .register: try register(call)
    case .token: try token(call, grantType: call.fields["grant_type"])
    case .jsonRefresh: try token(call, grantType: "refresh_token")
    case .jsonLogin: try token(call, grantType: "password")
    case .revoke: try revoke(call)
    case .introspect: try introspect(call)
    case .userInfo:
      if let subject = owner(of: call)?.family.subject {
        .json(["sub": subject, "preferred_username": subject])
      } else {
        unauthorized(call)
      }
    case .endSession: endSession(call)
    }
  }

  /// Authenticates the client with Basic credentials or with fields of the body (RFC 6749, section 2.3.1). Returns the
  /// client ID, or `nil` if the request does not name a client.
  func authenticatedClient(_ call: Call) throws -> String? {
    let fields = call.fields
    let id = call.basic?.id ?? fields["client_id"]
    let secret = call.basic?.secret ?? fields["client_secret"]
    guard settings.clientID == nil || id == settings.clientID,
      settings.clientSecret == nil || secret == settings.clientSecret
    else { throw ErrorBody("invalid_client", "The client is unknown, or its secret is wrong.") }
    if let id, let known = state.withLock({ $0.clients.byID[id] }), known.secret != nil, known.secret != secret {
      throw ErrorBody("invalid_client", "The client's secret is wrong.")
    }
    return id
  }

  /// Returns an error response. If client authentication failed, the response names the authentication scheme (RFC
  /// 6749, section 5.2).
  func refused(_ error: ErrorBody, status: HTTPResponse.Status = .badRequest) -> Response {
    guard error.error == "invalid_client" else { return .json(error, status: status) }
    return .json(error, status: .unauthorized, headers: [.wwwAuthenticate: "Basic realm=\"hearth-sandbox\""])
  }

  /// Handles a revocation request. An unknown token is not an error (RFC 7009, section 2.2).
  private func revoke(_ call: Call) throws -> Response {
    _ = try authenticatedClient(call)
    guard let token = call.fields["token"] else { throw ErrorBody("invalid_request", "The token is missing.") }
    state.withLock { state in
      if state.provider.revoke(token: token) { state.statistics.revocations += 1 }
    }
    return Response(status: .ok)
  }

  /// Handles an introspection request (RFC 7662, section 2). The response for an inactive token contains only `active`.
  private func introspect(_ call: Call) throws -> Response {
    _ = try authenticatedClient(call)
    let token = call.fields["token"] ?? ""
    guard let (family, expiresAt) = state.withLock({ $0.provider.introspect(token, at: now) }) else {
      return .json(["active": false])
    }
    var claims: [String: Value] = [
      "active": .flag(true), "sub": .text(family.subject), "scope": .text(family.scope), "iss": .text(issuer.url),
    ]
    claims["client_id"] = family.clientID.map { .text($0) }
    claims["exp"] = expiresAt.map { .number(Int($0.timeIntervalSince1970)) }
    return .json(claims)
  }

  /// Returns the owner and expiry of the request's access token, or `nil` if the token is missing or invalid.
  func owner(of call: Call) -> (family: IdentityProvider.Family, expiresAt: Date)? {
    state.withLock { state in call.bearer.flatMap { state.provider.owner(of: $0, at: now) } }
  }

  /// Returns the response to a request without a valid access token (RFC 6750, section 3).
  func unauthorized(_ call: Call) -> Response {
    state.withLock { $0.statistics.unauthorized += 1 }
    let challenge = "Bearer realm=\"hearth-sandbox\"" + (call.bearer == nil ? "" : ", error=\"invalid_token\"")
    return .json(
      ErrorBody("invalid_token", "The access token is missing, expired, revoked or unknown."), status: .unauthorized,
      headers: [.wwwAuthenticate: challenge])
  }
}
