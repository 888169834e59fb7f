import HearthCore

/// What every kind of token endpoint does alike: check where a grant belongs, send requests, and describe failures.
struct TokenExchange: Sendable {
  let sender: HTTPSender
  /// Secrets, keys and certificates are read from here.
  let files: any FileSystem
  let timeout: Duration
  let defaultLifetime: Duration?
  let finalErrors: Set<String>
  let responseRules: [ResponseRule]
  let binding: TokenBinding
  /// The issuer of a subject that the provider names without one.
  let issuer: DefaultIssuer
  /// For whom an ID token must be to name the subject; empty: for anybody.
  let audiences: Set<String>
  let route: HTTPRoute
  /// Further fields of every request to the token endpoint.
  let parameters: [(String, String)]

  /// Refuses to send a grant to another origin than its own. `origin`: of the token endpoint, where it is known.
  func requireBinding(of credential: Credential, to origin: Origin? = nil) throws(RefreshFailure) {
    var binding = binding
    if let origin { binding.resolve(to: origin) }
    if let reason = binding.mismatch(of: credential) { throw .misconfigured(message: reason) }
  }

  /// Refuses to send a token to an endpoint that was not known when the person signed in.
  func requireBinding(
    of credential: Credential, to endpoint: HTTPURL, of endpoints: ProviderEndpoints
  ) throws(RefreshFailure) {
    try requireBinding(of: credential, to: endpoints.token.origin)
    guard credential.mayReach(endpoint.origin) else {
      throw .misconfigured(message: "\(endpoint.origin) was not named at sign-in, so nothing was sent there.")
    }
  }

  /// The `exp` of a JWT, by this machine's clock.
  func expiry(of token: Token, at now: Timestamp) -> Timestamp? {
    if let expiresAt = JWTClaims(token.secret.reveal())?.expiresAt,
      let since1970 = TokenResponseReader.lifetime(.number(expiresAt))
    {
      return Timestamp(milliseconds: 0) + since1970
    }
    return defaultLifetime.map { now + $0 }
  }

  /// The time that the server at this place tells (RFC 9110, section 6.6.1), whatever else it answers.
  func time(at url: HTTPURL) async throws(RefreshFailure) -> Timestamp {
    let response = try await send(HTTPSender.Request(method: "HEAD", url: url))
    guard let date = response.date else {
      throw .unavailable(
        message: "\(url.origin) does not tell the time, by which it would be known whether the token has run out.",
        retryAfter: response.retryAfter)
    }
    return date
  }

  func refreshToken(of credential: Credential) throws(RefreshFailure) -> Secret {
    guard let token = credential.grant.refreshToken, !token.secret.isEmpty else {
      throw .misconfigured(message: "There is no refresh token to use: sign in again.")
    }
    return token.secret
  }

  func send(_ request: HTTPSender.Request) async throws(RefreshFailure) -> HTTPResponse {
    var request = request
    request.plan = try await route.plan(for: request.url, files: files)
    do {
      return try await sender.send(request, timeout: timeout)
    } catch {
      switch error {
      case .notSent(let message): throw .unreachable(message: "No connection to \(message).")
      case .unanswered(let message): throw .unanswered(message: "No answer from \(message).")
      }
    }
  }

  /// Sends a request for a grant and reads the response. `secrets`: all that are sent, besides the tokens of the
  /// credential.
  func grant(
    by request: HTTPSender.Request, in dialect: TokenResponseReader.Dialect, for credential: Credential,
    secrets: [Secret] = []
  ) async throws(RefreshFailure) -> TokenResponse {
    let reader = reader(dialect, origin: request.url.origin, for: credential, secrets: secrets)
    return try await send(request).read { (response) throws(RefreshFailure) in try reader.read(response) }
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

  /// RFC 6750, section 2.1.
  static func bearer(_ token: Token) -> Self { Self(name: "Authorization", value: "Bearer " + token.secret.reveal()) }
}

extension HTTPSender.Request {
  /// A form in the body (RFC 6749, section 4).
  static func form(_ fields: [(String, String)], to url: HTTPURL, authorization: String? = nil) -> Self {
    var headers = [
      .acceptJSON, APIRequest.Header(name: "Content-Type", value: "application/x-www-form-urlencoded"),
    ]
    if let authorization { headers.append(APIRequest.Header(name: "Authorization", value: authorization)) }
    return Self(method: "POST", url: url, headers: headers, body: FormBody.encode(fields))
  }
}
