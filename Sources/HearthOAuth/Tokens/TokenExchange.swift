import HearthCore

/// The common part of all token endpoints. Checks where grants may be sent, sends requests and describes failures.
struct TokenExchange: Sendable {
  let sender: HTTPSender
  /// Provides secrets, keys and certificates.
  let files: any FileSystem
  let timeout: Duration
  let defaultLifetime: Duration?
  let finalErrors: Set<String>
  let responseRules: [ResponseRule]
  let binding: TokenBinding
  /// The issuer to record with a user's ID if the provider does not name an issuer.
  let issuer: DefaultIssuer
  /// The audiences whose ID tokens can name the subject. If empty, any audience is accepted.
  let audiences: Set<String>
  let route: HTTPRoute
  /// Additional fields for every request to the token endpoint.
  let parameters: [(String, String)]

  var now: Timestamp { sender.clock.now() }

  /// Throws if the credential belongs to another provider. `origin` is the token endpoint's origin, if known.
  func requireBinding(of credential: Credential, to origin: Origin? = nil) throws(RefreshFailure) {
    var binding = binding
    if let origin { binding.resolve(to: origin) }
    if let reason = binding.mismatch(of: credential) { throw .misconfigured(message: reason) }
  }

  /// Throws if the credential belongs to another provider, or if the endpoint's origin was not known at sign-in, so
  /// that no token is sent there.
  func requireBinding(
    of credential: Credential, to endpoint: HTTPURL, of endpoints: ProviderEndpoints
  ) throws(RefreshFailure) {
    try requireBinding(of: credential, to: endpoints.token.origin)
    guard credential.mayReach(endpoint.origin) else {
      throw .misconfigured(
        message:
          "\(endpoint.origin) was not one of the provider's origins at sign-in, so Hearth sent nothing to it.")
    }
  }

  /// Returns the token's expiry from its `exp` claim or the default lifetime, or `nil` if neither exists.
  func expiry(of token: Token, at now: Timestamp) -> Timestamp? {
    if let expiresAt = JWTClaims(token.secret.reveal())?.expiresAt,
      let since1970 = TokenResponseReader.lifetime(.number(expiresAt))
    {
      return Timestamp(milliseconds: 0) + since1970
    }
    return defaultLifetime.map { now + $0 }
  }

  /// Returns the time from the `Date` header of the server's response (RFC 9110, section 6.6.1), regardless of its
  /// status. Throws if the server does not send the time.
  func time(at url: HTTPURL) async throws(RefreshFailure) -> Timestamp {
    let response = try await send(HTTPSender.Request(method: "HEAD", url: url))
    guard let date = response.date else {
      throw .unavailable(
        message:
          "\(url.origin) does not send a usable Date header, so Hearth cannot tell whether the token has expired.",
        retryAfter: response.retryAfter)
    }
    return date
  }

  func refreshToken(of credential: Credential) throws(RefreshFailure) -> Secret {
    guard let token = credential.grant.refreshToken, !token.secret.isEmpty else {
      throw .misconfigured(message: "There is no refresh token. Sign in again.")
    }
    return token.secret
  }

  func send(_ request: HTTPSender.Request) async throws(RefreshFailure) -> HTTPResponse {
    try await sender.send(request, over: route, files: files, timeout: timeout)
  }

  /// Requests a grant and reads the response. `secrets` are the secrets in the request, in addition to the credential's
  /// tokens.
  func grant(
    by request: HTTPSender.Request, in dialect: TokenResponseReader.Dialect, for credential: Credential,
    secrets: [Secret] = []
  ) async throws(RefreshFailure) -> TokenResponse {
    let reader = reader(dialect, origin: request.url.origin, for: credential, secrets: secrets)
    return try await send(request).read(reader.read)
  }

  /// Requests a grant with the user's password. The grant belongs to `origin`, which will refresh it.
  func signIn(
    by request: HTTPSender.Request, in dialect: TokenResponseReader.Dialect, secrets: [Secret],
    refreshedAt origin: Origin
  ) async throws(SignInFailure) -> TokenResponse {
    let response: HTTPResponse
    do {
      response = try await send(request)
    } catch {
      throw SignInFailure(error)
    }
    let reader = reader(dialect, origin: request.url.origin, for: nil, secrets: secrets)
    var granted = try await reader.grant(in: response, at: .password)
    if let error = granted.error { throw .failed(message: error.message) }
    granted.origin = origin
    return granted
  }

  func reader(
    _ dialect: TokenResponseReader.Dialect, origin: Origin, for credential: Credential?, secrets: [Secret]
  ) -> TokenResponseReader {
    TokenResponseReader(
      dialect: dialect, origin: origin, issuer: issuer, audiences: audiences, defaultLifetime: defaultLifetime,
      finalErrors: finalErrors, rules: responseRules,
      redactor: Redactor(secrets + (credential?.grant.tokens.map(\.secret) ?? [])))
  }
}

extension APIRequest.Header {
  static let acceptJSON = Self(name: "Accept", value: "application/json")

  /// Creates the header for a Bearer token (RFC 6750, section 2.1).
  static func bearer(_ token: Token) -> Self { Self(name: "Authorization", value: "Bearer " + token.secret.reveal()) }
}

extension HTTPSender {
  /// Sends a request to a provider over the account's route.
  func send(
    _ request: Request, over route: HTTPRoute, files: any FileSystem, timeout: Duration
  ) async throws(RefreshFailure) -> HTTPResponse {
    var request = request
    request.plan = try await route.plan(for: request.url, files: files)
    do {
      return try await send(request, timeout: timeout)
    } catch {
      switch error {
      case .notSent(let message): throw .unreachable(message: "No connection to \(message).")
      case .unanswered(let message): throw .unanswered(message: "No response from \(message).")
      }
    }
  }
}

extension HTTPSender.Request {
  /// Creates a POST request with a form as its body (RFC 6749, section 4).
  static func form(_ fields: [(String, String)], to url: HTTPURL, authorization: String? = nil) -> Self {
    var request = post(FormBody.encode(fields), "application/x-www-form-urlencoded", to: url)
    if let authorization { request.headers.append(APIRequest.Header(name: "Authorization", value: authorization)) }
    return request
  }

  static func json(_ fields: [String: JSONValue], to url: HTTPURL) -> Self {
    post(JSONValue.object(fields).serialized, "application/json", to: url)
  }

  private static func post(_ body: [UInt8], _ type: String, to url: HTTPURL) -> Self {
    let headers: [APIRequest.Header] = [.acceptJSON, APIRequest.Header(name: "Content-Type", value: type)]
    return Self(method: "POST", url: url, headers: headers, body: body)
  }
}
