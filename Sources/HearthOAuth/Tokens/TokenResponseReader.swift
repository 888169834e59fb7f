import HearthCore
import HearthHashing

/// Reads a token endpoint's response: a grant, or why there is none. A pure function of the response.
struct TokenResponseReader: Sendable {
  enum Dialect: Sendable {
    /// RFC 6749, sections 5.1 and 5.2, and Google's error objects.
    case oauth
    /// The same, but that an ID token may stand alone.
    case firebase
    /// Fields of other names, perhaps nested.
    case json(JSONBackend)
  }

  var dialect: Dialect
  /// The origin of the token endpoint.
  var origin: Origin
  var issuer: DefaultIssuer
  var defaultLifetime: Duration?
  /// Error codes that end a session, besides the known ones.
  var finalErrors: Set<String> = []
  var rules: [ResponseRule] = []
  /// Replaces every secret that was sent.
  var redactor: Redactor

  func read(_ response: HTTPResponse) throws(RefreshFailure) -> TokenResponse {
    let document = ResponseDocument(response)
    var redactor = redactor
    if let object = document.object { redactor.add(TokenDetector.tokens(in: object, named: tokenFields)) }
    let isBackend = if case .json = dialect { true } else { false }
    let rejection = TokenRejection(
      response: response, error: ResponseError(document.object), document: document, redactor: redactor,
      finalErrors: finalErrors, rules: rules, isBackend: isBackend)

    guard (200..<300).contains(response.status) else { throw rejection.failure(of: origin) }
    guard !response.isTruncated else { throw rejection.unexpected("an answer that is too long", from: origin) }
    guard let object = document.object else {
      let page = "a web page (is a sign-in page of the network in between?)"
      throw rejection.unexpected(rejection.isPage ? page : "no JSON", from: origin)
    }
    // A token is never thrown away because of something else in the response.
    let grant = GrantFields(of: object, in: dialect)
    guard let accessToken = grant.accessToken else {
      throw rejection.hasError ? rejection.failure(of: origin) : rejection.unexpected("no access token", from: origin)
    }
    guard TokenSyntax.isBearer(accessToken) else {
      throw rejection.unexpected("a token with characters that no token has", from: origin)
    }
    var result = tokens(from: grant, accessToken: accessToken, response: response)
    // Not thrown: the refresh token that came with it may have replaced the one before.
    result.error = Self.unsupportedType(grant["token_type"]?.text).map {
      "\(origin) gives tokens of type \($0), which Hearth cannot use: let this client have Bearer tokens."
    }
    return result
  }

  private func tokens(from grant: GrantFields, accessToken: String, response: HTTPResponse) -> TokenResponse {
    // An ID token or a refresh token with impossible characters is ignored: the access token beside it is good.
    let idToken = grant["id_token"]?.text.flatMap { TokenSyntax.isBearer($0) ? $0 : nil }
    let refreshToken = grant.refreshToken.flatMap { TokenSyntax.isRefreshToken($0) ? $0 : nil }
    return TokenResponse(
      accessToken: Token(hashing: Secret(accessToken)),
      refreshToken: refreshToken.map { Token(hashing: Secret($0)) },
      idToken: idToken.map { Token(hashing: Secret($0)) },
      scope: scope(grant["scope"]),
      lifetime: Self.lifetime(grant.expiresIn) ?? Self.lifetime(of: accessToken, response: response) ?? defaultLifetime,
      idTokenLifetime: idToken.flatMap { Self.lifetime(of: $0, response: response) },
      refreshLifetime: refreshLifetime(grant),
      subject: subject(idToken: idToken, userID: grant["user_id"]?.text),
      origin: origin,
      skew: response.skew)
  }

  private func subject(idToken: String?, userID: String?) -> Subject? {
    if let claims = idToken.flatMap({ JWTClaims($0) }), let named = claims.subject(default: issuer) { return named }
    return userID.map(issuer.subject)
  }

  /// A text, or a list of names as some providers write it.
  private func scope(_ value: JSONValue?) -> String? {
    if case .array(let names) = value { return names.compactMap(\.text).joined(separator: " ") }
    return value?.text
  }

  /// The field has a name of Keycloak and TikTok, of GitHub, LinkedIn and Google, or of Intuit.
  private func refreshLifetime(_ grant: GrantFields) -> Duration? {
    ["refresh_expires_in", "refresh_token_expires_in", "x_refresh_token_expires_in"].lazy
      .compactMap { Self.lifetime(grant[$0]) }.first
  }

  private var tokenFields: Set<String> {
    guard case .json(let backend) = dialect else { return [] }
    return Set([backend.accessTokenField, backend.refreshTokenField].compactMap { $0.path.last })
  }

  // MARK: - Values

  /// The type of a token that may not be sent as Bearer (RFC 6749, section 7.1; the registry of OAuth Access Token
  /// Types); nil for all other names, which are many: `bearer`, Apigee's `BearerToken`, Slack's `bot` and `user`.
  static func unsupportedType(_ text: String?) -> String? {
    let name = text?.lowercased().filter { !$0.isWhitespace }
    return ["DPoP", "PoP", "MAC", "N_A"].first { $0.lowercased() == name }
  }

  /// Seconds, as a number or a string, up to a century; nil where the value is no lifetime.
  static func lifetime(_ value: JSONValue?) -> Duration? {
    guard let seconds = value?.asNumber, seconds.isFinite, seconds > 0 else { return nil }
    return .milliseconds(Int64(min(seconds, 3_155_760_000) * 1000))
  }

  /// The `exp` of a JWT less the time on the server's clock, or else on this machine's; nil where it has passed. `iat` is
  /// not used, since the token may come from a cache.
  static func lifetime(of token: String, response: HTTPResponse) -> Duration? {
    guard let expiresAt = JWTClaims(token)?.expiresAt else { return nil }
    return lifetime(.number(expiresAt - Double((response.date ?? response.receivedAt).milliseconds) / 1000))
  }
}
