import HearthCore
import HearthHashing

/// Reads a token endpoint's response: a grant, or why there is none. A pure function of the response.
struct TokenResponseReader: Sendable {
  enum Dialect: Sendable {
    /// RFC 6749, sections 5.1 and 5.2, and Google's error objects.
    case oauth
    /// As in OAuth, but an ID token without an access token is enough.
    case firebase
    /// Google's Identity Toolkit, which signs in Firebase's users: `idToken`, `refreshToken`, `expiresIn`.
    case identityToolkit
    /// Fields of other names, perhaps nested.
    case json(JSONBackend)
  }

  var dialect: Dialect
  /// The origin of the token endpoint.
  var origin: Origin
  var issuer: DefaultIssuer
  /// The audiences whose ID tokens may name the subject; any audience if empty.
  var audiences: Set<String> = []
  var defaultLifetime: Duration?
  /// Error codes that end a session, in addition to the standard ones.
  var finalErrors: Set<String> = []
  var rules: [ResponseRule] = []
  /// Masks every secret that was sent.
  var redactor: Redactor

  func read(_ response: HTTPResponse) throws(RefreshFailure) -> TokenResponse {
    do {
      return try grant(in: response)
    } catch {
      throw error.failure(of: origin)
    }
  }

  /// The JSON object of a 2xx response, whatever it contains, and the rejection to throw if it has no grant.
  func object(
    in response: HTTPResponse
  ) throws(TokenRejection) -> (object: JSONValue, rejection: TokenRejection) {
    let document = ResponseDocument(response)
    var redactor = redactor
    if let object = document.object { redactor.add(TokenDetector.tokens(in: object, named: tokenFields)) }
    let isBackend = if case .json = dialect { true } else { false }
    let rejection = TokenRejection(
      response: response, error: ResponseError(document.object), document: document, redactor: redactor,
      finalErrors: finalErrors, rules: rules, isBackend: isBackend)
    guard (200..<300).contains(response.status) else { throw rejection }
    guard !response.isTruncated else { throw rejection.containing("an answer that is too long") }
    guard let object = document.object else {
      throw rejection.containing(rejection.isPage ? TokenRejection.page : response.kindWithoutJSON)
    }
    return (object, rejection)
  }

  /// Reads the grant in a response, or throws what it contains instead.
  func grant(in response: HTTPResponse) throws(TokenRejection) -> TokenResponse {
    let (object, rejection) = try object(in: response)
    // Never throw away a token because of something else in the response.
    let grant = GrantFields(of: object, in: dialect)
    guard let accessToken = grant.accessToken else {
      if case .identityToolkit = dialect, object["mfaPendingCredential"] != nil {
        throw rejection.containing("a request for a second factor, which Hearth cannot provide")
      }
      if rejection.hasError { throw rejection }
      return try refreshToken(in: grant, of: response, rejection.containing("no access token"))
    }
    guard TokenSyntax.isBearer(accessToken) else {
      let found = rejection.containing("a token with characters that tokens cannot have")
      return try refreshToken(in: grant, of: response, found)
    }
    var result = tokens(from: grant, accessToken: accessToken, response: response)
    // Not thrown: the refresh token in it may have replaced the previous one.
    if let type = grant["token_type"] { result.error = fault(of: type, rejection) }
    return result
  }

  /// The refresh token of a response without a usable access token: it may have replaced the previous one.
  private func refreshToken(
    in grant: GrantFields, of response: HTTPResponse, _ rejection: TokenRejection
  ) throws(TokenRejection) -> TokenResponse {
    var result = tokens(from: grant, accessToken: "", response: response)
    guard result.refreshToken != nil else { throw rejection }
    result.error = rejection.failure(of: origin)
    return result
  }

  private func tokens(from grant: GrantFields, accessToken: String, response: HTTPResponse) -> TokenResponse {
    // Ignore an ID token or refresh token with impossible characters: the access token is good.
    let idToken = grant["id_token"]?.text.flatMap { TokenSyntax.isBearer($0) ? $0 : nil }
    let refreshToken = grant.refreshToken.flatMap { TokenSyntax.isRefreshToken($0) ? $0 : nil }
    return TokenResponse(
      accessToken: Token(hashing: Secret(accessToken)),
      refreshToken: refreshToken.map { Token(hashing: Secret($0)) },
      idToken: idToken.map { Token(hashing: Secret($0)) },
      scope: scope(grant["scope"]),
      lifetime: Self.lifetime(of: accessToken, in: grant, response) ?? defaultLifetime,
      idTokenLifetime: idToken.flatMap { Self.lifetime(of: $0, response: response) },
      refreshLifetime: refreshLifetime(grant, response),
      subject: subject(idToken: idToken, userID: grant["user_id"]?.name),
      origin: origin,
      skew: response.skew)
  }

  private func subject(idToken: String?, userID: String?) -> Subject? {
    if let claims = idToken.flatMap({ JWTClaims($0) }), claims.areFor(audiences),
      let named = claims.subject(default: issuer)
    {
      return named
    }
    return userID.flatMap { Subject.isName($0) ? issuer.subject($0) : nil }
  }

  /// A text, or a list of names, which some providers write.
  private func scope(_ value: JSONValue?) -> String? {
    if case .array(let names) = value { return names.compactMap(\.text).joined(separator: " ") }
    return value?.text
  }

  /// The refresh token's lifetime, under the field names of Keycloak and TikTok, of GitHub, LinkedIn and Google, and of
  /// Intuit.
  private func refreshLifetime(_ grant: GrantFields, _ response: HTTPResponse) -> Duration? {
    ["refresh_expires_in", "refresh_token_expires_in", "x_refresh_token_expires_in"].lazy
      .compactMap { Self.lifetime(meantBy: grant[$0], response) }.first
  }

  private var tokenFields: Set<String> {
    guard case .json(let backend) = dialect else { return [] }
    return Set([backend.accessTokenField, backend.refreshTokenField].compactMap { $0.path.last })
  }

  // MARK: - Values

  /// Why a token of this type cannot be used, or `nil` if it can. The type must be a string (RFC 6749, section 5.1).
  /// Anything else is a malformed response, which may be better next time; a backend's own call may mean anything by
  /// it.
  private func fault(of type: JSONValue, _ rejection: TokenRejection) -> RefreshFailure? {
    // Some providers leave it empty, and serializers write null for a missing value.
    if type == .string("") || type == .null { return nil }
    guard let name = type.text else {
      if case .json = dialect { return nil }
      return rejection.containing("a token_type that is not text").failure(of: origin)
    }
    if isBearer(name) { return nil }
    let shown = rejection.redactor.line(name, limit: 40)
    return .misconfigured(
      message: "\(origin) gives tokens of type \(shown), which Hearth cannot use. Set this client up for Bearer tokens."
    )
  }

  /// Whether a token of this type is sent as Bearer. A client must not use a type that it does not understand (RFC
  /// 6749, section 7.1). For a backend's own call no standard defines the field, so only names from the registry of
  /// OAuth Access Token Types count as unusable.
  private func isBearer(_ type: String) -> Bool {
    let name = type.lowercased().filter { !$0.isWhitespace }
    return switch dialect {
    case .oauth, .firebase, .identityToolkit: Self.bearerTypes.contains(name)
    case .json: !["dpop", "pop", "mac", "n_a"].contains(name)
    }
  }

  /// The type "bearer" as providers spell it: Apigee writes `BearerToken`, Slack the owner of the token, eBay `User
  /// Access Token` and `Application Access Token`, others the token's format or nothing.
  private static let bearerTypes: Set = [
    "bearer", "bearertoken", "bot", "user", "jwt", "", "useraccesstoken", "applicationaccesstoken",
  ]
}
